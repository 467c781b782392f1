import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers'

/**
 * How often a handler is woken: one that writes without end and hears of no end would run for ever.
 */
const WAKES_MAX = 1000

/**
 * Lets a handler go on that waits for `drain` of a response whose client has left: node never emits
 * it then, and the handler would keep its seat for good. It finds out by its next write, or writes
 * what it has to the end, into nothing. Upstream's handlers get an error from the write that
 * blocks.
 * @param response closed, or taken away from its handler
 */
export function wakeWriter(response: ServerResponse): void {
  let woken = 0
  const wake = (): void => {
    if (woken++ < WAKES_MAX && response.listenerCount('drain') > 0) response.emit('drain')
  }
  response.on('newListener', (event) => {
    if (event === 'drain') setImmediate(wake)
  })
  setImmediate(wake)
}
