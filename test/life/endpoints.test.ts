// What a life answers by itself, at the gate, on the admin listener and mounted in an app of Hono.
// Fails when: one of the three answers a request otherwise than the others, a mounted route is
// refused in a drain without a word, a profile is served to one whom nothing has let through, or a
// wrong argument is taken.
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { bearerAuth } from 'hono/bearer-auth'
import { HTTPException } from 'hono/http-exception'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '#src/base/clock.ts'
import { createServerOn } from '#src/create-server.ts'
import { MetricsEndpoint } from '#src/endpoints/metrics-endpoint.ts'
import { healthRoutes, metricsRoutes, profileRoutes } from '#src/frameworks/hono.ts'
import { Health } from '#src/http/health/health.ts'
import { createServer, type Life, type ServerOptions } from '#src/index.ts'
import { adminApp } from '#src/routes/admin-routes.ts'
import { debugApp } from '#src/routes/debug-routes.ts'
import { healthApp } from '#src/routes/health-routes.ts'
import { metricsApp } from '#src/routes/metrics-routes.ts'
import { profileApp } from '#src/routes/profile-routes.ts'
import type { RawResponse } from '../support/http1.mjs'
import { LifeRig, newLife, refusal } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'
import { connectTo, type RawClient } from '../support/raw-client.ts'

// A snapshot of this process would take seconds; this one never ends.
const snapshots: Readable[] = []
vi.mock('node:v8', async (original) => ({
  ...(await original<typeof import('node:v8')>()),
  getHeapSnapshot: () => {
    const snapshot = new Readable({
      read(size) {
        this.push('x'.repeat(size))
      },
    })
    snapshots.push(snapshot)
    return snapshot
  },
}))

const OPTIONS: ServerOptions = {
  port: 0,
  host: '127.0.0.1',
  platform: 'unknown',
  shutdownDelay: 0,
  deadline: '10m',
  hookTimeout: '1m',
  exit: 'natural',
}

/** A life whose application is one of Hono; what is not there is answered 404 `app`. */
function living(options: ServerOptions, mount: (app: Hono, life: Life) => void) {
  const app = new Hono().notFound((c) => c.text('app', 404))
  const t = new LifeRig({}, (host, logger) => createServerOn(host, app, { ...OPTIONS, logger, ...options }))
  mount(app, t.life)
  return t
}

const adminPortOf = (t: { events: LifeRig<never>['events'] }): number =>
  t.events.flatMap((event) => (event.type === 'listening' && event.admin ? [event.port] : []))[0] as number

/** As a client sees it: without what every answer of its connection has. */
function seen({ status, headers, body }: RawResponse): object {
  const { date, connection, 'keep-alive': keepAlive, ...rest } = headers
  return { status, headers: rest, body }
}

const CHECKS = {
  db: () => {},
  bad: () => {
    throw new Error('no route to db')
  },
  async: async () => Promise.reject(new Error('later')),
  'a b': () => {},
  'a/b': () => {},
  '50%': () => {},
  é: () => {},
}
const EXCLUDED = Object.keys(CHECKS)
  .filter((name) => name === 'bad' || name === 'async')
  .map((name) => `exclude=${name}`)
  .join('&')

/** Answered by the gate, or not: each path, with the query that is asked with it. */
const TARGETS = [
  ...['/healthz', '/livez', '/readyz', '/status', '/readyz/below', '/:odd'].flatMap((path) => [
    path,
    `${path}?verbose`,
    `${path}?${EXCLUDED}`,
    `${path}?verbose&${EXCLUDED}&exclude=nothing`,
    `${path}?verbose=1;x&exclude=b%61d&exclude=asyn%63&verbose`,
    `${path}?exclude=%zz&verbos%65=0`,
    `${path}?`,
  ]),
  ...Object.keys(CHECKS).map((name) => `/readyz/${encodeURIComponent(name)}`),
  '/readyz/a%2fb?verbose',
  '/readyz/a/b',
  '/readyz/50%2525',
  '/readyz/50%',
  '/readyz/%zz',
  '/readyz/poststarthook/warm',
  '/livez/poststarthook%2Fwarm',
  '/status/db',
  '/%72eadyz',
  '/read%79z/d%62',
  '/readyz/',
  '/readyz/nothing',
  '/readyz/db/',
  '/readyzz',
  '/xreadyz',
  '/x/readyz',
  '/:other',
  '/metrics/slis',
  '/metrics/other',
  '/nowhere',
]

/** What Hono takes for another path than the gate does: mounted routes go by the app's reading. */
const READ_IN_TWO_WAYS = ['/readyz%2Fdb', '//readyz', '/x/../readyz', '/readyz/./db', '/READYZ']

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']

describe('what the gate answers is answered in the same words', () => {
  const setUp = async (health: ServerOptions['health']) => {
    const t = living({ health, metrics: true, admin: { port: 0 }, exempt: ['/m'] }, (app, life) => {
      app.route('/m', healthRoutes(life))
      app.route('/m/deeper/:tenant', healthRoutes(life))
      app.route('/m', metricsRoutes(life))
      for (const [name, check] of Object.entries(CHECKS)) life.addHealthCheck(name, check)
      life.addPostStartHook('warm', () => {})
    })
    await t.life.start()
    await t.fired('PostStartHooksDone')
    const gate = await connectTo(t.port)
    const mounted = await connectTo(t.port)
    const admin = await connectTo(adminPortOf(t))
    return { t, gate, mounted, admin }
  }

  const NAMED: ServerOptions['health'] = { extra: { '/status': ['db', 'bad'], '/readyz/below': 'readyz', '/:odd': 'livez' } }

  /** One request of each, one after the other; the answer of none: what is below is not there. */
  async function ask(client: RawClient, method: string, target: string): Promise<object | 'not there'> {
    const answer = await client.ask(method, target, method === 'POST' ? { body: 'a body that nothing reads' } : {})
    return answer.status === 404 ? 'not there' : seen(answer)
  }

  test.each<[string, ServerOptions['health']]>([
    ['as upstream', NAMED],
    ['in JSON, with other codes and headers', { ...NAMED, body: 'json', status: { passed: 203, failed: 503 }, headers: { 'x-a': 'b' } }],
    ['in words of the user', { ...NAMED, body: ({ passed }) => (passed ? 'fine' : { bad: true }), headers: { 'content-type': 'text/x' } }],
  ])('on the admin listener and mounted, %s', async (_, health) => {
    const { gate, mounted, admin } = await setUp(health)
    for (const target of TARGETS) {
      const wanted = await ask(gate, 'GET', target)
      expect([target, await ask(admin, 'GET', target)]).toEqual([target, wanted])
      expect([target, await ask(mounted, 'GET', `/m${target}`)]).toEqual([target, wanted])
      expect([target, await ask(mounted, 'GET', `/m/deeper/a%20tenant${target}`)]).toEqual([
        target,
        target.startsWith('/metrics') ? 'not there' : wanted,
      ])
    }
    // Of which an adapter would make no URL, or another one.
    for (const Host of ['x:', 'X.Example.', 'a!$&()*+,=~b', '[::1]', '1.2.3.4:65535'])
      expect([Host, seen(await admin.ask('GET', '/readyz/db', { headers: { Host } }))]).toEqual([
        Host,
        await ask(gate, 'GET', '/readyz/db'),
      ])
    for (const target of READ_IN_TWO_WAYS)
      expect([target, await ask(admin, 'GET', target)]).toEqual([target, await ask(gate, 'GET', target)])
    expect(await ask(gate, 'GET', '/readyz')).toMatchObject({ status: health && health !== true ? (health.status?.failed ?? 500) : 0 })
    expect(await ask(gate, 'GET', '/readyz/db')).toMatchObject({ body: expect.anything() })
  })

  test.each(METHODS)('to %s', async (method) => {
    const { gate, mounted, admin } = await setUp(NAMED)
    for (const target of ['/readyz', `/readyz?${EXCLUDED}`, '/livez/bad', '/status/db', '/metrics/slis', '/nowhere']) {
      const wanted = await ask(gate, method, target)
      expect([target, await ask(admin, method, target)]).toEqual([target, wanted])
      expect([target, await ask(mounted, method, `/m${target}`)]).toEqual([target, wanted])
    }
    expect(await ask(gate, method, '/livez')).not.toBe('not there')
  })

  test('to whole URLs as targets, to clients of HTTP/1.0 and to metrics in their format and encoding', async () => {
    const { gate, mounted, admin } = await setUp(true)
    for (const headers of [
      { Accept: 'application/openmetrics-text; version=1.0.0' },
      { Accept: 'text/html', 'Accept-Encoding': 'br, gzip;q=0.5' },
      { 'Accept-Encoding': 'gzip;q=0' },
    ]) {
      const answers = [gate.ask('GET', '/metrics/slis', { headers }), admin.ask('GET', '/metrics/slis', { headers })]
      const [atGate, atAdmin] = (await Promise.all(answers)).map(seen)
      expect(atAdmin).toEqual(atGate)
      expect(seen(await mounted.ask('GET', '/m/metrics/slis', { headers }))).toEqual(atGate)
    }
    expect(seen(await admin.ask('GET', 'http://localhost/readyz/db'))).toEqual(seen(await gate.ask('GET', 'http://localhost/readyz/db')))
    expect(seen(await mounted.ask('GET', 'http://localhost/m/readyz/db'))).toEqual(seen(await gate.ask('GET', '/readyz/db')))
    expect(await admin.ask('GET', '/a\\b')).toMatchObject({ status: 404, body: '404 page not found\n' })
    admin.send('GET /readyz/db HTTP/1.0\r\n\r\n')
    expect(await admin.response()).toMatchObject({ status: 200, body: 'ok' })
  })

  test('over HTTP/2', async () => {
    const t = living({ port: undefined, host: undefined, listeners: [{ port: 0, host: '127.0.0.1', http2: true }] }, (app, life) => {
      app.route('/m', healthRoutes(life))
      app.route('/m', profileRoutes(life, { authorize: (_, next) => next() }))
      life.addHealthCheck('bad', CHECKS.bad)
    })
    await t.life.start()
    const session = connectHttp2(`http://127.0.0.1:${t.port}`)
    onTestFinished(() => session.destroy())
    const ask = async (method: string, path: string): Promise<object> => {
      const stream = session.request({ ':method': method, ':path': path })
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
      const { date, ...rest } = headers
      return { ...rest, body: await text(stream) }
    }
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      for (const path of ['/readyz', '/livez/ping', '/livez/bad', '/healthz?exclude=bad&verbose'])
        expect([method, path, await ask(method, `/m${path}`)]).toEqual([method, path, await ask(method, path)])
    const snapshot = session.request({ ':path': '/m/debug/pprof/heap' })
    await once(snapshot, 'response')
    const closed = new Promise<void>((resolve) => snapshot.on('error', () => {}).once('close', () => resolve()))
    expect(await t.end()).toMatchObject({ exitCode: 0, errors: [] })
    await closed
    await expect.poll(() => snapshots.at(-1)?.destroyed).toBe(true)
  })

  test('before the life begins: there is nothing yet', async () => {
    const { life } = newLife()
    const app = new Hono().route('/', healthRoutes(life))
    expect((await app.request('/livez')).status).toBe(404)
    await life.start()
    expect(await (await app.request('/livez')).text()).toBe('ok')
  })

  test('a check is given the request that asks, and metrics count who has asked, wherever', async () => {
    const asked: unknown[] = []
    const t = living({ health: true, admin: { port: 0 }, exempt: ['/m'] }, (app, life) => {
      app.route('/m', healthRoutes(life))
      life.addLivezCheck('asks', ({ request }) => void asked.push([request.method, request.url, request.headers['x-a']]))
    })
    await t.life.start()
    for (const [port, path] of [
      [t.port, '/livez'],
      [t.port, '/m/livez'],
      [adminPortOf(t), '/livez'],
    ] as const)
      await (await connectTo(port)).ask('HEAD', path, { headers: { 'X-A': 'b' } })
    expect(asked).toEqual(['/livez', '/m/livez', '/livez'].map((path) => ['HEAD', path, 'b']))
    const metrics = await (await connectTo(adminPortOf(t))).ask('GET', '/metrics')
    expect(metrics.body).toContain('quiesce_health_requests_total{code="200",path="/livez"} 3\n')
  })
})

test.each([{}, { admin: { port: 0 } }])('the debug socket has health, too, with %j', async (options) => {
  const socketPath = join(temporaryFolder(), 'debug.sock')
  const t = newLife({ options: { ...options, debugSocket: socketPath } })
  await t.life.start()
  const asked = httpRequest({ socketPath, path: '/livez?verbose' }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  expect([answer.statusCode, await text(answer)]).toEqual([200, (await t.get('/livez?verbose')).body])
})

test('on the admin listener a step behind health does not see its requests, and one before it does', async () => {
  const passed: string[] = []
  const step = (name: string) => ({
    name,
    onAdmin: true,
    onPublic: false,
    admit: ({ name: request }: { readonly name: string }) => passed.push(`${name}: ${request}`) > 0,
  })
  const steps = [{ ...step('first'), before: 'health' }, { ...step('behind'), after: 'health' }, step('last')]
  const t = newLife({ options: { admin: { port: 0 }, steps, health: { extra: { '/status': 'all' } } } })
  await t.life.start()
  const admin = await connectTo(adminPortOf(t))
  for (const path of ['/readyz', '/status', '/metrics', '/nowhere']) await admin.ask('GET', path)
  const both = ['/metrics', '/nowhere'].flatMap((path) => ['first', 'behind', 'last'].map((name) => `${name}: GET ${path}`))
  expect(passed).toEqual(['first: GET /readyz', 'first: GET /status', ...both])
})

describe('while draining', () => {
  test.each(['retry-after', 'refuse'] as const)(
    'mounted routes answer where the gate does, and where exempt says (%s)',
    async (whileDraining) => {
      const t = living({ whileDraining, health: false, exempt: ['/internal'], lastCall: '1s' }, (app, life) => {
        app.route('/', healthRoutes(life))
        app.route('/', metricsRoutes(life))
        app.route('/internal', healthRoutes(life))
      })
      const hold = t.life.hold('job')
      await t.life.start()
      const clients = await Promise.all(Array.from({ length: 4 }, () => connectTo(t.port)))
      await Promise.all(clients.map((client) => client.ask('GET', '/')))
      const ended = t.life.stop('the test asks')
      await t.fired('ShutdownInitiated')
      if (whileDraining === 'retry-after') await t.fired('NotAcceptingNewRequest')
      const [one, two, three, four] = clients as [RawClient, RawClient, RawClient, RawClient]
      expect(await one.ask('GET', '/readyz')).toMatchObject({ status: 500, body: expect.stringContaining('[-]shutdown failed') })
      expect(await two.ask('GET', '/internal/livez')).toMatchObject({ status: 200, body: 'ok' })
      expect(await three.ask('GET', '/metrics/slis')).toMatchObject({ status: 200 })
      if (whileDraining === 'retry-after') expect(await four.ask('GET', '/other')).toMatchObject({ status: 429 })
      hold[Symbol.dispose]()
      const report = await t.end(ended)
      expect([report.exitCode, report.warnings]).toEqual([0, []])
    },
  )

  test('one below a prefix that exempt does not name is refused, and that is said once, long before', async () => {
    const t = living({ whileDraining: 'retry-after', health: true }, (app, life) => {
      app.route('/internal', healthRoutes(life))
      app.route('/internal', metricsRoutes(life))
      app.route('/', metricsRoutes(life))
    })
    const hold = t.life.hold('job')
    await t.life.start()
    for (const path of ['/metrics', '/readyz', '/internal/readyz', '/internal/livez/ping', '/internal/metrics']) await t.get(path)
    const ended = t.life.stop('the test asks')
    await t.fired('NotAcceptingNewRequest')
    expect(await t.get('/internal/livez')).toMatchObject({ status: 429 })
    hold[Symbol.dispose]()
    const said = (what: string, path: string) =>
      `${what} is mounted at "${path}", which is refused while draining: name the path, or one above it, in the option exempt`
    expect((await t.end(ended)).warnings.map(({ message }) => message)).toEqual([
      said('health', '/internal/readyz'),
      said('metrics', '/internal/metrics'),
    ])
  })
})

test('checks that only mounted routes ask are not warned of', async () => {
  const t = living({ health: false }, (app, life) => {
    app.route('/', healthRoutes(life))
    life.addReadyzCheck('db', () => {})
  })
  await t.life.start()
  expect(await t.get('/readyz/db')).toMatchObject({ status: 200, body: 'ok' })
  expect((await t.end()).warnings).toEqual([])
})

describe('each app by itself', () => {
  const health = (): Health => {
    const made = new Health({ clock: systemClock, isShuttingDown: () => false, livezGraceMs: 0 })
    made.install()
    return made
  }
  const metrics = new MetricsEndpoint({ '/metrics': () => [] })

  test('answers in memory', async () => {
    const debug = debugApp({ health: undefined, clock: systemClock, look: () => ({ at: 1 }), resources: () => ['Timeout', 'Timeout'] })
    const answers = await Promise.all([
      healthApp(health()).request('/readyz?verbose'),
      metricsApp(metrics).request('/metrics', { headers: { Accept: 'application/openmetrics-text' } }),
      adminApp({ health: undefined, metrics }).request('/readyz'),
      adminApp({ health: health(), metrics }).request('/livez/ping', { method: 'PUT' }),
      debug.request('/debug/life'),
      debug.request('/debug/handles'),
      debug.request('/debug/pprof/profile?seconds=0'),
    ])
    expect(await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]))).toEqual([
      [200, '[+]ping ok\n[+]log ok\n[+]shutdown ok\nreadyz check passed\n'],
      [200, '# EOF\n'],
      [404, '404 page not found\n'],
      [200, 'ok'],
      [200, '{\n  "at": 1\n}\n'],
      [200, '{\n  "Timeout": 2\n}\n'],
      [400, 'seconds: above 0, at most 600\n'],
    ])
    expect(await (await debug.request('/')).text()).toContain('/debug/pprof/heap\n')
    expect((await debug.request('/debug')).status).toBe(404)
  })

  test('sends a heap snapshot as a stream, which ends with its reader, and takes none for a head', async () => {
    const app = profileApp(systemClock, (_, next) => next())
    const before = snapshots.length
    const head = await app.request('/debug/pprof/heap', { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type'), snapshots.length]).toEqual([200, 'application/json', before])
    const answer = await app.request('/debug/pprof/heap')
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="heap.heapsnapshot-${process.pid}"`)
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
    expect((await reader.read()).done).toBe(false)
    await reader.cancel()
    await expect.poll(() => snapshots.at(-1)?.destroyed).toBe(true)
  })
})

describe('an endpoint that fails', () => {
  test('is answered 500 and reported, on a listener of ours', async () => {
    const t = newLife({ options: { admin: { port: 0 } } })
    vi.spyOn(t.life.metricsEndpoint, 'answer').mockImplementation(() => {
      throw new Error('no metrics')
    })
    await t.life.start()
    expect(await (await connectTo(adminPortOf(t))).ask('GET', '/metrics')).toMatchObject({ status: 500 })
    expect((await t.end()).errors).toMatchObject([{ where: 'handler GET /metrics', error: { message: 'no metrics' } }])
  })
})

describe('profiles', () => {
  const HEAP = '/debug/pprof/heap'
  const PROFILE = '/debug/pprof/profile?seconds=0.01'
  type Authorize = Parameters<typeof profileRoutes>[1]['authorize']

  test.each<[string, unknown]>([
    ['says nothing', () => {}],
    ['says true, as a predicate would', () => true],
    ['says so later', async () => Promise.resolve({ allowed: true })],
    ['answers by itself', (c: { text(text: string, status: number): Response }) => c.text('no', 401)],
    ['fails as Hono does', () => Promise.reject(new HTTPException(401))],
    ['is for a token', bearerAuth({ token: 'secret' })],
    ['is for a password', basicAuth({ username: 'a', password: 'b' })],
  ])('are refused by a middleware that %s', async (_, authorize) => {
    const { life } = newLife()
    const app = new Hono()
    app.route('/', profileRoutes(life, { authorize: authorize as Authorize }))
    app.route('/internal', profileRoutes(life, { authorize: authorize as Authorize }))
    const before = snapshots.length
    for (const method of ['GET', 'HEAD', 'POST'])
      for (const path of [HEAP, PROFILE, `/internal${HEAP}`, '/debug/pprof/h%65ap'])
        expect([401, 403]).toContain((await app.request(path, { method })).status)
    expect(snapshots.length).toBe(before)
  })

  test('are served to those whom it lets through', async () => {
    const { life } = newLife()
    const app = new Hono().route('/internal', profileRoutes(life, { authorize: bearerAuth({ token: 'secret' }) }))
    const answer = await app.request(`/internal${PROFILE}`, { headers: { Authorization: 'Bearer secret' } })
    expect([answer.status, answer.headers.get('content-disposition')]).toEqual([
      200,
      `attachment; filename="cpu.cpuprofile-${process.pid}"`,
    ])
    expect(await answer.json()).toMatchObject({ nodes: expect.any(Array) })
    expect((await app.request('/internal/debug/pprof/')).status).toBe(404)
  })

  test('that are under way end with the drain: one is sent, and a snapshot that is not read is broken off', async () => {
    // Where it holds up the drain, the time of the test is over first.
    const t = living(
      { deadline: '5m', watchGrace: '1m' },
      (app, life) => void app.route('/', profileRoutes(life, { authorize: (_, next) => next() })),
    )
    await t.life.start()
    const [one, two] = await Promise.all([connectTo(t.port), connectTo(t.port)])
    one.request('GET', '/debug/pprof/profile?seconds=600')
    two.request('GET', HEAP)
    await two.until('a head', () => two.received.includes('\r\n\r\n'))
    two.socket.pause()
    await expect.poll(() => t.life.counts().watches).toBe(2)
    const ended = t.life.stop('the test asks')
    expect(JSON.parse((await one.response()).body)).toMatchObject({ nodes: expect.any(Array) })
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, errors: [] })
    await expect.poll(() => snapshots.at(-1)?.destroyed).toBe(true)
  })

  test('end with their clients', async () => {
    const t = living({}, (app, life) => void app.route('/', profileRoutes(life, { authorize: (_, next) => next() })))
    await t.life.start()
    const client = await connectTo(t.port)
    client.request('GET', '/debug/pprof/profile?seconds=600')
    await expect.poll(() => t.life.counts().watches).toBe(1)
    client.abort()
    const next = await connectTo(t.port)
    await expect.poll(async () => (await next.ask('GET', PROFILE)).status).toBe(200)
  })
})

describe('what cannot be mounted', () => {
  const life = (): Life => createServer({ listener: (() => {}) as RequestListener }, { logger: false })
  const LIFE = 'what createServer, attachLifecycle or createLife has returned'

  test.each<[string, () => unknown, string, string]>([
    ['nothing', () => healthRoutes(undefined as never), 'life of healthRoutes', LIFE],
    ['an app', () => healthRoutes(new Hono() as never), 'life of healthRoutes', LIFE],
    ['a part of a life', () => metricsRoutes({ ...life() } as never), 'life of metricsRoutes', LIFE],
    ['a text', () => metricsRoutes('life' as never), 'life of metricsRoutes', LIFE],
    [
      'a promise of one',
      () => profileRoutes(Promise.resolve(life()) as never, { authorize: (_, next) => next() }),
      'life of profileRoutes',
      LIFE,
    ],
    ['no options', () => profileRoutes(life(), undefined as never), 'options of profileRoutes', 'an object of authorize'],
    ['no authorization', () => profileRoutes(life(), {} as never), 'authorize of profileRoutes', 'a middleware that calls next()'],
    ['a switch', () => profileRoutes(life(), { authorize: true } as never), 'authorize of profileRoutes', 'a middleware that calls next()'],
    ['a misspelt one', () => profileRoutes(life(), { authorise: () => {} } as never), 'authorise of profileRoutes', 'one of authorize'],
  ])('is refused: %s', (_, call, field, allowed) => {
    const { code, details } = refusal(call)
    expect([code, details['field'], details['allowed']]).toEqual(['ERR_OPTION_INVALID', field, expect.stringContaining(allowed)])
    expect(details).toHaveProperty('given')
  })
})
