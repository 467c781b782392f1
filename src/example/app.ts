import { type Context, Hono } from 'hono'
import { stream, streamSSE } from 'hono/streaming'
import { type Clock, systemClock } from '../base/clock.ts'
import { show } from '../base/errors.ts'
import { shutdownSignalOf } from '../http/shutdown-signal.ts'
import type { Life } from '../lifecycle/life.ts'
import type { ServerOptions } from '../options/options.ts'
import type { ServiceRegistry } from './registry.ts'
import { sleep } from './sleep.ts'

/**
 * The application of `quiesce serve`: one route for each way in which a request can meet the end of
 * its server. A quick one, a slow one, two watches (one of them of server-sent events) and one
 * whose body takes long to arrive.
 */

export interface ExampleParts {
  readonly registry: ServiceRegistry
  readonly clock?: Clock
  /** What tells a watch to come to its end. Replaced by tests that have no server. */
  readonly signalOf?: (context: Context<ExampleEnv>) => AbortSignal
}

interface ExampleEnv {
  readonly Bindings: { readonly incoming: object }
}

const ROUTES = {
  'GET /': 'this list, and the instances in the registry',
  'GET /echo?message=M': 'answers M',
  'GET /slow?ms=N': 'answers "done" after N milliseconds',
  'GET /watch?intervalMs=N': 'a JSON object per line, every N milliseconds (1000), until the server ends',
  'GET /events?intervalMs=N': 'the same as server-sent events',
  'POST /upload': 'answers the number of bytes in the body',
} as const

const SLOW_MS_MAX = 600_000
const INTERVAL_MS = { min: 10, max: 60_000, default: 1_000 }
const WATCH_PATHS = ['/watch', '/events']

/**
 * What the application says about itself: its watches are no requests to wait for.
 */
export const EXAMPLE_OPTIONS: Pick<ServerOptions, 'longRunning'> = {
  longRunning: (request) => WATCH_PATHS.includes((request.url ?? '').split('?', 1)[0] as string),
}

/**
 * A hook at each end, as services have them: be found while serving, and not any more before the
 * traffic has to go elsewhere.
 * @param leaveMs how long the registry takes to tell all who ask it
 */
export function addExampleHooks(
  server: Pick<Life, 'addPostStartHook' | 'addPreShutdownHook'>,
  { registry, clock = systemClock }: Pick<ExampleParts, 'registry' | 'clock'>,
  leaveMs = 0,
): void {
  const instance = `quiesce-${process.pid}`
  server.addPostStartHook('join-registry', () => registry.join(instance))
  server.addPreShutdownHook('leave-registry', async ({ signal }) => {
    await registry.leave(instance)
    if (leaveMs > 0) await sleep(clock, leaveMs, signal)
  })
}

export function createExampleApp({ registry, clock = systemClock, signalOf = shutdownSignalOf }: ExampleParts): Hono<ExampleEnv> {
  const app = new Hono<ExampleEnv>()

  app.get('/', (context) => context.json({ routes: ROUTES, instances: registry.instances }))

  app.get('/echo', (context) => {
    const message = context.req.query('message')
    return message === undefined ? refuse(context, 'message', message, 'any text') : context.text(message)
  })

  app.get('/slow', async (context) => {
    const ms = integer(context, 'ms', { min: 0, max: SLOW_MS_MAX })
    if (typeof ms !== 'number') return ms
    await sleep(clock, ms, context.req.raw.signal)
    return context.text('done')
  })

  app.get('/watch', (context) => {
    const intervalMs = integer(context, 'intervalMs', INTERVAL_MS)
    if (typeof intervalMs !== 'number') return intervalMs
    const end = signalOf(context)
    context.header('Content-Type', 'application/x-ndjson')
    context.header('Cache-Control', 'no-store')
    return stream(context, async (out) => {
      const gone = new AbortController()
      out.onAbort(() => gone.abort())
      let sequence = 0
      while (!end.aborted && !gone.signal.aborted) {
        await out.writeln(JSON.stringify({ sequence: ++sequence, time: isoTime(clock) }))
        await sleep(clock, intervalMs, end, gone.signal)
      }
      if (!gone.signal.aborted) await out.writeln(JSON.stringify({ sequence: ++sequence, time: isoTime(clock), last: true }))
    })
  })

  app.get('/events', (context) => {
    const intervalMs = integer(context, 'intervalMs', INTERVAL_MS)
    if (typeof intervalMs !== 'number') return intervalMs
    const end = signalOf(context)
    return streamSSE(context, async (out) => {
      const gone = new AbortController()
      out.onAbort(() => gone.abort())
      let sequence = 0
      while (!end.aborted && !gone.signal.aborted) {
        await out.writeSSE({ event: 'tick', id: String(++sequence), data: isoTime(clock) })
        await sleep(clock, intervalMs, end, gone.signal)
      }
      if (!gone.signal.aborted) await out.writeSSE({ event: 'last', id: String(++sequence), data: isoTime(clock) })
    })
  })

  app.post('/upload', async (context) => {
    let bytes = 0
    try {
      // Chunk by chunk: a body may be larger than the memory.
      for await (const chunk of context.req.raw.body ?? []) bytes += (chunk as Uint8Array).length
    } catch {
      return context.text(`the body broke off after ${bytes} bytes\n`, 400)
    }
    return context.text(String(bytes))
  })

  // Hono would print it; thrown on, it is in the log and the report, and the client gets a 500 all
  // the same.
  app.onError((error) => {
    throw error
  })
  return app
}

const isoTime = (clock: Clock): string => new Date(clock.wall()).toISOString()

const refuse = (context: Context, field: string, given: string | undefined, allowed: string): Response =>
  context.text(`${field}: got ${given === undefined ? 'nothing' : show(given)}, allowed: ${allowed}\n`, 400)

/** A whole number of the query, or the response that says what is wrong with it. */
function integer(
  context: Context,
  field: string,
  range: { readonly min: number; readonly max: number; readonly default?: number },
): number | Response {
  const given = context.req.query(field)
  if (given === undefined && range.default !== undefined) return range.default
  const number = given !== undefined && /^\d+$/.test(given) ? Number(given) : Number.NaN
  if (number >= range.min && number <= range.max) return number
  return refuse(context, field, given, `an integer from ${range.min} to ${range.max}`)
}
