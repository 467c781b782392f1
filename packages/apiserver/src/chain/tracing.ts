import type { ApiExchange } from '../api-exchange.ts'
import type { Clock } from '../engine.ts'
import { statusOfAnswer } from '../metrics/answer-status.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { Slot } from '../request/slots.ts'
import { KNOWN_METHODS } from '../tracing/methods.ts'
import type { RequestSpan, RequestTracing } from '../tracing/request-tracing.ts'
import type { ChainFilter, Filter, MadeFilter } from './filter.ts'
import { PANIC_OF } from './panic-recovery.ts'

/** The groups whose own traces are believed. */
const TRUSTED: ReadonlySet<string> = new Set(['system:masters', 'system:monitoring'])

/** The span of a request, if it has one. */
const SPAN = new Slot<RequestSpan | undefined>(undefined)

/** Whether it can be asked. */
export const isTracing = (given: unknown): boolean =>
  typeof given === 'object' && given !== null && 'begin' in given && typeof given.begin === 'function'

/**
 * Makes a request a span. Undefined without what makes them: then it costs nothing.
 * @see kubernetes/apiserver pkg/endpoints/filters/traces.go WithTracing
 */
export const tracing = {
  name: 'tracing',
  part: 'inner',
  upstream: 'WithTracing',
  why: 'spans of strangers are not recorded',
  make: ({ config, clock }: { readonly config: { readonly tracing: RequestTracing | undefined }; readonly clock: Clock }) =>
    config.tracing && filterOf(config.tracing, clock),
} as const satisfies ChainFilter<never>

function filterOf(by: RequestTracing, clock: Clock): MadeFilter {
  return {
    admit: (exchange) => {
      const { request, info, auditId, receivedAt, user } = exchange
      const span = by.begin({
        request,
        name: spanName(request.method ?? 'GET', info),
        receivedAt: clock.wall() - (clock.now() - receivedAt),
        isTrusted: user?.groups.some((group) => TRUSTED.has(group)) === true,
        attributes: { 'audit-id': auditId },
      })
      SPAN.set(exchange, span)
      return true
    },
    over: (exchange) => SPAN.of(exchange)?.end(statusOfAnswer(exchange), PANIC_OF.of(exchange)?.thrown),
  }
}

/**
 * The method, `HTTP` for one that is none; of a request for a resource with its path, whose names
 * are left out, so that requests for objects of one kind have one name.
 * @see kubernetes/apiserver pkg/endpoints/filters/traces.go getSpanNameFromRequestInfo
 */
export function spanName(method: string, info: RequestInfo): string {
  const verb = KNOWN_METHODS.has(method) ? method : 'HTTP'
  if (!info.isResourceRequest) return verb
  const { apiPrefix, apiGroup, apiVersion, namespace, resource, name, subresource } = info
  const pieces = [
    apiPrefix,
    apiGroup,
    apiVersion,
    ...(namespace === '' ? [] : ['namespaces', '{:namespace}']),
    resource,
    name === '' ? '' : '{:name}',
    subresource,
  ]
  return `${verb} /${pieces.filter((piece) => piece !== '').join('/')}`
}

/**
 * Filters up to the one that begins a span, and those that run inside of it. Without that one all
 * of them are before.
 */
export function splitAtSpan(filters: readonly Filter[]): readonly [readonly Filter[], readonly Filter[]] {
  const at = filters.findIndex(({ name }) => name === 'tracing')
  return at < 0 ? [filters, []] : [filters.slice(0, at + 1), filters.slice(at + 1)]
}

/** Runs what belongs to a request inside of its span, if it has one. */
export function inSpan<R>(exchange: ApiExchange, work: () => R): R {
  const span = SPAN.of(exchange)
  return span === undefined ? work() : span.run(work)
}
