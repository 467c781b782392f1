import { Hono } from 'hono'
import type { MetricsEndpoint } from '../endpoints/metrics-endpoint.ts'
import type { RequestLike } from '../http/url.ts'
import { requestOf, toResponse } from './answer.ts'

/**
 * The metrics, whatever the method.
 * @param reached called for each request that they answer
 */
export function metricsApp(metrics: MetricsEndpoint, reached?: (request: RequestLike) => void): Hono {
  const app = new Hono()
  for (const path of metrics.paths) {
    app.all(path, async (c, next) => {
      const request = requestOf(c)
      const answer = await metrics.answer(path, request.headers)
      if (!answer) return next()
      reached?.(request)
      return toResponse(answer)
    })
  }
  return app
}
