import type { ApiExchange } from './api-exchange.ts'

/**
 * What an API server counts of its requests, under upstream's names. Called once for what each
 * method says; must not throw.
 * @see kubernetes/apiserver pkg/endpoints/metrics/metrics.go
 */
export interface RequestMetrics {
  /** `apiserver_request_total` and its kin: one that was let in is over. */
  answered(exchange: ApiExchange): void
  /** `apiserver_longrunning_requests`: the handler of one that lasts was called. */
  lasts(exchange: ApiExchange): void
  /** `apiserver_request_terminations_total`: answered in self-defence, with 504 or 429. */
  terminated(exchange: ApiExchange, code: number): void
  /** `apiserver_request_filter_duration_seconds`: a filter has taken time. */
  filterTook(filter: string, ms: number): void
  /** `apiserver_request_aborts_total`: broken off because its handler wanted that. */
  aborted(exchange: ApiExchange): void
  /** `apiserver_request_post_timeout_total`: a handler has ended after its time was over. */
  endedAfterTimeout(exchange: ApiExchange, status: 'ok' | 'panic'): void
  /**
   * `authentication_attempts` and its kin: credentials were looked at.
   * @param username of a success
   */
  authenticated(result: 'success' | 'failure' | 'error', ms: number, username?: string): void
  /** `authorization_attempts_total` and its kin: it was decided about a request. */
  authorized(result: 'allowed' | 'denied' | 'no-opinion' | 'error', ms: number): void
}

const nothing = (): void => {}

export const NO_METRICS: RequestMetrics = {
  answered: nothing,
  lasts: nothing,
  terminated: nothing,
  filterTook: nothing,
  aborted: nothing,
  endedAfterTimeout: nothing,
  authenticated: nothing,
  authorized: nothing,
}
