import { type Context, Hono, type Next } from 'hono'
import type { Health } from '../http/health/health.ts'
import type { RequestLike } from '../http/url.ts'
import { requestOf, toResponse } from './answer.ts'

/**
 * The health endpoints, and below each its checks, whatever the method. What they do not know goes
 * on to the next route.
 * @param reached called for each request that they answer
 */
export function healthApp(health: Health, reached?: (request: RequestLike) => void): Hono {
  const app = new Hono()
  const answer = async (path: string, c: Context, next: Next) => {
    const request = requestOf(c)
    const answer = await health.answer(path, request)
    if (!answer) return next()
    reached?.(request)
    return toResponse(answer)
  }
  for (const path of health.paths) {
    // A path that looks like a pattern is still only a path.
    app.all(path, (c, next) => (c.req.path.endsWith(path) ? answer(path, c, next) : next()))
    app.all(`${path}/:check{.+}`, (c, next) => answer(`${path}/${c.req.param('check')}`, c, next))
  }
  return app
}
