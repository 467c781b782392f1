import type { PlacedStep } from '../chain.ts'
import type { Exchange } from './exchange.ts'

/** Upstream's bound: more often, and clients are busier with connecting than with asking. */
export const GOAWAY_CHANCE_MAX = 0.02

/**
 * Whether a request tells its client to leave: with this probability.
 * @param random from 0 up to 1
 * @see kubernetes/apiserver pkg/server/filters/goaway.go probabilisticGoawayDecider
 */
export const goawayDecider =
  (chance: number, random: () => number): (() => boolean) =>
  () =>
    random() < chance

/**
 * Spreads the clients that keep one connection for all they ask over the replicas behind a load
 * balancer of connections, which a client of HTTP/2 would never see again: now and then one is told
 * to leave with an answer. What else is under way on its connection goes on. A client of HTTP/1.1
 * is not touched: an answer is all that could tell it, and its connections are many.
 * @see kubernetes/apiserver pkg/server/filters/goaway.go WithProbabilisticGoaway
 */
export const balance = (decide: () => boolean): PlacedStep<Exchange> => ({
  name: 'goaway',
  after: 'retry-after',
  admit: (exchange) => {
    if (exchange.connection.wire.notifiesAnyTime && decide()) exchange.mustNotify = true
    return true
  },
})
