// Requests of an API server as spans. Fails when: a request has no span or two, what a stranger
// sends becomes the parent of a span, the handler runs outside of its span, a tracer that fails
// costs a request.
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  type ContextManager,
  context,
  DiagLogLevel,
  diag,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  type TextMapPropagator,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { spanName } from '#apiserver/chain/tracing.ts'
import type { ApiServerConfig, UserFilter } from '#apiserver/index.ts'
import { requestInfo } from '#apiserver/request/request-info.ts'
import { traceRequests } from '#apiserver/tracing/index.ts'
import { serveApi } from '../support/api-server.ts'

/** As that of the SDK, which is another package. */
class LocalContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()
  active = (): Context => this.#storage.getStore() ?? ROOT_CONTEXT
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    of: Context,
    run: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(of, () => run.apply(thisArg, args)) as ReturnType<F>
  }
  bind = <T>(_: Context, target: T): T => target
  enable = () => this
  disable = () => this
}

/** The header `traceparent`, likewise. */
const traceContext: TextMapPropagator<unknown> = {
  inject: (of, carrier, setter) => {
    const { traceId, spanId } = trace.getSpanContext(of) ?? {}
    if (traceId) setter.set(carrier, 'traceparent', `00-${traceId}-${spanId}-01`)
  },
  extract: (of, carrier, getter) => {
    const [, traceId, spanId] = String(getter.get(carrier, 'traceparent') ?? '').split('-')
    if (!traceId || !spanId) return of
    return trace.setSpanContext(of, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true })
  },
  fields: () => ['traceparent'],
}

beforeAll(() => {
  context.setGlobalContextManager(new LocalContexts())
  propagation.setGlobalPropagator(traceContext)
})
afterAll(() => {
  context.disable()
  propagation.disable()
})
afterEach(() => diag.disable())

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const TRACEPARENT = { traceparent: `00-${TRACE}-${SPAN}-01` }

/** Who a test says it is: what authentication does. */
const asGroup: UserFilter = {
  name: 'as-group',
  before: 'authentication',
  admit: (exchange) => {
    const { 'x-group': group } = exchange.request.headers
    if (typeof group === 'string') exchange.user = { name: 'tester', uid: '', groups: [group], extra: {} }
    return true
  },
}

async function serve(config: ApiServerConfig = {}) {
  const exporter = new InMemorySpanExporter()
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('test')
  const inHandler: (SpanContext | undefined)[] = []
  const passedOn: Record<string, string>[] = []
  const served = await serveApi({
    config: { tracing: traceRequests({ tracer }), filters: [asGroup], ...config },
    setUp: (server) => {
      const handler = async (_: unknown, response: { end(): unknown }): Promise<void> => {
        await Promise.resolve()
        inHandler.push(trace.getSpanContext(context.active()))
        const headers: Record<string, string> = {}
        propagation.inject(context.active(), headers)
        passedOn.push(headers)
        response.end()
      }
      server.handle('/a', handler)
      server.handlePrefix('/apis/shop.example/v1/', handler)
      server.handle('/fails', () => {
        throw new TypeError('the route /fails')
      })
    },
  })
  const spans = async (count: number) => {
    await expect.poll(() => exporter.getFinishedSpans().length).toBe(count)
    return exporter.getFinishedSpans()
  }
  return { ...served, spans, inHandler, passedOn }
}

test('a request is one span, in which its handler runs and from which it carries the trace on', async () => {
  const { ask, spans, inHandler, passedOn } = await serve()
  const answer = await ask('/a?secret=x', { headers: { 'User-Agent': 'tester' } })
  const [span, ...others] = await spans(1)
  expect(others).toEqual([])
  expect(span).toMatchObject({
    name: 'GET',
    kind: SpanKind.SERVER,
    attributes: {
      'audit-id': answer.headers.get('audit-id'),
      'http.request.method': 'GET',
      'url.path': '/a',
      'url.scheme': 'http',
      'user_agent.original': 'tester',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(answer.url).port),
      'network.protocol.version': '1.1',
      'http.response.status_code': 200,
    },
  })
  expect(JSON.stringify(span?.attributes)).not.toContain('secret')
  expect(inHandler).toEqual([span?.spanContext()])
  expect(passedOn).toEqual([{ traceparent: `00-${span?.spanContext().traceId}-${span?.spanContext().spanId}-01` }])
})

test('over HTTP/2 the server has the same attributes, and a method of the client’s own is no name of a span', async () => {
  const { connectH2, port, spans } = await serve({ http2: true })
  const client = await connectH2()
  await client.get('/a', { ':method': 'BREW' })
  const [span] = await spans(1)
  expect(span).toMatchObject({
    name: 'HTTP',
    attributes: {
      'http.request.method': '_OTHER',
      'http.request.method_original': 'BREW',
      'server.address': '127.0.0.1',
      'server.port': port,
    },
  })
})

test.each([
  ['[::1]:8443', '::1', 8443],
  ['shop.example', 'shop.example', undefined],
])('the server that a client calls %s has an address and a port of its own', async (host, address, port) => {
  const { connect, spans } = await serve()
  const client = await connect()
  client.request('GET', '/a', { headers: { Host: host } })
  const [span] = await spans(1)
  expect([span?.attributes['server.address'], span?.attributes['server.port']]).toEqual([address, port])
})

test("a stranger's trace is linked, that of those who are trusted goes on", async () => {
  const { ask, spans } = await serve()
  await ask('/a', { headers: TRACEPARENT })
  await ask('/a', { headers: { ...TRACEPARENT, 'X-Group': 'system:monitoring' } })
  const [stranger, trusted] = await spans(2)
  expect(stranger?.parentSpanContext).toBeUndefined()
  expect(stranger?.spanContext().traceId).not.toBe(TRACE)
  expect(stranger?.links).toMatchObject([{ context: { traceId: TRACE, spanId: SPAN } }])
  expect(trusted?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: SPAN })
  expect(trusted?.spanContext().traceId).toBe(TRACE)
})

test('a failure is said, and what is not found is none', async () => {
  const { ask, spans } = await serve()
  await ask('/fails')
  await ask('/nowhere')
  const [failed, missing] = await spans(2)
  expect(failed).toMatchObject({ status: { code: 2 }, attributes: { 'http.response.status_code': 500, 'error.type': 'TypeError' } })
  expect(failed?.events).toMatchObject([{ name: 'exception', attributes: { 'exception.message': 'the route /fails' } }])
  expect(missing).toMatchObject({ status: { code: 0 }, attributes: { 'http.response.status_code': 404 } })
})

test.each([
  ['GET', '/a/b', 'GET'],
  ['GET', '/api/v1/nodes', 'GET /api/v1/nodes'],
  ['PUT', '/apis/shop.example/v1/namespaces/n/books/b/status', 'PUT /apis/shop.example/v1/namespaces/{:namespace}/books/{:name}/status'],
])('the span of %s %s is called %s', (method, url, expected) => {
  expect(spanName(method, requestInfo(method, url))).toBe(expected)
})

test('a tracer that fails ends the tracing, not the requests', async () => {
  const said: string[] = []
  const silent = (): void => {}
  const logger = { warn: silent, info: silent, debug: silent, verbose: silent, error: (message: string) => void said.push(message) }
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
  const tracer = {
    startSpan: () => {
      throw new Error('no exporter')
    },
  } as unknown as Tracer
  const served = await serveApi({
    config: { tracing: traceRequests({ tracer }) },
    setUp: (server) => server.handle('/a', (_, response) => void response.end('a')),
  })
  for (let at = 0; at < 3; at++) expect((await served.ask('/a')).status).toBe(200)
  expect(said).toEqual(['quiesce: tracing of requests stopped, because the tracer failed'])
})
