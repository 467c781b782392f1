import type { Clock } from '../base/clock.ts'
import { optionError } from '../base/errors.ts'
import { nameAmongCopies } from '../base/shared-by-copies.ts'
import type { Health } from '../http/health/health.ts'
import type { RequestLike } from '../http/url.ts'
import type { MetricsEndpoint } from './metrics-endpoint.ts'

/** What a life answers by itself, for whatever mounts it. */
export interface LifeEndpoints {
  readonly health: Health
  readonly metrics: MetricsEndpoint
  readonly clock: Clock
  /**
   * Says that one of them is mounted: what it reads is read.
   * @returns to be called for each request that it answers
   */
  mounted(what: 'health' | 'metrics'): (request: RequestLike) => void
  /** Says which application is behind a server that does not show it. */
  servedBy(application: unknown): void
}

/** Where a life has them: a user sees of it what the interface `Life` has. */
export const ENDPOINTS: unique symbol = Symbol.for(nameAmongCopies('endpoints'))

const ALLOWED = 'what createServer, attachLifecycle or createLife has returned'

/**
 * @param field what the argument is called in the message
 * @throws QuiesceError ERR_OPTION_INVALID for what is no life
 */
export function endpointsOf(field: string, life: unknown): LifeEndpoints {
  if (typeof life !== 'object' || life === null || !(ENDPOINTS in life)) throw optionError(field, life, ALLOWED)
  return life[ENDPOINTS] as LifeEndpoints
}
