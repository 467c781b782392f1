import type { ApiExchange } from './api-exchange.ts'

/**
 * What filters count, under upstream's names. Called once for what each method says; must not
 * throw.
 * @see kubernetes/apiserver pkg/endpoints/metrics/metrics.go
 */
export interface RequestMetrics {
  /** `apiserver_request_terminations_total`: answered in self-defence, with 504 or 429. */
  terminated(exchange: ApiExchange, code: number): void
  /** `apiserver_request_filter_duration_seconds`: a filter has taken time. */
  filterTook(filter: string, ms: number): void
  /** `apiserver_request_aborts_total`: broken off because its handler wanted that. */
  aborted(exchange: ApiExchange): void
  /** `apiserver_request_post_timeout_total`: a handler has ended after its time was over. */
  endedAfterTimeout(exchange: ApiExchange, status: 'ok' | 'panic'): void
}

export const NO_METRICS: RequestMetrics = { terminated: () => {}, filterTook: () => {}, aborted: () => {}, endedAfterTimeout: () => {} }
