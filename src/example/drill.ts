import type { Clock } from '../base/clock.ts'
import { Asker } from './ask.ts'
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
  const asker = new Asker(url)
  for (const ms of SLOW_MS) void asker.ask(`/slow?ms=${ms}`)
  for (let watch = 0; watch < WATCHES; watch++) void asker.ask('/events?intervalMs=250')
  for (let client = 0; client < CLIENTS; client++) void askAgainAndAgain(asker, clock)
  return sleep(clock, BEFORE_MS)
}

async function askAgainAndAgain(asker: Asker, clock: Clock): Promise<void> {
  const until = clock.now() + CLIENT_MS_MAX
  while (clock.now() < until && (await asker.ask('/echo?message=drill'))) await sleep(clock, PAUSE_MS)
}
