import { type MetricsEndpoint, respond } from '../engine.ts'
import type { ApiHandler } from './path-mux.ts'

/**
 * What was counted, whatever the method; DELETE forgets it where that is allowed.
 * @param reset undefined: it is not
 * @see kubernetes/component-base metrics/legacyregistry/registry.go HandlerWithReset
 */
export const metricsPage =
  (metrics: MetricsEndpoint, reset?: () => void): ApiHandler =>
  (request, response) => {
    if (reset && request.method === 'DELETE') {
      reset()
      respond(response, RESET)
      return
    }
    response.setHeader('Process-Start-Time-Unix', STARTED_AT)
    metrics.handle(request, response)
  }

const RESET = { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: 'metrics reset\n' }

/** Whole seconds since the epoch. */
const STARTED_AT = String(Math.floor(performance.timeOrigin / 1_000))
