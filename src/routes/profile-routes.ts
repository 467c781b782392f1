import { Readable } from 'node:stream'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { Clock } from '../base/clock.ts'
import { PROFILE_PATHS, type ProfileName } from '../endpoints/profile-names.ts'
import { isSnapshot, profileHeaders, type SnapshotAnswer, takeProfile } from '../endpoints/profiles.ts'
import { type Exchange, exchangeOf } from '../http/traffic/exchange.ts'
import { queryOf } from '../http/url.ts'
import { requestOf, toResponse } from './answer.ts'

/**
 * Profiles of the process, which hold every secret that it has.
 * @param admission what a request has to pass; of a listener that only the right ones reach, it
 * lets everything pass
 */
export function profileApp(clock: Clock, admission: MiddlewareHandler): Hono {
  const app = new Hono()
  for (const [name, path] of Object.entries(PROFILE_PATHS)) app.all(path, admission, (c) => answer(name as ProfileName, c, clock))
  return app
}

async function answer(name: ProfileName, c: Context, clock: Clock): Promise<Response> {
  // Nothing is taken for a head alone.
  if (c.req.method === 'HEAD') return new Response(null, { headers: profileHeaders(name) })
  const request = requestOf(c)
  const exchange = exchangeOf(request)
  // It lasts: a drain tells it to end, and gets what was taken by then.
  exchange?.declare('watch')
  const { signal: left } = c.req.raw
  const signal = exchange?.takeSignal()
  const taken = await takeProfile(name, { query: queryOf(request.url ?? ''), clock, left, signal })
  if (taken === undefined) return new Response(null)
  return isSnapshot(taken) ? sent(taken, exchange, signal) : toResponse(taken)
}

/** The answer as a stream, which its reader cancels when the client has left. */
function sent({ status, headers, body }: SnapshotAnswer, exchange: Exchange | undefined, signal: AbortSignal | undefined): Response {
  // It is broken off with its exchange: to the adapter a stream that fails is an error of the
  // application's.
  signal?.addEventListener('abort', () => exchange?.threw(signal.reason), { once: true })
  return new Response(Readable.toWeb(body) as ConstructorParameters<typeof Response>[0], { status, headers })
}
