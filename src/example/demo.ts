import type { Clock } from '../base/clock.ts'
import { Asker } from './ask.ts'
import { sleep } from './sleep.ts'

/**
 * What makes the end of the example server long enough to be watched: it has clients of its own, a
 * hook that takes a while, and the times to wait for them.
 */

/** The settings of the demo, as flags. What is given beside them comes before. */
export const DEMO_SETTINGS = {
  'shutdown-delay-duration': '3s',
  'shutdown-watch-termination-grace-period': '3s',
  'last-call': '300ms',
  deadline: '9800ms',
} as const

/** How long the registry takes to forget an instance. */
export const DEMO_LEAVE_MS = 1_500

/**
 * How long a request of the demo takes. One that begins at the end of the delay has to be over
 * before requests are cut.
 */
export const DEMO_SLOW_MS = 5_000
/** Asking by turns: at any time one of them has two thirds of its time ahead. */
const SLOW_CLIENTS = 3

export const DEMO_CLIENTS = `GET /watch, and ${SLOW_CLIENTS} clients that ask GET /slow?ms=${DEMO_SLOW_MS} again and again`

/**
 * Slow requests one after the other, and a watch, until the clients are told to leave. Resolves
 * with whether these are under way: of a server that speaks HTTP/2 alone this client is none.
 */
export function startDemoClients(url: string, clock: Clock): Promise<boolean> {
  const asker = new Asker(url)
  const slowClient = async (index: number): Promise<void> => {
    await sleep(clock, (index * DEMO_SLOW_MS) / SLOW_CLIENTS)
    while (await asker.ask(`/slow?ms=${DEMO_SLOW_MS}`));
  }
  return new Promise((resolve) => {
    const watch = asker.ask('/watch', () => resolve(true)).then(() => resolve(false))
    const slow = Array.from({ length: SLOW_CLIENTS }, (_, index) => slowClient(index))
    void Promise.all([watch, ...slow]).then(() => asker.close())
  })
}
