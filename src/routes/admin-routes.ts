import { Hono } from 'hono'
import type { MetricsEndpoint } from '../endpoints/metrics-endpoint.ts'
import type { Health } from '../http/health/health.ts'
import { textAnswer } from '../http/respond.ts'
import { toResponse } from './answer.ts'
import { healthApp } from './health-routes.ts'
import { metricsApp } from './metrics-routes.ts'
import { pathAsRead } from './node-listener.ts'

const NOT_FOUND = textAnswer(404, '404 page not found')

export interface AdminSources {
  /** Undefined: health is not answered. */
  readonly health: Health | undefined
  readonly metrics: MetricsEndpoint
}

/** The routes of the admin listener. */
export function adminApp({ health, metrics }: AdminSources): Hono {
  const app = new Hono({ getPath: pathAsRead })
  if (health) app.route('/', healthApp(health))
  app.route('/', metricsApp(metrics))
  app.notFound(() => toResponse(NOT_FOUND))
  return app
}
