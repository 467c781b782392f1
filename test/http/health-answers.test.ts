// Health as users of other libraries know it: more endpoints, other status codes and bodies,
// readiness switched by hand, exempt paths. Fails when: an answer is not as it was asked for or
// upstream's changes without being asked, a reason shows where it is withheld, a switch is not
// heeded at the next probe, or a path that was exempted is refused while the server drains, or one
// that was not is let in.
import { describe, expect, test } from 'vitest'
import type { HealthOptions, HealthResult, ServerOptions } from '#src/index.ts'
import { resolveServerOptions } from '#src/options/options.ts'
import { never, newLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'

function living(health: HealthOptions = {}, options: ServerOptions = {}) {
  return newLife({ options: { health, ...options } })
}

const fails = () => {
  throw new Error('no route to 10.0.0.7')
}

describe('further endpoints', () => {
  test('answer as one of the three does, with all checks, or with those that are named', async () => {
    const t = living({ extra: { '/health': 'readyz', '/health/all': 'all', '/status': ['db', 'shutdown'], '/alive': 'livez' } })
    let isDown = false
    t.life.addReadyzCheck('db', () => (isDown ? fails() : undefined))
    t.life.addHealthzCheck('disk', () => {})
    t.life.addLivezCheck('stuck', () => {})
    await t.life.start()
    const names = async (path: string): Promise<string[]> =>
      (await t.get(`${path}?verbose`)).body.split('\n').flatMap((line) => /^\[.\](\S+)/.exec(line)?.[1] ?? [])
    expect(await names('/health')).toEqual(['ping', 'log', 'db', 'shutdown'])
    expect(await names('/health/all')).toEqual(['ping', 'log', 'disk', 'stuck', 'db', 'shutdown'])
    expect(await names('/status')).toEqual(['db', 'shutdown'])
    expect(await names('/alive')).toEqual(['ping', 'log', 'stuck'])
    expect(await names('/healthz')).toEqual(['ping', 'log', 'disk'])
    expect(await t.get('/status')).toMatchObject({ status: 200, body: 'ok' })
    isDown = true
    expect(await t.get('/status')).toMatchObject({
      status: 500,
      body: '[-]db failed: reason withheld\n[+]shutdown ok\nstatus check failed\n',
    })
    expect(await t.get('/status/db')).toMatchObject({ status: 500, body: 'internal server error: no route to 10.0.0.7\n' })
    expect(await t.get('/alive')).toMatchObject({ status: 200 })
    expect(await t.get('/nothing')).toMatchObject({ body: 'hello' })
  })

  test('that name a check which there is not end the start', async () => {
    const t = living({ extra: { '/status': ['database'] } })
    t.life.addReadyzCheck('db', () => {})
    await expect(t.life.start()).rejects.toMatchObject({
      code: 'ERR_START',
      message: expect.stringContaining('/status names the check "database", known checks: ping, log, db, shutdown'),
    })
  })
})

describe('answers', () => {
  test('have the status and the headers that are wanted', async () => {
    const t = living({ status: { passed: 202, failed: 503 }, headers: { 'Cache-Control': 'no-store', 'Content-Type': 'text/x-health' } })
    t.life.addReadyzCheck('db', fails)
    await t.life.start()
    const headers = { 'cache-control': 'no-store', 'content-type': 'text/x-health' }
    expect(await t.get('/livez')).toMatchObject({ status: 202, headers })
    expect(await t.get('/readyz')).toMatchObject({ status: 503, headers })
    expect(await t.get('/readyz/db')).toMatchObject({ status: 503, headers, body: 'internal server error: no route to 10.0.0.7\n' })
  })

  test('are JSON, which withholds reasons where text does', async () => {
    const t = living({ body: 'json', status: { failed: 503 } })
    t.life.addReadyzCheck('db', fails)
    await t.life.start()
    const answer = await t.get('/readyz?exclude=log')
    expect(answer).toMatchObject({ status: 503, headers: { 'content-type': 'application/json; charset=utf-8' } })
    expect(JSON.parse(answer.body)).toEqual({
      status: 'failed',
      checks: [
        { name: 'ping', status: 'ok' },
        { name: 'log', status: 'excluded' },
        { name: 'db', status: 'failed' },
        { name: 'shutdown', status: 'ok' },
      ],
    })
    const one = JSON.parse((await t.get('/readyz/db')).body) as unknown
    expect(one).toEqual({ status: 'failed', checks: [{ name: 'db', status: 'failed', reason: 'no route to 10.0.0.7' }] })
  })

  test.each<[string, (result: HealthResult) => unknown, string, string]>([
    ['text', ({ path, passed }) => `${path} ${passed}`, '/livez true', 'text/plain; charset=utf-8'],
    ['an object', ({ checks }) => ({ checks: checks.length }), '{"checks":2}\n', 'application/json; charset=utf-8'],
  ])('are made by a function: %s', async (_, body, expected, type) => {
    const t = living({ body })
    await t.life.start()
    expect(await t.get('/livez')).toMatchObject({ status: 200, body: expected, headers: { 'content-type': type } })
  })

  test('stay upstream’s when the function fails, which is reported', async () => {
    const t = living({
      body: () => {
        throw new Error('no body')
      },
    })
    await t.life.start()
    expect(await t.get('/livez')).toMatchObject({ status: 200, body: 'ok' })
    expect((await t.end()).errors).toMatchObject([{ where: 'health', error: { message: 'no body' } }])
  })
})

describe('setReady()', () => {
  test('switches readiness and nothing else, before the life begins and at any time', async () => {
    const t = living()
    t.life.setReady(false, 'the cache is cold')
    await t.life.start()
    expect(await t.get('/readyz')).toMatchObject({
      status: 500,
      body: '[+]ping ok\n[+]log ok\n[-]set-ready failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n',
    })
    expect(await t.get('/readyz/set-ready')).toMatchObject({ status: 500, body: 'internal server error: the cache is cold\n' })
    expect([(await t.get('/livez')).status, (await t.get('/healthz')).status, (await t.get('/')).status]).toEqual([200, 200, 200])
    expect([t.hasFired('HasBeenReady'), t.hasFired('ShutdownInitiated')]).toEqual([false, false])
    t.life.setReady(true)
    expect(await t.get('/readyz')).toMatchObject({ status: 200, body: 'ok' })
    expect(t.hasFired('HasBeenReady')).toBe(true)
    t.life.setReady(false)
    expect(await t.get('/readyz/set-ready')).toMatchObject({ status: 500, body: 'internal server error: not ready\n' })
    // The log begins with the life.
    expect(t.logged('info').filter((line) => line === 'readiness switched by hand')).toHaveLength(2)
  })

  test('is not there while nothing was said, and does not make a shutdown green', async () => {
    const t = living({}, { admin: { port: 0 } })
    t.life.addPreShutdownHook('leave', () => never, { timeout: '1m' })
    await t.life.start()
    expect((await t.get('/readyz?verbose')).body).not.toContain('set-ready')
    expect(await t.get('/readyz/set-ready')).toMatchObject({ body: 'hello' })
    void t.life.stop()
    t.life.setReady(true)
    expect(await t.get('/readyz')).toMatchObject({ status: 500, body: expect.stringContaining('[-]shutdown failed') })
    await t.life.stop({ now: true })
  })

  test.each([
    [() => newLife().life.setReady('yes' as unknown as boolean), 'setReady: got "yes", allowed: true, or false and a reason'],
    [() => newLife().life.setReady(false, 7 as unknown as string), 'reason of setReady(): got 7, allowed: text'],
  ])('refuses what it cannot use', (call, message) => {
    expect(call).toThrow(message)
  })
})

describe('exempt paths', () => {
  test('are answered by the application while new requests are refused, by whole segments', async () => {
    const t = living({}, { whileDraining: 'retry-after', exempt: ['/health', '/internal/status'] })
    const hold = t.life.hold('job')
    await t.life.start()
    const ended = t.life.stop()
    await t.fired('NotAcceptingNewRequest')
    const status = async (path: string): Promise<number> => (await t.get(path)).status
    expect([await status('/health'), await status('/health/db?x=1'), await status('/internal/status')]).toEqual([200, 200, 200])
    expect([await status('/healthy'), await status('/internal'), await status('/')]).toEqual([429, 429, 429])
    const client = await RawClient.open({ port: t.port })
    client.request('GET', '/health/../orders')
    expect(await client.response()).toMatchObject({ status: 429 })
    hold[Symbol.dispose]()
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, rejections: { 'retry-after': 4 } })
  })
})

test.each<[ServerOptions, string]>([
  [{ health: { stauts: {} } as HealthOptions }, 'health.stauts: unknown (did you mean "status"?)'],
  [{ health: { status: { failed: 200 } } }, 'health.status.failed: got 200, allowed: 400 to 599'],
  [{ health: { status: { passed: 500 } } }, 'health.status.passed: got 500, allowed: 200 to 203, which have a body'],
  [{ health: { body: 'yaml' as 'json' } }, 'health.body: got "yaml", allowed: text, json or a function of the result'],
  [
    { health: { headers: { 'bad name': 'x' } } },
    'health.headers["bad name"]: got "x", allowed: a header that can be sent (Header name must be a valid HTTP token',
  ],
  [{ health: { headers: { 'X-A': 1 as unknown as string } } }, 'health.headers.X-A: got 1, allowed: text'],
  [
    { health: { extra: { health: 'readyz' } } },
    'health.extra.health: got "readyz", allowed: only below a path like /health, without escapes',
  ],
  [
    { health: { extra: { '/health': 'ready' as 'readyz' } } },
    'health.extra["/health"]: got "ready", allowed: all, healthz, livez, readyz, or a list of check names',
  ],
  [{ health: { extra: { '/health': [] } } }, 'health.extra["/health"]: got [], allowed: '],
  [{ health: { extra: { '/livez': 'readyz' } } }, 'health.paths: got "/livez", allowed: paths that differ: this one has two endpoints'],
  [{ exempt: ['/a/../b'] }, 'exempt[0]: got "/a/../b", allowed: a path like /health, without escapes, ? or #'],
  [{ exempt: ['/'] }, 'exempt[0]: got "/"'],
])('%j is refused', (options, message) => {
  const facts = { env: {}, pid: 4711, terminal: false, containerFile: false }
  expect(() => resolveServerOptions(options, { facts })).toThrow(message)
})
