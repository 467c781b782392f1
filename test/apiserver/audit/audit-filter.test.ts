// Fails when: a request is recorded in another way than upstream records it, an event is missing,
// doubled or has another shape, or a request that cannot be recorded is served in the strict mode.
import { expect, onTestFinished, test } from 'vitest'
import { type ApiExchange, apiExchangeOf } from '#apiserver/api-exchange.ts'
import { createApiServerOn } from '#apiserver/api-server.ts'
import type { AuditEvent } from '#apiserver/audit/event.ts'
import {
  type AuditPolicy,
  addAuditAnnotation,
  addLatency,
  auditRequestObject,
  auditResponseObject,
  completeConfig,
  type UserFilter,
} from '#apiserver/index.ts'
import { LATENCY, latencyAnnotations } from '#apiserver/latency.ts'
import { emptySlots } from '#apiserver/request/slots.ts'
import { sendStatus } from '#apiserver/status.ts'
import type { Report } from '#src/index.ts'
import { type TestLife, testLife } from '#src/testing/index.ts'
import { row } from '../../support/row.ts'
import { Sink } from './sink.ts'

const IN_TEST = { platform: 'unknown', logger: false, exit: 'natural', lastCall: 0 } as const
const EVERYTHING: AuditPolicy = { rules: [{ level: 'Metadata' }] }

interface Scene {
  readonly policy?: AuditPolicy
  readonly sink?: Sink
  readonly filters?: readonly UserFilter[]
  readonly config?: object
}

async function serve({ policy = EVERYTHING, sink = new Sink(), filters = [], config = {} }: Scene = {}): Promise<{
  life: TestLife
  sink: Sink
  stages: () => string[]
}> {
  const life = await testLife((world) =>
    world.create((host) => {
      const completed = completeConfig({ ...IN_TEST, audit: sink, auditPolicy: policy, filters, ...config })
      const server = createApiServerOn(host, completed)
      server.handle('/echo', (_request, response) => response.end('x'))
      server.handle('/slow', async (_request, response) => {
        await world.clock.sleep('700ms')
        response.end('slow')
      })
      server.handle('/panics', () => {
        throw new Error('on purpose')
      })
      server.handle('/texts', () => Promise.reject('a "text"' as unknown as Error))
      server.handle('/rejects', () => Promise.reject(new Error('later')))
      server.handle('/never', () => {})
      server.handle('/heeds', (request) => {
        const { signal } = apiExchangeOf(request) as ApiExchange
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      })
      server.handle('/fails', (request) => {
        const { signal } = apiExchangeOf(request) as ApiExchange
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('on purpose'))))
      })
      server.handle('/objects', (request, response) => {
        auditRequestObject(request, { metadata: { name: 'a', managedFields: [1] } })
        auditResponseObject(request, { items: [{ metadata: { managedFields: [1] } }] })
        response.end()
      })
      server.handlePrefix('/apis/', (request, response) => {
        if (request.url?.includes('fails')) throw new Error('on purpose')
        if (request.url?.includes('watch=')) {
          response.writeHead(200)
          response.write('begun\n')
          return
        }
        response.statusCode = 201
        response.end()
      })
      return server.prepare().life
    }),
  )
  onTestFinished(async () => void (await life[Symbol.asyncDispose]()))
  return { life, sink, stages: () => sink.calls.flat().map(({ stage, responseStatus }) => `${stage} ${responseStatus?.code ?? 0}`) }
}

row('AU-16', 'a request is recorded when it comes and when it is over', async () => {
  const { life, sink, stages } = await serve()
  const answer = await life.request({ path: '/echo?message=x', headers: { 'Audit-ID': 'given', 'User-Agent': 'curl' } })
  expect(answer.body).toBe('x')
  expect(stages()).toEqual(['RequestReceived 0', 'ResponseComplete 200'])
  const [received, complete] = sink.calls.flat()
  expect(JSON.stringify(received)).toBe(
    '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"given","stage":"RequestReceived","requestURI":"/echo?message=x",' +
      `"verb":"get","user":{},"sourceIPs":${JSON.stringify(received?.sourceIPs)},"userAgent":"curl",` +
      '"requestReceivedTimestamp":"2026-01-01T00:00:00.000000Z","stageTimestamp":"2026-01-01T00:00:00.000000Z"}',
  )
  expect(complete).toEqual({ ...received, stage: 'ResponseComplete', responseStatus: { metadata: {}, code: 200 } })
})

row('AU-15', 'a watch is recorded when its answer begins, too, under one id', async () => {
  const { life, sink, stages } = await serve()
  const connection = await life.connect()
  connection.request({ path: '/apis/a/v1/b?watch=1' })
  await life.clock.advance(0)
  expect(stages()).toEqual(['RequestReceived 0', 'ResponseStarted 200'])
  connection.destroy()
  await life.clock.advance(0)
  expect(stages()).toEqual(['RequestReceived 0', 'ResponseStarted 200', 'ResponseComplete 200'])
  expect(new Set(sink.ids).size).toBe(1)
})

test('a watch whose handler fails before it answers has not begun', async () => {
  const { life, stages } = await serve()
  await life.request('/apis/a/v1/b?watch=1&fails=1').catch(() => undefined)
  await life.clock.advance(0)
  expect(stages()).toEqual(['RequestReceived 0', 'Panic 500'])
})

test('a request for a resource says which', async () => {
  const { life, sink } = await serve()
  await life.request({ method: 'POST', path: '/apis/apps/v1/namespaces/blue/things/t1/status' })
  expect(sink.calls.flat()[1]).toMatchObject({
    verb: 'create',
    objectRef: { resource: 'things', namespace: 'blue', name: 't1', apiGroup: 'apps', apiVersion: 'v1', subresource: 'status' },
    responseStatus: { code: 201 },
  })
})

test.each([
  ['/panics', 'on purpose'],
  ['/rejects', 'later'],
  ['/texts', 'a "text"'],
])('a handler that fails is recorded so: %s', async (path, message) => {
  const { life, sink, stages } = await serve()
  await life.request(path).catch(() => undefined)
  await life.clock.advance(0)
  expect(stages()).toEqual(['RequestReceived 0', 'Panic 500'])
  expect(sink.calls.flat()[1]?.responseStatus).toEqual({
    metadata: {},
    status: 'Failure',
    message: `APIServer panic'd: ${message}`,
    reason: 'InternalError',
    code: 500,
  })
})

test('a client that leaves before its answer is recorded so', async () => {
  const { life, sink } = await serve()
  const connection = await life.connect()
  connection.request('/never')
  await life.clock.advance(0)
  connection.destroy()
  await life.clock.advance(0)
  expect(sink.calls.flat()[1]?.responseStatus).toEqual({ metadata: {}, message: 'Connection closed early', code: 200 })
})

test('a Status is recorded as it was sent', async () => {
  const { life, sink } = await serve({
    filters: [
      {
        name: 'forbids',
        after: 'audit',
        admit: (exchange) => {
          sendStatus(exchange, { message: 'no', reason: 'Forbidden', code: 403 })
          return false
        },
      },
    ],
  })
  expect((await life.request('/echo')).status).toBe(403)
  expect(sink.calls.flat()[1]?.responseStatus).toEqual({ metadata: {}, status: 'Failure', message: 'no', reason: 'Forbidden', code: 403 })
})

row('AU-12', 'annotations of filters before and behind this one are all there at the end', async () => {
  const annotating = (name: string, before: boolean): UserFilter => ({
    name,
    ...(before ? { before: 'authentication' } : { after: 'audit' }),
    admit: ({ request }) => addAuditAnnotation(request, name, 'yes') && !addAuditAnnotation(request, name, 'again'),
  })
  const { life, sink } = await serve({ filters: [annotating('b-late', false), annotating('a-early', true)] })
  await life.request('/echo')
  expect(sink.calls.flat().map(({ annotations }) => annotations)).toEqual([{ 'a-early': 'yes' }, { 'a-early': 'yes', 'b-late': 'yes' }])
})

test('a slow request says where its time went, when a layer has told', async () => {
  const store: UserFilter = {
    name: 'store',
    admit: ({ view: { request } }) => {
      if (!request.url?.includes('stored')) return true
      addLatency(request, 'etcd', 400.25)
      addLatency(request, 'etcd', 100)
      addLatency(request, 'response-write', 0.0005)
      return true
    },
  }
  const { life, sink } = await serve({ filters: [store] })
  for (const path of ['/slow', '/echo?stored', '/slow?stored']) {
    const answer = life.request(path)
    await life.clock.advance('1s')
    await answer
  }
  const [untold, quick, complete] = sink.calls.flat().filter(({ stage }) => stage === 'ResponseComplete')
  expect([untold?.annotations, quick?.annotations]).toEqual([undefined, undefined])
  expect(complete?.annotations).toEqual({
    'apiserver.latency.k8s.io/etcd': '500.25ms',
    'apiserver.latency.k8s.io/response-write': '500ns',
    'apiserver.latency.k8s.io/total': '700ms',
  })
  expect([complete?.requestReceivedTimestamp, complete?.stageTimestamp]).toEqual([
    '2026-01-01T00:00:02.000000Z',
    '2026-01-01T00:00:02.700000Z',
  ])
})

test.each([
  ['get', { 'apiserver.latency.k8s.io/impersonation': '600ms', 'apiserver.latency.k8s.io/total': '700ms' }],
  ['watch', undefined],
])('where the time of a request has gone is said of one that has an end: %s', (verb, said) => {
  const exchange = { info: { verb }, slots: emptySlots() } as unknown as ApiExchange
  LATENCY.set(exchange, new Map([['impersonation', 600]]))
  expect(latencyAnnotations(exchange, 700)).toEqual(said)
})

test.each<[string, Partial<AuditPolicy['rules'][number]>, Partial<AuditEvent>]>([
  ['Metadata', {}, {}],
  ['Request', {}, { requestObject: { metadata: { name: 'a', managedFields: [1] } } }],
  [
    'RequestResponse',
    { omitManagedFields: true },
    { requestObject: { metadata: { name: 'a' } }, responseObject: { items: [{ metadata: {} }] } },
  ],
])('at the level %s bodies are recorded that handlers name', async (level, rule, expected) => {
  const { life, sink } = await serve({ policy: { rules: [{ level: level as 'Request', ...rule }] } })
  await life.request('/objects')
  const { requestObject, responseObject } = sink.calls.flat()[1] ?? {}
  expect({ ...(requestObject !== undefined && { requestObject }), ...(responseObject !== undefined && { responseObject }) }).toEqual(
    expected,
  )
})

test.each<[string, 'Request' | 'RequestResponse', unknown]>([
  ['/apis', 'RequestResponse', expect.objectContaining({ kind: 'APIGroupList' })],
  ['/apis', 'Request', undefined],
])('what the server itself answers %s with is recorded at the level %s alone', async (path, level, expected) => {
  const { life, sink } = await serve({ policy: { rules: [{ level }] } })
  await life.request(path)
  expect(sink.calls.flat().at(-1)?.responseObject).toEqual(expected)
})

test('what the policy leaves out is not recorded', async () => {
  const rules = [{ level: 'None', nonResourceURLs: ['/echo'] }, { level: 'Metadata' }] as const
  const { life, stages } = await serve({ policy: { rules, omitStages: ['RequestReceived'] } })
  await life.request('/echo')
  await life.request('/version')
  expect(stages()).toEqual(['ResponseComplete 200'])
})

test('what can be read in two ways is recorded when it is in one of them', async () => {
  const rules = [
    { level: 'None', nonResourceURLs: ['/public/*'] },
    { level: 'Metadata', nonResourceURLs: ['/public'], omitStages: ['ResponseComplete'] },
    { level: 'Request', omitStages: ['RequestReceived'] },
  ] as const
  const { life, sink } = await serve({ policy: { rules } })
  for (const path of ['/public/x', '/public/%78', '/public/../secret', '/public/..%2fsecret', '/public/..%2f%ff%2f..%2fsecret'])
    await life.request(path)
  expect(sink.calls.flat().map(({ level, stage, requestURI }) => `${level} ${stage} ${requestURI}`)).toEqual([
    'Request ResponseComplete /public/../secret',
    'Request ResponseComplete /public/..%2fsecret',
    'Request ResponseComplete /public/..%2f%ff%2f..%2fsecret',
  ])
  // As the whole of a path it is left out at its end, as another one when it comes.
  await life.request('/x/../public')
  expect(
    sink.calls
      .flat()
      .slice(3)
      .map(({ level, stage }) => `${level} ${stage}`),
  ).toEqual(['Request RequestReceived', 'Request ResponseComplete'])
})

row(['AU-13', 'AU-14'], 'a request that cannot be recorded when it comes is refused in the strict mode', async () => {
  const sink = new Sink()
  sink.answer = false
  const { life, stages } = await serve({ sink })
  const answer = await life.request('/echo?<x>')
  expect([answer.status, answer.body]).toEqual([500, 'Internal Server Error: "/echo?&lt;x&gt;": failed to store audit event\n'])
  expect(stages()).toEqual(['RequestReceived 0'])
})

test('without a policy nothing is recorded, and the backend is run all the same', async () => {
  const sink = new Sink()
  const { life } = await serve({ sink, config: { auditPolicy: undefined } })
  await life.request('/echo')
  const report: Report = await life.stop()
  expect([sink.calls, sink.log, report.audit]).toEqual([[], ['run', 'shutdown'], { delivered: 0, lost: 0 }])
})

row('ER-12', 'the backend runs before the first request, and is shut down after the last', async () => {
  const sink = new Sink()
  const { life } = await serve({ sink })
  expect(sink.log).toEqual(['run'])
  await life.request('/echo')
  const report = await life.stop()
  expect(sink.log).toEqual(['run', 'shutdown'])
  expect(report.audit).toEqual({ delivered: 2, lost: 0 })
})

row(['RD-08', 'RD-11'], 'a request that is refused for its timeout is one event, with the text of the refusal', async () => {
  const { life, sink, stages } = await serve({ policy: { rules: [{ level: 'RequestResponse' }] } })
  expect((await life.request('/echo?timeout=foo')).status).toBe(400)
  expect(stages()).toEqual(['ResponseStarted 400'])
  expect(sink.calls.flat()[0]?.responseStatus).toEqual({
    metadata: {},
    status: 'Failure',
    message: expect.stringMatching(/^invalid timeout specified in the request URL - /),
    reason: 'BadRequest',
    code: 400,
  })
  const { responseStatus, responseObject } = sink.calls.flat()[0] ?? {}
  expect(responseObject).toEqual({ kind: 'Status', apiVersion: 'v1', ...responseStatus })
})

test('an answer that its client has already is recorded without what it would have been', async () => {
  const { life, sink, stages } = await serve({ policy: { rules: [{ level: 'RequestResponse', omitStages: ['RequestReceived'] }] } })
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const whole = await life.request({ path: '/apis', headers: { accept } })
  const { etag } = whole.headers
  expect((await life.request({ path: '/apis', headers: { accept, 'if-none-match': String(etag) } })).status).toBe(304)
  expect(stages()).toEqual(['ResponseComplete 200', 'ResponseComplete 304'])
  expect(sink.calls.flat().map(({ responseObject }) => (responseObject as { kind?: string } | undefined)?.kind)).toEqual([
    'APIGroupDiscoveryList',
    undefined,
  ])
})

test.each(['/never', '/heeds', '/fails'])('a request whose time is over is recorded as its client was told: %s', async (path) => {
  const { life, stages } = await serve()
  const answer = life.request(`${path}?timeout=1s`)
  await life.clock.advance('1s')
  expect((await answer).status).toBe(504)
  await life.clock.advance(0)
  expect(stages()).toEqual(['RequestReceived 0', 'ResponseComplete 504'])
})
