import { type ApiExchange, apiExchangeOf } from './api-exchange.ts'
import type { Filter } from './chain/filter.ts'
import { type Clock, optionError } from './engine.ts'
import { formatGoDuration } from './go-duration.ts'
import { Slot } from './request/slots.ts'
import type { RequestMetrics } from './request-metrics.ts'

const PREFIX = 'apiserver.latency.k8s.io/'

/**
 * Where the time of a request goes, in upstream's names.
 * @see kubernetes/apiserver pkg/endpoints/request/webhook_duration.go
 */
export type Layer =
  | 'authentication'
  | 'authorization'
  | 'impersonation'
  | 'apf-queue-wait'
  | 'etcd'
  | 'decode-response-object'
  | 'transform-response-object'
  | 'serialize-response-object'
  | 'response-write'
  | 'mutating-webhook'
  | 'validating-webhook'

/**
 * Adds milliseconds to what a layer has taken of a request; nothing happens with one that is not an
 * API server's. The audit event of a request that took more than 0.5 s says it.
 * @see kubernetes/apiserver pkg/endpoints/request/webhook_duration.go TrackStorageLatency
 */
export function addLatency(request: object, layer: Layer, ms: number): void {
  if (typeof layer !== 'string') throw optionError('layer of addLatency(request, layer, ms)', layer, 'the name of a layer')
  if (typeof ms !== 'number' || !(ms >= 0)) throw optionError('ms of addLatency(request, layer, ms)', ms, 'milliseconds, 0 or more')
  const exchange = apiExchangeOf(request)
  if (exchange !== undefined) note(exchange, layer, ms)
}

/** Milliseconds that layers have taken; undefined while none has said so. */
export const LATENCY = new Slot<Map<Layer, number> | undefined>(undefined)

function note(exchange: ApiExchange, layer: Layer, ms: number): void {
  const latency = LATENCY.of(exchange) ?? new Map<Layer, number>()
  LATENCY.set(exchange, latency)
  latency.set(layer, (latency.get(layer) ?? 0) + ms)
}

/** A request that took less is of no interest. */
const THRESHOLD_MS = 500

/**
 * What the audit event of a request says about where its time went; undefined for one that was
 * quick, that is a watch, or of which no layer has said anything.
 * @param totalMs from its arrival to the stage of the event
 * @see kubernetes/apiserver pkg/endpoints/filters/audit.go writeLatencyToAnnotation,
 * pkg/endpoints/filters/webhook_duration.go WithLatencyTrackers
 */
export function latencyAnnotations(exchange: ApiExchange, totalMs: number): Readonly<Record<string, string>> | undefined {
  const latency = LATENCY.of(exchange)
  if (totalMs <= THRESHOLD_MS || latency === undefined || exchange.info.verb === 'watch') return undefined
  const all = [...latency, ['total', totalMs] as const]
  return Object.fromEntries(all.map(([layer, ms]) => [`${PREFIX}${layer}`, formatGoDuration(ms)]))
}

const LAYERS: Readonly<Record<string, Layer>> = {
  authentication: 'authentication',
  authorization: 'authorization',
  impersonation: 'impersonation',
  'flow-control': 'apf-queue-wait',
}

/** A filter whose time is taken when it takes any: one that does not wait costs nothing. */
export function timed<F extends Filter>(filter: F, clock: Clock, metrics: RequestMetrics): F {
  const { name, admit } = filter
  return {
    ...filter,
    admit: (exchange) => {
      const verdict = admit(exchange)
      if (typeof verdict === 'boolean') return verdict
      const from = clock.now()
      return verdict.finally(() => {
        const ms = clock.now() - from
        metrics.filterTook(name, ms)
        const layer = LAYERS[name]
        if (layer !== undefined) note(exchange, layer, ms)
      })
    },
  }
}
