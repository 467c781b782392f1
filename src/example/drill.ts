import * as http from 'node:http'
import * as https from 'node:https'
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
  // The certificate of the example is for development, and its client is the server itself.
  const agent = isSecure(url) ? new https.Agent({ keepAlive: true, rejectUnauthorized: false }) : new http.Agent({ keepAlive: true })
  for (const ms of SLOW_MS) void ask(`${url}/slow?ms=${ms}`, agent)
  for (let watch = 0; watch < WATCHES; watch++) void ask(`${url}/events?intervalMs=250`, agent)
  for (let client = 0; client < CLIENTS; client++) void askAgainAndAgain(`${url}/echo?message=drill`, agent, clock)
  return sleep(clock, BEFORE_MS)
}

const isSecure = (url: string): boolean => url.startsWith('https:')

async function askAgainAndAgain(url: string, agent: http.Agent, clock: Clock): Promise<void> {
  const until = clock.now() + CLIENT_MS_MAX
  while (clock.now() < until && (await ask(url, agent))) await sleep(clock, PAUSE_MS)
}

/** Whether it was answered. */
const ask = (url: string, agent: http.Agent): Promise<boolean> =>
  new Promise((resolve) => {
    const { get } = isSecure(url) ? https : http
    get(url, { agent }, (response) => {
      response.resume()
      response.once('close', () => resolve(true))
    }).once('error', () => resolve(false))
  })
