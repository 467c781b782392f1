import { type Attributes, context, diag, type Meter, type ObservableCallback, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterEach, expect, test } from 'vitest'
import type { Life } from '#src/lifecycle/life.ts'
import { meterLifecycle, traceLifecycle } from '#src/opentelemetry/index.ts'
import { Latch } from '../sockets/rig.ts'
import { newLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'

function recording() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  return { exporter, provider, tracer: provider.getTracer('test') }
}

const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan => {
  const span = spans.find((candidate) => candidate.name === name)
  if (!span) throw new Error(`no span ${name} among ${spans.map((candidate) => candidate.name).join(', ')}`)
  return span
}
const parentOf = (spans: readonly ReadableSpan[], span: ReadableSpan): string | undefined =>
  spans.find((candidate) => candidate.spanContext().spanId === span.parentSpanContext?.spanId)?.name

afterEach(() => diag.disable())

test('a life is a root span with its signals, a span for each phase, and one for each hook in its phase', async () => {
  const { exporter, tracer } = recording()
  const made = newLife()
  const { life } = made
  life.addPostStartHook('warm', () => {})
  life.addPreShutdownHook('leave', () => Promise.reject(Object.assign(new Error('no such registry'), { code: 'ENOENT' })))
  life.addDestroy('pool', () => {})
  traceLifecycle(life, { tracer })
  await life.start()
  await made.end()

  const spans = exporter.getFinishedSpans()
  const root = named(spans, 'quiesce lifecycle')
  expect(root.parentSpanContext).toBeUndefined()
  expect(root.events.map(({ name }) => name).filter((name) => made.signals.includes(name))).toEqual(made.signals)
  expect(root.attributes).toMatchObject({ 'quiesce.stop.reason': 'stop', 'process.exit.code': 4 })
  expect(root.status.code).toBe(SpanStatusCode.ERROR)

  const phases = made.events.flatMap((event) => (event.type === 'phase.started' ? [`phase ${event.phase}`] : []))
  for (const phase of phases) expect(parentOf(spans, named(spans, phase))).toBe('quiesce lifecycle')
  expect(parentOf(spans, named(spans, 'post-start hook warm'))).toBe('phase post-start-hooks')
  expect(parentOf(spans, named(spans, 'pre-shutdown hook leave'))).toBe('phase pre-shutdown-hooks')
  expect(parentOf(spans, named(spans, 'destroy hook pool'))).toBe('phase destroy')
  expect(spans).toHaveLength(1 + phases.length + 3)

  expect(named(spans, 'destroy hook pool')).toMatchObject({
    attributes: { 'quiesce.hook.kind': 'destroy', 'quiesce.hook.name': 'pool', 'quiesce.outcome': 'ok' },
    status: { code: SpanStatusCode.UNSET },
  })
  const failed = named(spans, 'pre-shutdown hook leave')
  expect(failed).toMatchObject({
    attributes: { 'quiesce.outcome': 'failed', 'error.type': 'ENOENT' },
    status: { code: SpanStatusCode.ERROR, message: 'no such registry' },
  })
  expect(failed.events).toMatchObject([{ name: 'exception', attributes: { 'exception.message': 'no such registry' } }])
  expect(named(spans, 'phase request-drain').attributes).toMatchObject({ 'quiesce.drain.before': 0, 'quiesce.drain.after': 0 })
})

test('an end by force ends every span, the root last', async () => {
  const { exporter, tracer } = recording()
  const made = newLife({ options: { deadline: '200ms' } })
  const { life } = made
  life.addDestroy('hangs', () => new Promise(() => {}))
  life.hold('import')
  traceLifecycle(life, { tracer })
  await life.start()
  await made.end()
  const spans = exporter.getFinishedSpans()
  expect(spans.at(-1)).toMatchObject({ name: 'quiesce lifecycle', attributes: { 'process.exit.code': 5 } })
  expect(named(spans, 'phase request-drain').attributes).toMatchObject({ 'quiesce.outcome': 'cut', 'quiesce.drain.cut': ['import'] })
  for (const span of spans) expect(span.ended).toBe(true)
})

test('a destroy function that flushes exports what has happened, in the time that it has', async () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 3_600_000 })] })
  const made = newLife()
  const { life } = made
  const traced = traceLifecycle(life, { tracer: provider.getTracer('test') })
  let atFlush: readonly string[] = []
  life.addDestroy('pool', () => {})
  // The last one registered, because destroy functions run in this order.
  life.addDestroy('tracing', async () => {
    traced[Symbol.dispose]()
    await provider.forceFlush()
    atFlush = exporter.getFinishedSpans().map(({ name }) => name)
  })
  await life.start()
  const report = await made.end()
  expect(report.exitCode).toBe(0)
  expect(atFlush).toEqual(expect.arrayContaining(['quiesce lifecycle', 'phase request-drain', 'phase destroy', 'destroy hook pool']))
  await provider.forceFlush()
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(atFlush)
  await provider.shutdown()
})

test('an exporter that never answers delays nothing', async () => {
  const exported = new Latch()
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ export: () => exported.resolve(), shutdown: () => new Promise(() => {}) })],
  })
  const made = newLife()
  traceLifecycle(made.life, { tracer: provider.getTracer('test') })
  await made.life.start()
  expect((await made.end()).exitCode).toBe(0)
  await exported.promise
})

test('a tracer that throws ends the tracing and not the life, and OpenTelemetry is told', async () => {
  const { tracer } = recording()
  const notified: unknown[][] = []
  const ignore = (): void => {}
  diag.setLogger({ error: (...args) => void notified.push(args), warn: ignore, info: ignore, debug: ignore, verbose: ignore })
  const failing: Tracer = {
    startSpan: (name, options, parent) => {
      if (name.startsWith('phase')) throw new Error('broken tracer')
      return tracer.startSpan(name, options, parent)
    },
    startActiveSpan: tracer.startActiveSpan.bind(tracer),
  }
  const made = newLife()
  traceLifecycle(made.life, { tracer: failing })
  await made.life.start()
  expect(await made.end()).toMatchObject({ exitCode: 0, errors: [] })
  expect(notified).toEqual([['quiesce: tracing stopped, because the tracer failed', expect.objectContaining({ message: 'broken tracer' })]])
})

test('without a provider it does nothing, and a parent is respected', async () => {
  const made = newLife()
  traceLifecycle(made.life)
  await made.life.start()
  expect((await made.end()).exitCode).toBe(0)

  const { exporter, tracer } = recording()
  const outer = tracer.startSpan('deployment')
  const parent = trace.setSpan(context.active(), outer)
  traceLifecycle(newLife().life, { tracer, parent })[Symbol.dispose]()
  const [root] = exporter.getFinishedSpans()
  expect(root?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId)
})

/** As much of a meter as is used here, which collects when it is asked. */
function metering() {
  const callbacks = new Set<ObservableCallback>()
  const names: string[] = []
  const counter = {
    addCallback: (callback: ObservableCallback) => void callbacks.add(callback),
    removeCallback: (callback: ObservableCallback) => void callbacks.delete(callback),
  }
  const meter = {
    createObservableUpDownCounter: (name: string) => {
      names.push(name)
      return counter
    },
  } as unknown as Meter
  const collect = async (): Promise<{ readonly value: number; readonly attributes: Attributes | undefined }[]> => {
    const observed: { value: number; attributes: Attributes | undefined }[] = []
    for (const callback of callbacks) await callback({ observe: (value, attributes) => void observed.push({ value, attributes }) })
    return observed
  }
  return { meter, names, collect, callbacks }
}

test('open connections are measured by protocol until the end of the life, or until it is disposed of', async () => {
  const { meter, names, collect, callbacks } = metering()
  const made = newLife()
  meterLifecycle(made.life, { meter })
  const second = meterLifecycle(made.life, { meter })
  second[Symbol.dispose]()
  second[Symbol.dispose]()
  expect(callbacks.size).toBe(1)
  expect(names).toEqual(['quiesce.connections', 'quiesce.connections'])
  await made.life.start()
  const attributes = { 'network.protocol.name': 'http', 'network.protocol.version': '1.1' }
  expect(await collect()).toEqual([{ value: 0, attributes }])
  const clients = await Promise.all([RawClient.open({ port: made.port }), RawClient.open({ port: made.port })])
  for (const client of clients) await client.ask('GET', '/')
  expect(await collect()).toEqual([{ value: 2, attributes }])
  await made.end()
  expect(callbacks.size).toBe(0)
})

test('the attributes are those of the semantic conventions', async () => {
  const { meter, collect } = metering()
  const byProtocol = [
    { protocol: 'HTTP/2', tls: 'TLSv1.3', open: 4 },
    { protocol: 'HTTP/2', tls: 'none', open: 3 },
    { protocol: 'WebSocket', tls: 'TLSv1.2', open: 2 },
    { protocol: 'TLS handshake', tls: 'pending', open: 1 },
  ] as const
  const counts = () => ({ connections: { byProtocol } }) as unknown as ReturnType<Life['counts']>
  meterLifecycle({ counts, events$: newLife().life.events$ }, { meter })
  const http2 = { 'network.protocol.name': 'http', 'network.protocol.version': '2' }
  expect(await collect()).toEqual([
    { value: 4, attributes: { ...http2, 'tls.protocol.version': '1.3' } },
    { value: 3, attributes: http2 },
    { value: 2, attributes: { 'network.protocol.name': 'websocket', 'tls.protocol.version': '1.2' } },
    { value: 1, attributes: { 'network.protocol.name': 'tls' } },
  ])
})

test('the phase that closes connections says what became of them, by protocol', async () => {
  const { exporter, tracer } = recording()
  const made = newLife({ options: { shutdownDelay: '100ms' } })
  traceLifecycle(made.life, { tracer })
  await made.life.start()
  const client = await RawClient.open({ port: made.port })
  await client.ask('GET', '/')
  const ended = made.life.stop()
  await made.fired('ShutdownInitiated')
  await made.get('/')
  await made.end(ended)
  const { attributes } = named(exporter.getFinishedSpans(), 'phase close-connections')
  expect(attributes['quiesce.connections.by_protocol']).toEqual([expect.stringMatching(/^HTTP\/1\.1 none: 1 open, \d notified, /)])
  expect(attributes['quiesce.connections.last_request_ms']).toBeGreaterThanOrEqual(0)
})
