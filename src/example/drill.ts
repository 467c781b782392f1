import { Agent, get } from 'node:http'
import type { Clock } from '../base/clock.ts'
import { sleep } from './sleep.ts'

const SLOW_MS = [200, 500, 1_000, 1_500, 2_500]
const WATCHES = 3
const CLIENTS = 4
/** Load before the shutdown begins. */
const BEFORE_MS = 1_000
/** Clients go on, to be refused, until they are or this long. */
const CLIENT_MS_MAX = 5_000
const PAUSE_MS = 20

/**
 * Some load on the example server: slow requests, watches, and clients that ask one quick thing
 * after the other, also while the shutdown is on. Resolves when it is time to begin that. Requests
 * that fail then are what is to be seen.
 */
export function startDrill(url: string, clock: Clock): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  for (const ms of SLOW_MS) void ask(`${url}/slow?ms=${ms}`, agent)
  for (let watch = 0; watch < WATCHES; watch++) void ask(`${url}/events?intervalMs=250`, agent)
  for (let client = 0; client < CLIENTS; client++) void askAgainAndAgain(`${url}/echo?message=drill`, agent, clock)
  return sleep(clock, BEFORE_MS)
}

async function askAgainAndAgain(url: string, agent: Agent, clock: Clock): Promise<void> {
  const until = clock.now() + CLIENT_MS_MAX
  while (clock.now() < until && (await ask(url, agent))) await sleep(clock, PAUSE_MS)
}

/** Whether it was answered. */
const ask = (url: string, agent: Agent): Promise<boolean> =>
  new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume()
      response.once('close', () => resolve(true))
    }).once('error', () => resolve(false))
  })
