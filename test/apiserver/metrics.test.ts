// What an API server counts of its requests, as a scraper reads it. Fails when: a request is
// counted under another status than its client got, or twice; what a client makes up becomes a
// label; a name differs from upstream's.
import { request as httpRequest } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ABORT_HANDLER } from '#apiserver/chain/panic-recovery.ts'
import { type ApiExchange, type ApiServer, type ApiServerConfig, completeConfig, createApiServer } from '#apiserver/index.ts'
import { ApiMetrics } from '#apiserver/metrics/api-metrics.ts'
import { dryRunOf, scopeOf, usernameLabel, verbOf } from '#apiserver/metrics/labels.ts'
import { requestInfo } from '#apiserver/request/request-info.ts'
import { ROUTE } from '#apiserver/request/route.ts'
import { emptySlots } from '#apiserver/request/slots.ts'
import { systemHost } from '#src/actors/host.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import { renderMetrics } from '#src/metrics/index.ts'
import { recordedGroups } from './oracle/recorded.ts'

/** A server of its own, and what it has counted: labels that are not empty, and the value. */
async function counting(setUp: (server: ApiServer) => void, config: ApiServerConfig = {}) {
  const completed = completeConfig({
    port: 0,
    host: '127.0.0.1',
    logger: false,
    lastCall: 0,
    platform: 'unknown',
    shutdownDelay: 0,
    ...config,
  })
  const server = createApiServer(completed)
  setUp(server)
  const life = server.prepare().life as Lifecycle
  onTestFinished(async () => void (await life.stop({ now: true })))
  await life.start()
  const { port } = life.addresses[0] as { readonly port: number }
  /** On a connection of its own, until its answer is over; never rejects. */
  const ask = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
    new Promise<number>((resolve) => {
      const asked = httpRequest({ port, path, method, headers, agent: false }, (response) => {
        response.on('error', () => {}).on('close', () => resolve(response.statusCode as number))
        response.resume()
      })
      asked.on('error', () => resolve(0)).end()
    })
  const samples = (name: string): readonly string[] =>
    life.metrics
      .collect()
      .filter((family) => family.name === name)
      .flatMap((family) => family.samples)
      .filter(({ suffix = '' }) => suffix === '' || suffix === '_count')
      .filter(({ labels }) => !/^\/(metrics|healthz|livez|readyz)/.test(labels['subresource'] ?? ''))
      .map(({ labels, value }) => {
        const { component, ...others } = labels
        const said = Object.entries(others).filter(([, text]) => text !== '')
        return `${said.map(([label, text]) => `${label}=${text}`).join(' ')} ${component === '' ? 'component= ' : ''}${value}`
      })
  return { life, port, ask, samples }
}

const hello = (server: ApiServer): void => {
  server.handle('/a', (_, response) => void response.setHeader('Content-Length', 5).end('hello'))
  server.handlePrefix('/files/', (_, response) => void response.end('a file'))
  server.handlePrefix('/apis/shop.example/v1/', ({ url = '' }, response) => {
    response.statusCode = url.includes('/books') ? 200 : 404
    response.end()
  })
}

test('a request is counted once, by what it asks for and the status that its client got', async () => {
  const { ask, samples } = await counting((server) => {
    hello(server)
    server.handle('/fails', () => {
      throw new Error('the route /fails')
    })
    server.handle('/aborts', () => {
      throw ABORT_HANDLER
    })
  })
  await ask('/a')
  await ask('/a?dryRun=All', 'POST')
  await ask('/files/x/y')
  await ask('/files/z')
  await ask('/fails')
  await ask('/aborts')
  await expect
    .poll(() => samples('apiserver_request_total'))
    .toEqual([
      'verb=GET subresource=/a code=200 1',
      'verb=POST subresource=/a dry_run=All code=200 1',
      'verb=GET subresource=/files/ code=200 2',
      'verb=GET subresource=/fails code=500 1',
      'verb=GET subresource=/aborts code=0 1',
    ])
  expect(samples('apiserver_request_duration_seconds')).toHaveLength(5)
  expect(samples('apiserver_request_sli_duration_seconds')).toHaveLength(4)
  expect(samples('apiserver_response_sizes').filter((line) => line.includes('/a '))).toEqual(['verb=GET subresource=/a 1'])
  expect(samples('apiserver_request_aborts_total')).toEqual(['verb=GET subresource=/aborts 1'])
})

test('what a client makes up is other: paths, resources that nothing is answered of, and methods', async () => {
  const { ask, samples } = await counting(hello)
  for (const path of ['/b', '/c', '/apis/shop.example/v1/guess', '/apis/shop.example/v1/books', '/apis/shop.example/v1/books/1'])
    await ask(path)
  await ask('/apis/shop.example/v1/namespaces/n/books', 'PROPFIND')
  await ask('/apis/made.up/v1/books')
  expect(samples('apiserver_request_total')).toEqual([
    'verb=GET subresource=other code=404 2',
    'verb=LIST group=other version=other resource=other subresource=other scope=cluster code=404 2',
    'verb=LIST group=shop.example version=v1 resource=books scope=cluster code=200 1',
    'verb=GET group=shop.example version=v1 resource=books scope=resource code=200 1',
    'verb=other group=shop.example version=v1 resource=books scope=namespace code=200 1',
  ])
})

test('health endpoints are counted by themselves, once and without a component', async () => {
  const { ask, life } = await counting(hello)
  await ask('/readyz')
  const text = renderMetrics(life.metrics.collect())
  expect(text.match(/^apiserver_request_total\{.*\/readyz.*$/gm)).toEqual([
    'apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/readyz",verb="GET",version=""} 1',
  ])
  expect(text).toContain(
    'apiserver_request_duration_seconds_count{component="",dry_run="",group="",resource="",scope="",subresource="/readyz",verb="GET",version=""} 1',
  )
  expect(text.match(/^# TYPE apiserver_request_total /gm)).toHaveLength(1)
})

test('what is ended in self-defence is counted as that, too', async () => {
  let finish = (): void => {}
  const { ask, samples } = await counting(
    (server) => {
      server.handle('/slow', (_, response) => new Promise<void>((resolve) => (finish = resolve)).then(() => void response.end()))
    },
    { requestTimeout: '30ms', maxRequestsInFlight: 1 },
  )
  const slow = ask('/slow')
  await expect.poll(() => ask('/slow')).toBe(429)
  expect(await slow).toBe(504)
  finish()
  await expect.poll(() => samples('apiserver_request_post_timeout_total')).toEqual(['source=timeout-handler status=ok 1'])
  expect(
    samples('apiserver_request_terminations_total')
      .map((line) => line.replace(/ \d+$/, ''))
      .sort(),
  ).toEqual(['verb=GET subresource=/slow code=429', 'verb=GET subresource=/slow code=504'])
})

test('one that lasts is there while it lasts', async () => {
  let end = (): void => {}
  const { port, samples } = await counting((server) => {
    server.handlePrefix('/apis/shop.example/v1/', (_, response) => {
      response.write('begun')
      end = () => void response.end()
    })
  })
  const asked = httpRequest({ port, path: '/apis/shop.example/v1/books?watch', agent: false }, (response) => void response.resume())
  asked.end()
  const lines = () => samples('apiserver_longrunning_requests')
  await expect.poll(lines).toEqual(['verb=WATCH group=shop.example version=v1 resource=books scope=cluster 1'])
  end()
  await expect.poll(lines).toEqual(['verb=WATCH group=shop.example version=v1 resource=books scope=cluster 0'])
})

test('what was audited', async () => {
  const { ask, samples } = await counting(hello, {
    audit: { run: () => {}, processEvents: () => true, shutdown: () => {} } as never,
    auditPolicy: { rules: [{ level: 'Metadata' }] },
  })
  await ask('/a')
  expect([samples('apiserver_audit_event_total'), samples('apiserver_audit_level_total')]).toEqual([[' 2'], ['level=Metadata 1']])
})

describe('labels', () => {
  const verb = (method: string, url: string, headers = {}) => {
    const info = requestInfo(method, url)
    return verbOf({ info, request: { method, url, headers } as never }, scopeOf(info))
  }
  test.each([
    ['GET', '/a', 'GET'],
    ['HEAD', '/a', 'GET'],
    ['GET', '/api/v1/pods', 'LIST'],
    ['HEAD', '/api/v1/namespaces/n/pods', 'LIST'],
    ['GET', '/api/v1/pods/p', 'GET'],
    ['GET', '/api/v1/pods?watch=1', 'WATCH'],
    ['GET', '/api/v1/watch/pods', 'WATCH'],
    ['GET', '/api/v1/pods/p?watch', 'WATCH'],
    ['GET', '/api/v1/pods/p?watch=False', 'GET'],
    ['GET', '/a?watch=1', 'WATCH'],
    ['GET', '/a?%77atch=1', 'WATCH'],
    ['GET', '/a?b=watch', 'GET'],
    ['GET', '/watch?a=1', 'GET'],
    ['POST', '/a?watch=1', 'POST'],
    ['GET', '/api/v1/pods/p/log?watch=1', 'CONNECT'],
    ['POST', '/api/v1/pods/p/exec', 'CONNECT'],
    ['DELETE', '/api/v1/pods', 'DELETE'],
    ['PURGE', '/a', 'other'],
  ])('the verb of %s %s is %s', (method, url, expected) => {
    expect(verb(method, url)).toBe(expected)
  })

  test('a patch that applies is another verb', () => {
    expect(verb('PATCH', '/api/v1/pods/p', { 'content-type': 'application/apply-patch+yaml' })).toBe('APPLY')
    expect(verb('PATCH', '/api/v1/pods/p')).toBe('PATCH')
  })

  test('dry runs and users', () => {
    expect(['/a', '/a?dryRun=All', '/a?dryRun=x'].map(dryRunOf)).toEqual(['', 'All', 'invalid'])
    expect(['admin', 'a@b.example', 'system:anonymous'].map(usernameLabel)).toEqual(['admin', 'email_id', 'other'])
  })
})

test('names, types, labels are those that the real server prints', () => {
  const metrics = new ApiMetrics(systemHost.clock, () => undefined)
  const real = recordedGroups.flatMap(({ exchanges }) => exchanges.flatMap(({ answer }) => (answer.metrics ? [answer.metrics] : [])))
  const known = Object.assign({}, ...real) as Record<string, { readonly type: string; readonly labels: readonly string[] }>
  const exchange = {
    info: requestInfo('GET', '/a'),
    request: { method: 'GET', url: '/a', headers: {} },
    response: { headersSent: true, statusCode: 200, getHeader: () => '5' },
    receivedAt: 0,
    slots: emptySlots(),
  } as unknown as ApiExchange
  ROUTE.set(exchange, '/a')
  metrics.answered(exchange)
  metrics.lasts(exchange)
  metrics.terminated(exchange, 504)
  metrics.aborted(exchange)
  metrics.endedAfterTimeout(exchange, 'ok')
  metrics.authenticated('success', 1, 'admin')
  metrics.authorized('allowed', 1)
  metrics.filterTook('audit', 1)
  const shared = metrics.collect().filter(({ name }) => name in known)
  expect(shared.map(({ name }) => name)).toEqual(expect.arrayContaining(RECORDED))
  for (const { name, type, samples } of shared) {
    expect([name, type]).toEqual([name, known[name]?.type])
    expect(samples).not.toEqual([])
    for (const { labels } of samples)
      expect([name, ...Object.keys(labels).filter((label) => label !== 'le')].sort()).toEqual([name, ...(known[name]?.labels ?? [])].sort())
  }
})

const RECORDED = [
  'apiserver_request_total',
  'apiserver_request_duration_seconds',
  'apiserver_request_sli_duration_seconds',
  'apiserver_response_sizes',
  'apiserver_request_terminations_total',
  'apiserver_request_aborts_total',
  'apiserver_request_post_timeout_total',
  'apiserver_request_filter_duration_seconds',
]
