// The health endpoints as a prober sees them: over real sockets, in front of an application that
// answers everything else. Fails when: a body, header or status differs by a byte, a check that
// hangs, throws or answers late shows anywhere but in its own line, probes of a slow check pile up,
// readiness stays green in a shutdown, or liveness does not.
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { apiserverWording } from '#apiserver/apiserver-wording.ts'
import { systemClock } from '#src/base/clock.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { MetricsEndpoint } from '#src/endpoints/metrics-endpoint.ts'
import { Health, type HealthSettings, type LivezCheckOptions } from '#src/http/health/health.ts'
import { informersSynced, LOG_FLUSH_AGE_MS_MAX } from '#src/http/health/health-built-ins.ts'
import { type Check, type CheckOptions, HANGING_RUNS_MAX, NamedCheck } from '#src/http/health/health-check.ts'
import { HealthEndpoint } from '#src/http/health/health-endpoint.ts'
import { row } from '../support/row.ts'

type Filter = (request: IncomingMessage, response: ServerResponse) => boolean

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A real server with `filters` in front of an application that answers 418. */
async function serve(...filters: Filter[]) {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    if (filters.some((filter) => filter(request, response))) return
    response.writeHead(418).end('application')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    base,
    arrived: () => requests,
    get: async (path: string, method = 'GET') => {
      const response = await fetch(base + path, { method })
      return { status: response.status, body: await response.text(), headers: response.headers }
    },
  }
}

const fails =
  (reason: string): Check =>
  () => {
    throw new Error(reason)
  }
const never: Check = () => new Promise(() => undefined)
const BAD = fails('this will fail')
const PASSES: Check = () => undefined

/** A server with one installed endpoint that has exactly these checks. */
async function serveChecks(path: string, checks: Record<string, Check>, groups: Record<string, string> = {}) {
  const endpoint = new HealthEndpoint(path, systemClock)
  for (const [name, check] of Object.entries(checks)) {
    endpoint.add(new NamedCheck(name, check, groups[name] === undefined ? {} : { group: groups[name] }, systemClock))
  }
  endpoint.install()
  return { endpoint, ...(await serve((request, response) => endpoint.handle(request, response))) }
}

/** A server with a whole `Health`, installed unless `add` does more. */
async function serveHealth(options: Partial<HealthSettings> = {}, add: (health: Health) => void = () => undefined) {
  const health = new Health({ clock: systemClock, isShuttingDown: () => false, livezGraceMs: 0, ...options })
  add(health)
  health.install()
  return { health, ...(await serve((request, response) => health.handle(request, response))) }
}

const TEXT = 'text/plain; charset=utf-8'

test('a check of the user is told of once when it fails and once when it passes again, wherever it is asked for', async () => {
  const turns: unknown[] = []
  const world = { reason: '' }
  const check = (): void => {
    if (world.reason !== '') throw new Error(world.reason)
  }
  const { get } = await serveHealth({ onTurn: (name, verdict) => turns.push([name, verdict]), isShuttingDown: () => true }, (health) => {
    health.addCheck('db', check)
    health.addPostStartHookCheck('warm', () => false)
    health.setReady(false)
  })
  const probeAll = async (): Promise<void> => {
    for (const path of ['/readyz', '/livez', '/healthz/db', '/readyz']) await get(path)
  }
  await probeAll()
  expect(turns).toEqual([])
  world.reason = 'no route to db'
  await probeAll()
  world.reason = 'still none'
  await probeAll()
  world.reason = ''
  await probeAll()
  world.reason = 'gone again'
  await probeAll()
  expect(turns).toEqual([
    ['db', { passed: false, reason: 'no route to db' }],
    ['db', { passed: true }],
    ['db', { passed: false, reason: 'gone again' }],
  ])
})

describe('root path', () => {
  row(['HZ-01', 'HZ-14', 'HZ-29'], 'an endpoint without checks is installed with ping', async () => {
    const { get, endpoint } = await serveChecks('/healthz', {})
    const { status, body, headers } = await get('/healthz')
    expect([status, body]).toEqual([200, 'ok'])
    expect(headers.get('content-type')).toBe(TEXT)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-length')).toBe('2')
    expect(endpoint.checkNames).toEqual(['ping'])
  })

  row('HZ-02', 'endpoints can be elsewhere, also below one another', async () => {
    const { get } = await serveHealth({ paths: { healthz: '/healthz/test', readyz: '/healthz/ready' } })
    for (const path of ['/healthz/test', '/healthz/ready', '/livez']) expect(await get(path)).toMatchObject({ status: 200, body: 'ok' })
    expect(await get('/healthz')).toMatchObject({ status: 418 })
    expect((await get('/healthz/test?verbose')).body).toContain('healthz check passed\n')
  })

  describe.each([
    ['/healthz', 'healthz'],
    ['/ready', 'ready'],
  ])('at %s', (path, name) => {
    const withPing = { ping: PASSES }
    const withBad = { ping: PASSES, bad: BAD }
    const answer = (status: number, body: string) => ({ status, body })
    const ALL = `[+]ping ok\n[-]bad failed: reason withheld\n${name} check failed\n`

    const rows: [string, string, Record<string, Check>, string, { status: number; body: string }][] = [
      ['HZ-03', 'verbose shows every check', withPing, '?verbose', answer(200, `[+]ping ok\n${name} check passed\n`)],
      ['HZ-04', 'excluding what does not exist is harmless', withPing, '?exclude=dontexist', answer(200, 'ok')],
      ['HZ-05', 'an excluded check cannot fail the endpoint', withBad, '?exclude=bad', answer(200, 'ok')],
      [
        'HZ-06',
        'verbose names what was excluded',
        withBad,
        '?verbose=true&exclude=bad',
        answer(200, `[+]ping ok\n[+]bad excluded: ok\n${name} check passed\n`),
      ],
      [
        'HZ-07',
        'verbose warns of an exclude that matched nothing',
        withPing,
        '?verbose=true&exclude=dontexist',
        answer(200, `[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "dontexist"\n${name} check passed\n`),
      ],
      ['HZ-08', 'a check has a path of its own', withPing, '/ping', answer(200, 'ok')],
      ['HZ-09', 'a pass is ok without a newline', withPing, '', answer(200, 'ok')],
      ['HZ-10', 'a failure is 500 and shows every check, without the reason', withBad, '?verbose', answer(500, ALL)],
      ['HZ-11', 'a failure does not show on the path of another check', withBad, '/ping', answer(200, 'ok')],
      ['HZ-12', 'the reason shows on the path of the check', withBad, '/bad', answer(500, 'internal server error: this will fail\n')],
      ['HZ-13', 'a failure is always verbose', withBad, '', answer(500, ALL)],
    ]
    for (const [id, title, checks, suffix, expected] of rows) {
      row([id, 'HZ-14'], `${title} (${path}${suffix})`, async () => {
        const { get } = await serveChecks(path, checks)
        const { status, body, headers } = await get(path + suffix)
        expect({ status, body }).toEqual(expected)
        expect(headers.get('content-type')).toBe(TEXT)
      })
    }
  })

  row('HZ-15', 'checks keep the order of registration, whichever ends first', async () => {
    const clock = new VirtualClock()
    const answersAfter = (ms: number) => () => new Promise((resolve) => clock.setTimeout(() => resolve(undefined), ms))
    const { get, endpoint } = await serveChecks('/healthz', { n2: answersAfter(20), n1: answersAfter(10) })
    expect(endpoint.checkNames).toEqual(['n2', 'n1'])
    const answer = get('/healthz?verbose')
    await clock.waitForTimers(2)
    await clock.runToEnd()
    expect((await answer).body).toBe('[+]n2 ok\n[+]n1 ok\nhealthz check passed\n')
  })

  row('HZ-16', 'unmatched names are quoted, sorted, and joined by commas; none leave no line', async () => {
    const { get } = await serveChecks('/healthz', { ping: PASSES })
    const warning = (names: string) =>
      `[+]ping ok\nwarn: some health checks cannot be excluded: no matches for ${names}\nhealthz check passed\n`
    expect((await get('/healthz?verbose')).body).toBe('[+]ping ok\nhealthz check passed\n')
    expect((await get('/healthz?verbose&exclude=n1')).body).toBe(warning('"n1"'))
    expect((await get('/healthz?verbose&exclude=n2&exclude=n1')).body).toBe(warning('"n1","n2"'))
    expect((await get('/healthz?verbose&exclude=a%22%0Ab')).body).toBe(warning('"a\\"\\nb"'))
  })

  row('HZ-17', 'exclude may be repeated', async () => {
    const { get } = await serveChecks('/healthz', { ping: PASSES, log: PASSES })
    const body = async (query: string) => (await get(`/healthz?verbose=true${query}`)).body.split('\n').slice(0, 2)
    expect(await body('')).toEqual(['[+]ping ok', '[+]log ok'])
    expect(await body('&exclude=ping')).toEqual(['[+]ping excluded: ok', '[+]log ok'])
    expect(await body('&exclude=ping&exclude=log')).toEqual(['[+]ping excluded: ok', '[+]log excluded: ok'])
  })

  row('HZ-21', 'excluding a group excludes its members', async () => {
    const { get } = await serveChecks('/healthz', { a: BAD, b: BAD }, { a: 'g', b: 'g' })
    expect(await get('/healthz?verbose&exclude=g')).toMatchObject({
      status: 200,
      body: '[+]a excluded with g: ok\n[+]b excluded with g: ok\nhealthz check passed\n',
    })
    expect((await get('/healthz?exclude=a&exclude=g')).status).toBe(200)
    expect((await get('/healthz?exclude=a')).body).toContain('[+]a excluded: ok\n[-]b failed')
  })

  row('HZ-22', 'a comma does not separate names', async () => {
    const { get } = await serveChecks('/healthz', { a: PASSES, b: PASSES })
    expect((await get('/healthz?verbose&exclude=a,b')).body).toBe(
      '[+]a ok\n[+]b ok\nwarn: some health checks cannot be excluded: no matches for "a,b"\nhealthz check passed\n',
    )
  })

  row('HZ-23', 'verbose counts by being there, whatever its value', async () => {
    const { get } = await serveChecks('/healthz', { ping: PASSES })
    for (const query of ['verbose=false', 'verbose=', 'verbose']) {
      expect((await get(`/healthz?${query}`)).body, query).toBe('[+]ping ok\nhealthz check passed\n')
    }
  })

  test('an excluded check is not run', async () => {
    let runs = 0
    const { get } = await serveChecks('/healthz', { counted: () => runs++ })
    await get('/healthz?exclude=counted')
    expect(runs).toBe(0)
    await get('/healthz')
    expect(runs).toBe(1)
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is answered as GET is', async (method) => {
    const { get } = await serveChecks('/healthz', { bad: BAD })
    expect(await get('/healthz', method)).toMatchObject({ status: 500, body: '[-]bad failed: reason withheld\nhealthz check failed\n' })
    expect(await get('/healthz/bad', method)).toMatchObject({ status: 500, body: 'internal server error: this will fail\n' })
  })

  test('HEAD has the headers of GET and no body, and the connection goes on', async () => {
    const { base } = await serveChecks('/healthz', { ping: PASSES })
    const socket = connect(Number(new URL(base).port), '127.0.0.1')
    socket.write('HEAD /healthz?verbose HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const [head = '', get = '', body] = (await text(socket)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(head).toContain(`Content-Length: ${'[+]ping ok\nhealthz check passed\n'.length}`)
    expect(head).toContain('Connection: keep-alive')
    expect(get).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(body).toBe('ok')
  })

  test('headers of a passing and a failing check by itself', async () => {
    const { get } = await serveChecks('/healthz', { ping: PASSES, bad: BAD })
    expect((await get('/healthz/ping')).headers.get('x-content-type-options')).toBeNull()
    expect((await get('/healthz/bad')).headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('paths that are not the endpoint go to the application', async () => {
    const { get } = await serveChecks('/healthz', { ping: PASSES })
    for (const path of ['/', '/healthz/', '/healthzz', '/healthz/unknown', '/healthz/ping/x', '/a/healthz', '/?/healthz']) {
      expect((await get(path)).status, path).toBe(418)
    }
  })

  test('are compared decoded, as upstream does it, and in no other way', async () => {
    const { get } = await serveHealth()
    for (const path of ['/healthz/%70ing', '/%68ealthz', '/%72eadyz/%70ing', '/livez%2Fping', '/%6Civez?verbose']) {
      expect((await get(path)).status, path).toBe(200)
    }
    for (const path of ['/healthz%3Fverbose', '/%2568ealthz', '/healthz%', '/x%2F..%2Fhealthz', '/healthz%5Cping']) {
      expect((await get(path)).status, path).toBe(418)
    }
  })

  test('a proxy may send the whole URL as request target', async () => {
    const { base } = await serveChecks('/healthz', { ping: PASSES })
    const statusOf = (path: string) =>
      new Promise((resolve, reject) => {
        httpRequest(base, { path }, (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end()
      })
    expect(await statusOf('http://example.org/healthz')).toBe(200)
    // The host ends where its URL says, so that this is the application's root.
    expect(await statusOf('http://example.org?/healthz')).toBe(418)
  })

  test('answers nothing before it is installed', () => {
    const endpoint = new HealthEndpoint('/healthz', systemClock)
    expect(endpoint.handle({ url: '/healthz', headers: {} }, {} as ServerResponse)).toBe(false)
  })

  test.each(['healthz', '/', '', '/healthz/', '/a?b', '//a', '/a%20b'])('%j is refused as a path', (path) => {
    expect(() => new HealthEndpoint(path, systemClock)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })
})

describe('one check cannot harm another, or the process', () => {
  const hostile: [string, Check, string][] = [
    ['throws text', () => raise('just text'), 'just text'],
    ['throws nothing', () => raise(undefined), 'undefined'],
    ['throws an object', () => raise({ a: 1 }), '{"a":1}'],
    ['throws an error without a message', () => raise(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })), 'ECONNREFUSED'],
    [
      'throws an error with a hostile message',
      () => raise(Object.defineProperty(new Error('x'), 'message', { get: () => raise(new Error('getter')) })),
      'the check threw a value that cannot be read',
    ],
    ['throws a revoked proxy', () => raise(revoked()), 'the check threw a value that cannot be read'],
    ['rejects', () => Promise.reject(new Error('rejected')), 'rejected'],
    // biome-ignore lint/suspicious/noThenProperty: the hostile thenable is the point
    ['returns a thenable that throws', () => ({ then: () => raise(new Error('then')) }), 'then'],
    [
      'returns a thenable with a hostile getter',
      () => Object.defineProperty({}, 'then', { get: () => raise(new Error('get then')) }),
      'get then',
    ],
  ]
  test.each(hostile)('a check that %s has failed', async (_, check, reason) => {
    const { get } = await serveChecks('/healthz', { before: PASSES, hostile: check, after: PASSES })
    expect(await get('/healthz')).toMatchObject({
      status: 500,
      body: '[+]before ok\n[-]hostile failed: reason withheld\n[+]after ok\nhealthz check failed\n',
    })
    expect((await get('/healthz/hostile')).body).toBe(`internal server error: ${reason}\n`)
  })

  test.each([[undefined], [true], [null], [0], [''], [new Error('returned, not thrown')]])(
    'a check that returns %s has passed',
    async (value) => {
      const { get } = await serveChecks('/healthz', { returns: () => value })
      expect((await get('/healthz')).body).toBe('ok')
    },
  )

  test.each([
    ['returns', () => false],
    ['resolves to', () => Promise.resolve(false)],
  ])('a check that %s false has failed: isReady() says so', async (_, check) => {
    const { get } = await serveChecks('/healthz', { pool: check })
    expect(await get('/healthz')).toMatchObject({ status: 500 })
    expect((await get('/healthz/pool')).body).toBe('internal server error: it returned false\n')
  })

  /** A health on a virtual clock with one slow check, and how often that was begun. */
  async function slow(options: { timeout?: string } = {}) {
    const clock = new VirtualClock()
    const begun: { signal: AbortSignal; resolve: () => void; reject: (error: Error) => void }[] = []
    const scene = await serveHealth({ clock }, (health) =>
      health.addCheck(
        'slow',
        ({ signal }) => new Promise<void>((resolve, reject) => void begun.push({ signal, resolve, reject })),
        options,
      ),
    )
    return { clock, begun, ...scene }
  }

  test('a check that hangs fails by its timeout, and is told', async () => {
    const { clock, begun, get } = await slow({ timeout: '2s' })
    const answers = Promise.all([get('/healthz?verbose'), get('/livez/slow')])
    await clock.waitForTimers(1)
    await expect.poll(() => begun.length).toBe(1)
    await clock.advance(1999)
    expect(begun[0]?.signal.aborted).toBe(false)
    await clock.advance(1)
    const [root, sub] = await answers
    expect(root).toMatchObject({ status: 500, body: '[+]ping ok\n[+]log ok\n[-]slow failed: reason withheld\nhealthz check failed\n' })
    expect(sub.body).toBe('internal server error: timed out after 2s\n')
    expect(begun[0]?.signal.reason).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(clock.pending).toBe(0)
  })

  test('the default timeout stays below the second that probers wait', async () => {
    const { clock, get } = await slow()
    const answer = get('/readyz/slow')
    await clock.waitForTimers(1)
    await clock.advance(900)
    expect((await answer).body).toBe('internal server error: timed out after 900ms\n')
  })

  test.each(['resolve', 'reject'] as const)('a check that answers late (%s) changes nothing, and the next run counts', async (how) => {
    const { clock, begun, get } = await slow()
    const first = get('/healthz/slow')
    await clock.waitForTimers(1)
    await clock.advance(900)
    expect((await first).status).toBe(500)

    const second = get('/healthz/slow')
    await clock.waitForTimers(1)
    begun[0]?.[how](new Error('late'))
    await clock.advance(100)
    begun[1]?.resolve()
    expect(await second).toMatchObject({ status: 200, body: 'ok' })
    expect(clock.pending).toBe(0)
  })

  test('requests that come while a check runs share the run, across endpoints', async () => {
    const { begun, get, arrived } = await slow()
    const answers = ['/healthz', '/livez', '/readyz', '/healthz', '/livez/slow'].map((path) => get(path))
    await expect.poll(arrived).toBe(answers.length)
    expect(begun).toHaveLength(1)
    begun[0]?.resolve()
    for (const answer of await Promise.all(answers)) expect(answer.body).toBe('ok')
  })

  test('runs that hang do not pile up, and the check recovers when they end', async () => {
    const { clock, begun, get } = await slow()
    for (let probe = 1; probe <= HANGING_RUNS_MAX; probe++) {
      const answer = get('/healthz/slow')
      await clock.waitForTimers(1)
      await clock.advance(900)
      expect((await answer).body).toBe('internal server error: timed out after 900ms\n')
    }
    expect((await get('/healthz/slow')).body).toBe(`internal server error: ${HANGING_RUNS_MAX} earlier runs have not ended\n`)
    expect(begun).toHaveLength(HANGING_RUNS_MAX)

    begun[0]?.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    const recovered = get('/healthz/slow')
    await clock.waitForTimers(1)
    begun[HANGING_RUNS_MAX]?.resolve()
    expect(await recovered).toMatchObject({ status: 200 })
  })

  test('checks run side by side: the endpoint takes as long as the slowest', async () => {
    const clock = new VirtualClock()
    const { get } = await serveHealth({ clock }, (health) => {
      health.addHealthzCheck('a', never)
      health.addHealthzCheck('b', never)
    })
    const answer = get('/healthz')
    await clock.waitForTimers(2)
    await clock.advance(900)
    expect((await answer).body).toContain('[-]a failed: reason withheld\n[-]b failed')
  })

  test('a client that leaves before the answer harms nobody', async () => {
    const { clock, begun, base, get } = await slow()
    const leaving = new AbortController()
    const left = fetch(`${base}/healthz`, { signal: leaving.signal })
    await expect.poll(() => begun.length).toBe(1)
    leaving.abort()
    await expect(left).rejects.toThrow()
    begun[0]?.resolve()
    await clock.advance(900)
    expect((await get('/livez/ping')).body).toBe('ok')
  })

  test('an observer that throws is reported, and the answer is sent', async () => {
    const errors: string[] = []
    const { get } = await serveHealth(
      {
        onFirstReady: () => raise(new Error('first')),
        onFailed: () => raise(new Error('failed')),
        onError: ({ message }) => errors.push(message),
      },
      (health) => health.addHealthzCheck('bad', BAD),
    )
    expect((await get('/readyz')).status).toBe(200)
    expect((await get('/healthz')).status).toBe(500)
    expect(errors).toEqual(['first', 'failed'])
  })

  test('the reasons of a failed root go to the observer, in the order of registration', async () => {
    const seen: unknown[] = []
    const { get } = await serveHealth({ onFailed: (...failure) => seen.push(failure) }, (health) => {
      health.addLivezCheck('a', async () => {
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('why a')
      })
      health.addLivezCheck('b', fails('why b'))
    })
    await get('/livez')
    expect(seen).toEqual([
      [
        'livez',
        [
          { name: 'a', reason: 'why a' },
          { name: 'b', reason: 'why b' },
        ],
      ],
    ])
  })
})

describe('registries', () => {
  test('start with ping and log; shutdown comes last on readyz', async () => {
    const { health, get } = await serveHealth({}, (it) => it.addReadyzCheck('db', PASSES))
    expect(health.checkNames('healthz')).toEqual(['ping', 'log'])
    expect(health.checkNames('livez')).toEqual(['ping', 'log'])
    expect((await get('/readyz?verbose')).body).toBe('[+]ping ok\n[+]log ok\n[+]db ok\n[+]shutdown ok\nreadyz check passed\n')
  })

  row('HZ-24', 'an installed endpoint takes no further checks, and says which endpoint', async () => {
    const { health } = await serveHealth()
    const late = (path: string, name = 'x') =>
      expect.objectContaining({
        code: 'ERR_TOO_LATE',
        message: `unable to add "${name}" because the ${path} endpoint has already been created: add checks before start() or run()`,
      })
    expect(() => health.addHealthzCheck('x', PASSES)).toThrow(late('/healthz'))
    expect(() => health.addLivezCheck('x', PASSES)).toThrow(late('/livez'))
    expect(() => health.addReadyzCheck('x', PASSES)).toThrow(late('/readyz'))
    expect(() => health.addCheck('x', PASSES)).toThrow(late('/healthz'))
    expect(() => health.addPostStartHookCheck('x', () => true)).toThrow(late('/healthz', 'poststarthook/x'))
    health.install()
    expect(health.checkNames('readyz')).toEqual(['ping', 'log', 'shutdown'])
  })

  test('a name is taken once, and the error says by whom; a check for all endpoints is added to all or none', () => {
    const health = new Health({ clock: systemClock, isShuttingDown: () => false, livezGraceMs: 0 })
    health.addReadyzCheck('db', PASSES)
    expect(() => health.addCheck('db', PASSES)).toThrow(
      expect.objectContaining({ code: 'ERR_DUPLICATE', message: expect.stringContaining('health.test.ts') }),
    )
    expect(health.checkNames('healthz')).toEqual(['ping', 'log'])
    expect(health.checkNames('livez')).toEqual(['ping', 'log'])
  })

  test('dispose removes the check from where it was added, once', () => {
    const health = new Health({ clock: systemClock, isShuttingDown: () => false, livezGraceMs: 0 })
    const first = health.addCheck('db', PASSES)
    first[Symbol.dispose]()
    health.addCheck('db', PASSES)
    first[Symbol.dispose]()
    for (const endpoint of ['healthz', 'livez', 'readyz'] as const) expect(health.checkNames(endpoint)).toEqual(['ping', 'log', 'db'])
  })

  test.each([
    ['ERR_NAME_MISSING', '', PASSES, {}],
    ['ERR_FUNCTION_MISSING', 'x', undefined as unknown as Check, {}],
    ['ERR_OPTION_INVALID', 'x', PASSES, { timeout: 0 }],
    ['ERR_OPTION_INVALID', 'x', PASSES, { timeout: 'soon' }],
    ['ERR_OPTION_INVALID', 'x', PASSES, { timeot: '1s' } as CheckOptions],
  ] as const)('%s for what cannot be used', (code, name, check, options) => {
    const health = new Health({ clock: systemClock, isShuttingDown: () => false, livezGraceMs: 0 })
    for (const add of ['addCheck', 'addHealthzCheck', 'addLivezCheck', 'addReadyzCheck'] as const) {
      expect(() => health[add](name, check, options), add).toThrow(expect.objectContaining({ code }))
    }
  })

  test('its paths are known in every form of a target, and no other is taken for one', async () => {
    const { get } = await serveHealth({ extra: { '/alive': 'livez' } })
    const statusOf = async (path: string) => (await get(path)).status
    const known = ['/alive', '/%61live', '/livez', '/%6civez?verbose', '/healthz', '/readyz/%70ing']
    for (const path of known) expect(await statusOf(path), path).toBe(200)
    for (const path of ['/', '/a', '/b', '//alive', '/blive', '/*', '/%', '/%7']) expect(await statusOf(path), path).toBe(418)
  })

  test('delay is for liveness alone', () => {
    const health = new Health({ clock: systemClock, isShuttingDown: () => false, livezGraceMs: 0 })
    const options: LivezCheckOptions = { delay: '1s' }
    health.addLivezCheck('x', PASSES, options)
    expect(() => health.addReadyzCheck('x', PASSES, options)).toThrow('delay of health check "x": unknown option')
  })
})

describe('built-in checks', () => {
  const informers = (...synced: boolean[]) => synced.map((hasSynced, index) => ({ type: `*v1.T${index}`, hasSynced: () => hasSynced }))

  row('HZ-19', 'informer-sync passes when all have synced', async () => {
    const { get } = await serveHealth({}, (health) => health.addReadyzCheck('informer-sync', informersSynced(informers(true, true, true))))
    expect((await get('/readyz/informer-sync')).body).toBe('ok')
  })

  row('HZ-20', 'informer-sync fails while one has not, and names it', async () => {
    const { get } = await serveHealth({}, (health) => health.addReadyzCheck('informer-sync', informersSynced(informers(true, false, true))))
    expect(await get('/readyz')).toMatchObject({ status: 500 })
    expect((await get('/readyz/informer-sync')).body).toBe('internal server error: 1 informers not started yet: [*v1.T1]\n')
  })

  row('HZ-30', 'a log that was not flushed for two minutes is blocked', async () => {
    let age = LOG_FLUSH_AGE_MS_MAX - 1
    const { get } = await serveHealth({ lastFlushAgeMs: () => age })
    expect((await get('/livez/log')).body).toBe('ok')
    age = 2 * 60_000
    expect((await get('/livez/log')).body).toBe('internal server error: logging blocked\n')
    expect((await get('/healthz')).body).toContain('[-]log failed: reason withheld\n')
  })

  describe('in a shutdown', () => {
    /** Healthy, then the shutdown begins. */
    async function stopping() {
      let isShuttingDown = false
      const scene = await serveHealth({ isShuttingDown: () => isShuttingDown })
      expect((await scene.get('/readyz')).body).toBe('ok')
      isShuttingDown = true
      return scene
    }

    row('HZ-25', 'liveness and the union page do not change', async () => {
      const { get } = await stopping()
      for (const path of ['/livez', '/healthz']) expect(await get(path)).toMatchObject({ status: 200, body: 'ok' })
    })

    row('HZ-26', 'readiness is red', async () => {
      const { get } = await stopping()
      const { status, body } = await get('/readyz?verbose')
      expect(status).toBe(500)
      expect(body).toContain('[-]shutdown failed: reason withheld\n')
      expect((await get('/readyz')).status).toBe(500)
    })

    row('HZ-27', 'the check says why', async () => {
      const { get } = await stopping()
      expect(await get('/readyz/shutdown')).toMatchObject({ status: 500, body: 'internal server error: process is shutting down\n' })
    })

    row('HZ-28', 'who excludes it sees the rest', async () => {
      const { get } = await stopping()
      expect(await get('/readyz?exclude=shutdown')).toMatchObject({ status: 200, body: 'ok' })
    })
  })

  describe('a post-start hook with a liveness grace of 10 s', () => {
    async function hooked() {
      const clock = new VirtualClock({ now: 5000 })
      const hook = { finished: false, asked: 0 }
      const scene = await serveHealth({ clock, livezGraceMs: 10_000 }, (health) =>
        health.addPostStartHookCheck('warm', () => {
          hook.asked++
          return hook.finished
        }),
      )
      const livez = async () => (await scene.get('/livez/poststarthook/warm')).body
      return { clock, hook, livez, ...scene }
    }
    const NOT_FINISHED = 'internal server error: not finished\n'

    row('HZ-31', 'passes on livez from its registration to exactly 10 s', async () => {
      const { clock, livez, get } = await hooked()
      expect(await livez()).toBe('ok')
      await clock.advance(10_000)
      expect(await livez()).toBe('ok')
      expect((await get('/livez')).body).toBe('ok')
      for (const path of ['/healthz', '/readyz']) expect((await get(path)).body).toContain('[-]poststarthook/warm failed')
    })

    row('HZ-32', 'fails 1 ms later', async () => {
      const { clock, livez, get } = await hooked()
      await clock.advance(10_001)
      expect(await livez()).toBe(NOT_FINISHED)
      expect((await get('/livez')).status).toBe(500)
    })

    row('HZ-33', 'passes again once the hook has finished', async () => {
      const { clock, hook, livez, get } = await hooked()
      await clock.advance(10_001)
      hook.finished = true
      expect(await livez()).toBe('ok')
      expect((await get('/readyz')).body).toBe('ok')
    })

    row('HZ-34', 'never fails on livez when the hook finished early', async () => {
      const { clock, hook, livez } = await hooked()
      hook.finished = true
      for (const step of [0, 10_000, 1]) {
        await clock.advance(step)
        expect(await livez(), String(clock.now())).toBe('ok')
      }
    })

    row('HZ-35', 'is not asked before its time', async () => {
      const { clock, hook, livez, get } = await hooked()
      await livez()
      await get('/livez')
      await clock.advance(10_000)
      await livez()
      expect(hook.asked).toBe(0)
      await get('/healthz')
      expect(hook.asked, 'other endpoints have no grace').toBe(1)
    })
  })

  test('a livez check may have a delay of its own', async () => {
    const clock = new VirtualClock()
    const { get } = await serveHealth({ clock }, (health) => health.addLivezCheck('warm', BAD, { delay: '3s' }))
    await clock.advance(3000)
    expect((await get('/livez')).status).toBe(200)
    await clock.advance(1)
    expect((await get('/livez')).status).toBe(500)
  })
})

describe('HasBeenReady', () => {
  row('MX-21', 'comes with the first pass, and once', async () => {
    let healthy = false
    let fired = 0
    const { get } = await serveHealth({ onFirstReady: () => fired++ }, (health) =>
      health.addReadyzCheck('db', () => {
        if (!healthy) throw new Error('not yet')
      }),
    )
    expect((await get('/readyz')).status).toBe(500)
    expect(fired).toBe(0)
    healthy = true
    expect((await get('/readyz')).status).toBe(200)
    expect(fired).toBe(1)
    expect((await get('/readyz')).status).toBe(200)
    expect(fired).toBe(1)
  })

  row('MX-22', 'does not come by itself, nor through other endpoints or single checks', async () => {
    let fired = 0
    const { get } = await serveHealth({ onFirstReady: () => fired++ })
    for (const path of ['/livez', '/healthz', '/readyz/ping']) expect((await get(path)).status).toBe(200)
    expect(fired).toBe(0)
    expect((await get('/readyz')).status).toBe(200)
    expect(fired).toBe(1)
  })

  row('MX-23', 'comes also when the pass is owed to an exclude', async () => {
    let fired = 0
    const { get } = await serveHealth({ onFirstReady: () => fired++ }, (health) => health.addReadyzCheck('db', BAD))
    await get('/readyz')
    expect(fired).toBe(0)
    expect((await get('/readyz?exclude=db')).status).toBe(200)
    expect(fired).toBe(1)
  })
})

describe('metrics', () => {
  async function withMetrics() {
    const health = new Health({ clock: systemClock, isShuttingDown: () => false, livezGraceMs: 0, metrics: apiserverWording.metrics })
    health.addLivezCheck('bad', BAD)
    health.install()
    const metrics = new MetricsEndpoint({ '/metrics': () => health.requestMetrics(), '/metrics/slis': () => health.checkMetrics() })
    return serve((request, response) => health.handle(request, response), metrics.handle)
  }
  const samples = (body: string) => body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

  row('HZ-18', 'one request to each root is counted as one GET of that path', async () => {
    const { get } = await withMetrics()
    await get('/healthz')
    await get('/livez?exclude=bad')
    await get('/readyz')
    await get('/readyz/ping')
    const { status, body, headers } = await get('/metrics')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'])
    expect(body).toContain('# TYPE apiserver_request_total counter\n')
    expect(samples(body)).toEqual(
      ['/healthz', '/livez', '/readyz'].map(
        (path) =>
          `apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="${path}",verb="GET",version=""} 1`,
      ),
    )
  })

  test('each executed check is counted, excluded ones are not', async () => {
    const { get } = await withMetrics()
    await get('/livez')
    await get('/livez?exclude=bad&exclude=log')
    expect(samples((await get('/metrics/slis')).body)).toEqual([
      'kubernetes_healthcheck{name="ping",type="livez"} 1',
      'kubernetes_healthcheck{name="log",type="livez"} 1',
      'kubernetes_healthcheck{name="bad",type="livez"} 0',
      'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 2',
      'kubernetes_healthchecks_total{name="log",status="success",type="livez"} 1',
      'kubernetes_healthchecks_total{name="bad",status="error",type="livez"} 1',
    ])
    expect((await get('/metrics/other')).status).toBe(418)
  })
})

function raise(thrown: unknown): never {
  throw thrown
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
