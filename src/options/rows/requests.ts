import { GOAWAY_CHANCE_MAX } from '../../http/traffic/balance.ts'
import { defineOptions, option } from '../kit/define.ts'
import { chance, duration } from '../kit/kinds.ts'

/** How requests are served while the server is not stopping. */
export const REQUEST_OPTIONS = defineOptions({
  /**
   * Probability of a request of HTTP/2 to have its client told to leave, so that clients that keep
   * one connection for ever come to all replicas behind a load balancer of connections: by GOAWAY,
   * with the head of the answer; what else is under way on the connection goes on. 0.001 is every
   * thousandth request. HTTP/1.1 gets nothing.
   * @default 0
   * @see kubernetes/apiserver pkg/server/filters/goaway.go WithProbabilisticGoaway
   */
  goawayChance: option(chance(GOAWAY_CHANCE_MAX), {
    flag: 'goaway-chance',
    default: 0,
    meaning: 'Probability of a request of HTTP/2 to have its client told to leave, for balance between replicas while serving',
    upstream: '--goaway-chance',
    upstreamBounds: '--goaway-chance can not be less than 0 or greater than 0.02',
  }),
  /**
   * Longest time a request is expected to take.
   * @default 60s
   * @see kubernetes/apiserver pkg/server/config.go Config.RequestTimeout
   */
  requestTimeout: option(duration(), {
    flag: 'request-timeout',
    default: '60s',
    meaning: 'Longest time a request is expected to take; watches are exempt',
    upstream: '--request-timeout',
    upstreamRefusal: '--request-timeout can not be negative value',
  }),
})
