// The words in which a life speaks to clients, to its log and to whatever scrapes its metrics.
// Fails when: a server that is no API server names one anywhere (a refusal in either mode, a line
// of the log, a page of metrics, the report); words of the user's are not what is read; a body
// function that fails leaves a client without an answer; or words that cannot be used are not
// refused by field.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { apiserverWording } from '#apiserver/apiserver-wording.ts'
import { createServer as createQuiesceServer, neutralWording } from '#src/index.ts'
import type { Mode } from '#src/machines/wiring.ts'
import type { LifecycleOptions } from '#src/options/options.ts'
import { resolveWording, type WordingOptions } from '#src/options/rows/wording.ts'
import { type LifeRig, newAttachedLife, newLife, refusal } from '../support/life.ts'
import { connectTo } from '../support/raw-client.ts'
import { type Answer, fresh } from '../support/upstream-client.ts'

/** No last call: what comes after the stop request is refused. */
const OPTIONS: LifecycleOptions = { platform: 'unknown', shutdownDelay: 0, lastCall: 0, admin: { port: 0 } }

type AnyLife = Pick<LifeRig<never>, 'life' | 'events' | 'log' | 'fired'> & { end(): Promise<unknown> }

async function created(options: LifecycleOptions): Promise<AnyLife> {
  const t = newLife({ options: { ...OPTIONS, ...options } })
  t.life.addDestroy('pool', () => undefined)
  t.life.addPreShutdownHook('leave', () => undefined)
  await t.life.start()
  return t as unknown as AnyLife
}

async function attached(options: LifecycleOptions): Promise<AnyLife> {
  const server = createServer((_, response) => response.end('hello'))
  onTestFinished(() => void server.close())
  const t = newAttachedLife(server, { options: { ...OPTIONS, ...options } })
  const started = t.life.start()
  server.listen(0, '127.0.0.1')
  await started
  return t as unknown as AnyLife
}

const port = ({ events }: AnyLife, admin = false): number =>
  (events.find((event) => event.type === 'listening' && event.admin === admin) as unknown as AddressInfo).port

/**
 * What a request that comes too late is answered with, and what is read elsewhere until the life
 * has ended.
 */
async function wholeLife(t: AnyLife, headers: Record<string, string> = {}): Promise<{ refused: Answer; pages: string; report: unknown }> {
  const pages: string[] = []
  for (const path of ['/livez', '/readyz', '/nowhere/readyz']) pages.push((await fresh(port(t), path)).body)
  const late = await connectTo(port(t))
  const held = t.life.hold('job')
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  late.send(`GET /late HTTP/1.1\r\nHost: a\r\n${head.join('')}`)
  await fresh(port(t), '/readyz')
  const ended = t.end()
  await t.fired('NotAcceptingNewRequest')
  late.send('\r\n')
  const refused = (await late.response()) as unknown as Answer
  for (const path of ['/metrics', '/metrics/slis', '/readyz?verbose', '/nowhere']) pages.push((await fresh(port(t, true), path)).body)
  held[Symbol.dispose]()
  return { refused, pages: pages.join('\n'), report: await ended }
}

/**
 * The names of lifecycle signals are upstream's everywhere; this is what says whose server it is.
 */
const UPSTREAMS = /\w*(?:apiserver|api server|kube|k8s)\w*/gi

describe.each([
  ['createServer', created],
  ['attachLifecycle', attached],
])('%s without any wording names no API server', (_, make) => {
  test.each<[Mode, number, string]>([
    ['refuse', 503, '1'],
    ['retry-after', 429, '5'],
  ])('%s: to its clients, in its log, metrics and report', async (whileDraining, status, seconds) => {
    const t = await make({ whileDraining })
    const { refused, pages, report } = await wholeLife(t)
    expect(refused).toMatchObject({
      status,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'retry-after': seconds, connection: 'close' },
      body: 'The server is shutting down, please try again later.\n',
    })
    expect(pages).toContain('quiesce_health_requests_total{code="200",path="/readyz"} 2\n')
    expect(pages).toContain('quiesce_connections{protocol="HTTP/1.1",tls="none"} ')
    expect(pages).toContain('quiesce_health_check{name="ping",type="readyz"} 1\n')
    expect(pages).toContain('quiesce_health_checks_total{name="ping",status="success",type="readyz"} 2\n')
    expect(t.log.map(({ message }) => message)).toContain('the server is exiting')
    expect(JSON.stringify([refused, pages, t.log, t.events, report]).match(UPSTREAMS)).toBeNull()
  })
})

test('a client that asks for JSON is refused with problem+json', async () => {
  const { refused } = await wholeLife(await created({}), { Accept: 'application/json, text/plain, */*' })
  expect(refused).toMatchObject({ status: 503, headers: { 'content-type': 'application/problem+json' } })
  expect(JSON.parse(refused.body)).toEqual({
    type: 'about:blank',
    title: 'Service Unavailable',
    status: 503,
    detail: 'The server is shutting down, please try again later.',
  })
})

test("the server's own name stands where it speaks of itself", async () => {
  const t = await created({ wording: { name: 'orders', metrics: { prefix: 'orders_' } } })
  const { refused, pages } = await wholeLife(t)
  expect(refused.body).toBe('orders is shutting down, please try again later.\n')
  expect(t.log.map(({ message }) => message)).toContain('orders is exiting')
  expect(pages).toContain('orders_health_check{name="ping",type="readyz"} 1\n')
})

test('every word may be replaced by itself', async () => {
  const wording: WordingOptions = {
    refusal: { body: '<h1>Back soon</h1>', contentType: 'text/html', retryAfterSeconds: false, headers: { 'Cache-Control': 'no-store' } },
    log: { exiting: 'bye' },
    metrics: { checks: { name: 'probes_total' }, requests: { pathLabel: 'endpoint', labels: { service: 'orders' } } },
  }
  const t = await created({ wording })
  // One body of the user's is for every client.
  const { refused, pages } = await wholeLife(t, { Accept: 'application/json' })
  expect(refused).toMatchObject({ status: 503, headers: { 'content-type': 'text/html', 'cache-control': 'no-store' } })
  expect(refused.headers).not.toHaveProperty('retry-after')
  expect(refused.body).toBe('<h1>Back soon</h1>')
  expect(t.log.map(({ message }) => message)).toContain('bye')
  expect(pages).toContain('probes_total{name="ping",status="success",type="readyz"}')
  expect(pages).toContain('quiesce_health_requests_total{code="200",endpoint="/readyz",service="orders"}')
})

describe('a body function', () => {
  test('is asked for each refused request', async () => {
    const wording: WordingOptions = { refusal: { body: ({ request, kind, status }) => `${kind} ${status} ${request.url}` } }
    const { refused } = await wholeLife(await created({ wording }))
    expect(refused.body).toBe('not-accepting 503 /late')
  })

  test.each<[string, () => string]>([
    [
      'no template',
      () => {
        throw new Error('no template')
      },
    ],
    ['body of the refusal "not-accepting": returned 5, allowed: text', () => 5 as unknown as string],
  ])('that fails is reported, and its client is answered: %s', async (message, body) => {
    const t = await created({ wording: { refusal: { body, contentType: 'application/json' } } })
    const { refused } = await wholeLife(t)
    expect(refused).toMatchObject({ status: 503, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Service Unavailable\n' })
    expect(t.events.filter(({ type }) => type === 'error')).toMatchObject([{ where: 'wording', error: { message } }])
  })
})

describe('words that cannot be used', () => {
  test.each<[string, unknown]>([
    ['wording: got "orders", allowed: { name, refusal, refusals, log, metrics }', 'orders'],
    ['wording.nmae: unknown (did you mean "name"?)', { nmae: 'orders' }],
    ['wording.name: got "a\\nb", allowed: text in one line', { name: 'a\nb' }],
    ['wording.refusal.body: got 5, allowed: text, or a function of the refused request', { refusal: { body: 5 } }],
    ['wording.refusal.contentType: got "html", allowed: a content type', { refusal: { contentType: 'html' } }],
    ['wording.refusal.retryAfterSeconds: got "5s", allowed: an integer', { refusal: { retryAfterSeconds: '5s' } }],
    ['wording.refusal.headers.connection: is set already', { refusal: { headers: { connection: 'keep-alive' } } }],
    ['wording.refusal.headers.X-A: got "a\\r\\nb", allowed: text of a header', { refusal: { headers: { 'X-A': 'a\r\nb' } } }],
    ['wording.refusal.json.body: got 5', { refusal: { json: { body: 5 } } }],
    ['wording.refusal.json.contentType: got undefined, allowed: text', { refusal: { json: { body: '{}' } } }],
    ['wording.toString: unknown', { toString: {} }],
    ['wording.refusals.late: unknown', { refusals: { late: {} } }],
    ['wording.refusals.watch.body: got 5', { refusals: { watch: { body: 5 } } }],
    ['wording.log.exiting: got ""', { log: { exiting: '' } }],
    ['wording.metrics.prefix: got "9a_", allowed: letters, digits, _ and :', { metrics: { prefix: '9a_' } }],
    ['wording.metrics.requests.labels.a-b: got "a-b"', { metrics: { requests: { labels: { 'a-b': 'x' } } } }],
    [
      'wording.metrics.check.name: got "a", allowed: a name of its own; it is that of checks',
      { metrics: { check: { name: 'a' }, checks: { name: 'a' } } },
    ],
    ['wording.metrics.checks.name: got "quiesce_health_check"', { metrics: { checks: { name: 'quiesce_health_check' } } }],
    ['wording.metrics.requests.pathLabel: got "code"', { metrics: { requests: { pathLabel: 'code' } } }],
    ['wording.metrics.requests.labels.code: got "code"', { metrics: { requests: { labels: { code: 'x' } } } }],
    ['wording.metrics.requests.labels.path: got "path"', { metrics: { requests: { labels: { path: 'x' } } } }],
  ])('%s', (problem, wording) => {
    const refused = refusal(() => createQuiesceServer({ listener: () => undefined }, { wording: wording as WordingOptions }))
    expect(refused).toMatchObject({ code: 'ERR_OPTION_INVALID', details: { field: problem.split(': ')[0] } })
    expect(refused.message).toContain(problem)
  })
})

test('a whole wording is one of the values; what is undefined is not given', () => {
  expect(resolveWording(apiserverWording)).toEqual({
    ...apiserverWording,
    refusals: Object.fromEntries(Object.entries(apiserverWording.refusals).map(([kind, words]) => [kind, { ...words, json: undefined }])),
  })
  expect(resolveWording({ name: undefined, refusal: { body: undefined }, log: { exiting: undefined } })).toEqual(neutralWording())
})
