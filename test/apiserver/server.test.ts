import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type CompletedConfig, completeConfig, createApiServer, emptyDelegate, type PreparedApiServer } from '#apiserver/index.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'

const CONFIG = { port: 0, host: '127.0.0.1', logger: false, lastCall: 0 } as const

/** Serves, and answers what it answers. */
async function serve(prepared: PreparedApiServer): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  const life = prepared.life as Lifecycle
  onTestFinished(async () => void (await life.stop('the test is over')))
  await life.start()
  const { port } = life.addresses[0] as { readonly port: number }
  return (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init)
}

describe('an API server', () => {
  test('is made of a completed config alone', () => {
    expect(() => createApiServer({ port: 0 } as unknown as CompletedConfig)).toThrow(/config.*allowed: what completeConfig\(\) returns/)
  })

  test('names every option that cannot be used at once', () => {
    const wrong = { port: -1, maxRequestsInFlight: -1, nonsense: 1 } as object
    expect(() => completeConfig(wrong)).toThrow(/port.*\n.*maxRequestsInFlight.*\n.*nonsense/)
  })

  test('prints its config with every default', () => {
    expect(completeConfig({ maxRequestsInFlight: 7 }).toJSON()).toMatchObject({
      maxRequestsInFlight: '7',
      maxMutatingRequestsInFlight: '200',
    })
  })

  test('is prepared once', () => {
    const server = createApiServer(completeConfig(CONFIG))
    server.prepare()
    expect(() => server.prepare()).toThrow(expect.objectContaining({ code: 'ERR_TOO_LATE' }))
  })

  test('takes nothing more when it is prepared', () => {
    const server = createApiServer(completeConfig(CONFIG))
    server.prepare()
    expect(() => server.addPostStartHook('late', () => {})).toThrow(expect.objectContaining({ code: 'ERR_TOO_LATE' }))
  })

  test('takes an app with fetch for a path, as a server does for all', async () => {
    const server = createApiServer(completeConfig(CONFIG))
    const app = new Hono().get('/app/:name', (context) => context.text(`hello ${context.req.param('name')}`, 201))
    server.handlePrefix('/app/', app)
    server.handle('/exact', { fetch: ({ url }) => new Response(new URL(url).pathname) })
    const ask = await serve(server.prepare())
    const answer = await ask('/app/ann')
    expect([answer.status, await answer.text()]).toEqual([201, 'hello ann'])
    expect(await (await ask('/exact')).text()).toBe('/exact')
    expect((await ask('/app/a/b')).status).toBe(404)
    for (const wrong of [undefined, null, {}, { fetch: 1 }, 'app'])
      expect(() => server.handle('/x', wrong as never)).toThrow('allowed: a function (request, response), or an app with fetch')
  })

  test('answers its own paths, then those of its delegates, and nothing else', async () => {
    const config = completeConfig(CONFIG)
    const inner = createApiServer(config, { name: 'inner' })
    inner.handle('/inner', (_request, response) => response.end('inner'))
    inner.handle('/both', (_request, response) => response.end('inner'))
    const outer = createApiServer(config, { name: 'outer', delegate: inner })
    outer.handle('/both', (_request, response) => response.end('outer'))
    const ask = await serve(outer.prepare())

    expect(await (await ask('/inner')).text()).toBe('inner')
    expect(await (await ask('/both')).text()).toBe('outer')
    const unknown = await ask('/unknown')
    expect([unknown.status, await unknown.text()]).toEqual([404, '404 page not found\n'])
    const { paths } = (await (await ask('/')).json()) as { readonly paths: readonly string[] }
    expect(paths).toEqual(expect.arrayContaining(['/both', '/inner', '/readyz/shutdown']))
  })

  test('passes its filters once, whichever server of the chain answers', async () => {
    const seen: string[] = []
    const config = completeConfig({
      ...CONFIG,
      filters: [
        {
          name: 'mine',
          after: 'cache-control',
          admit: ({ auditId }) => seen.push(auditId) > 0,
          over: ({ auditId }) => seen.push(`${auditId} over`),
        },
      ],
    })
    const inner = createApiServer(config, { name: 'inner' })
    inner.handle('/inner', (_request, response) => response.end('inner'))
    const ask = await serve(createApiServer(config, { delegate: inner }).prepare())

    const answer = await ask('/inner', { headers: { 'Audit-ID': 'given' } })
    expect(await answer.text()).toBe('inner')
    expect(Object.fromEntries(answer.headers)).toMatchObject({ 'audit-id': 'given', 'cache-control': 'no-cache, private' })
    await expect.poll(() => seen).toEqual(['given', 'given over'])
  })

  test('with an empty delegate lists its paths for one that is not there', async () => {
    const ask = await serve(createApiServer(completeConfig(CONFIG), { delegate: emptyDelegate() }).prepare())
    const unknown = await ask('/unknown')
    expect([unknown.status, Object.keys((await unknown.json()) as object)]).toEqual([404, ['paths']])
  })

  test('refuses a hook that its delegate has, too', () => {
    const config = completeConfig(CONFIG)
    const inner = createApiServer(config)
    inner.addPostStartHook('warm', () => {})
    const outer = createApiServer(config, { delegate: inner })
    expect(() => outer.addPostStartHook('warm', () => {})).toThrow(expect.objectContaining({ code: 'ERR_DUPLICATE' }))
  })
})
