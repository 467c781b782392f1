import { EventEmitter } from 'node:events'
import { QuiesceError } from '../base/errors.ts'
import { wireExchangeOf } from './exchange-of.ts'
import type { WireExchange } from './ports.ts'

// What gates have in common that stand in front of a server by an `emit` of its own
// (docs/decisions/0002-gate-by-emit.md).

/** A server whose `emit` is this one has no instrumentation in it. */
export const plainEmit = EventEmitter.prototype.emit

export const alreadyAttached = (): QuiesceError =>
  new QuiesceError('ERR_ALREADY_ATTACHED', 'quiesce is already attached to this server; dispose() of that lifecycle gives it back')

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { readonly then?: unknown }).then === 'function'
}

/**
 * What an instrumented `emit` emits on in the server's place: it sees the event with all that it
 * wraps around it, and at the bottom finds `deliver` instead of the listeners. Made when first
 * asked for, because few servers are instrumented.
 */
export function relayOf<E extends string>(
  events: readonly E[],
  deliver: (event: E, exchange: WireExchange, args: readonly unknown[]) => void,
): () => EventEmitter {
  let made: EventEmitter | undefined
  return () => {
    if (made) return made
    made = new EventEmitter()
    for (const event of events) {
      made.on(event, (...args: readonly unknown[]) => {
        const exchange = wireExchangeOf(args[0] as object) as WireExchange
        try {
          deliver(event, exchange, args)
        } catch (thrown) {
          exchange.threw(thrown)
        }
      })
    }
    return made
  }
}
