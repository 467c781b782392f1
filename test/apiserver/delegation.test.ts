import { describe, expect, test } from 'vitest'
import { completeConfig } from '#apiserver/config.ts'
import { type ApiHandler, type ApiServer, createApiServer, type Delegate, emptyDelegate } from '#apiserver/index.ts'
import { ApiServerRegistrations } from '#apiserver/registrations.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'

const status =
  (code: number): ApiHandler =>
  (_request, response) => {
    response.statusCode = code
    response.end()
  }

const fails = (reason: string) => () => {
  throw new Error(reason)
}

const create = (name: string, delegate?: Delegate, config = {}): ApiServer =>
  createApiServer(completeConfig(config), { name, ...(delegate && { delegate }) })

interface Wrapped extends ServedApi {
  /** Which hooks have run, of both servers. */
  readonly hooks: readonly string[]
  says(path: string): Promise<readonly [status: number, body: string]>
}

/** Upstream's test of a delegate; its informers are a hook and a check that are added by hand. */
async function serveWrapped(): Promise<Wrapped> {
  const hooks: string[] = []
  const delegate = create('delegate')
  delegate.addHealthzCheck('delegate-health', fails('delegate failed healthcheck'))
  delegate.addPostStartHook('start-informers', () => void hooks.push('start-informers'))
  delegate.addPostStartHook('delegate-post-start-hook', () => void hooks.push('delegate'))
  delegate.handle('/foo', status(403))
  const served = await serveApi({
    delegate,
    setUp: (outer) => {
      outer.addHealthzCheck('wrapping-health', fails('wrapping failed healthcheck'))
      outer.addPostStartHook('wrapping-post-start-hook', () => void hooks.push('wrapping'))
      outer.addReadyzCheck('informer-sync', () => {})
      outer.handle('/bar', status(401))
    },
  })
  const says = async (path: string): Promise<readonly [number, string]> => {
    const answer = await served.ask(path)
    return [answer.status, await answer.text()]
  }
  await expect.poll(() => hooks).toHaveLength(3)
  return { ...served, hooks, says }
}

describe('a server with a delegate', () => {
  row(
    ['DG-01', 'DG-02', 'DG-03', 'DG-04', 'DG-05', 'DG-06', 'DG-07', 'DG-08', 'DG-09', 'DG-18'],
    'has the paths, the hooks and what healthz says of both',
    async () => {
      const { says, hooks } = await serveWrapped()
      await expect.poll(() => says('/healthz?exclude=wrapping-health&exclude=delegate-health')).toEqual([200, 'ok'])
      const { paths } = JSON.parse((await says('/'))[1]) as { readonly paths: readonly string[] }
      const below = (endpoint: string, ...more: readonly string[]) =>
        [
          '',
          'delegate-health',
          'log',
          'ping',
          'poststarthook/delegate-post-start-hook',
          'poststarthook/start-informers',
          'poststarthook/wrapping-post-start-hook',
          ...more,
        ].map((check) => `/${endpoint}${check && `/${check}`}`)
      const expected = [
        ...['/apis', '/bar', '/foo', '/metrics', '/metrics/slis', '/statusz', '/version'],
        ...below('healthz', 'wrapping-health'),
        ...below('livez'),
        ...below('readyz', 'informer-sync', 'shutdown'),
      ]
      const builtIn = /max-in-flight-filter|certificate/
      expect(paths.filter((path) => !builtIn.test(path))).toEqual(expected.sort())

      const [code, lines] = await says('/healthz')
      const own = lines.split('\n').filter((line) => !builtIn.test(line))
      expect([code, own]).toEqual([
        500,
        [
          '[+]ping ok',
          '[+]log ok',
          '[-]delegate-health failed: reason withheld',
          '[+]poststarthook/start-informers ok',
          '[+]poststarthook/delegate-post-start-hook ok',
          '[-]wrapping-health failed: reason withheld',
          '[+]poststarthook/wrapping-post-start-hook ok',
          'healthz check failed',
          '',
        ],
      ])
      expect(await says('/healthz/ping')).toEqual([200, 'ok'])
      expect(await says('/healthz/delegate-health')).toEqual([500, 'internal server error: delegate failed healthcheck\n'])
      expect(await says('/healthz/wrapping-health')).toEqual([500, 'internal server error: wrapping failed healthcheck\n'])
      for (const name of ['delegate', 'wrapping']) expect(await says(`/healthz/poststarthook/${name}-post-start-hook`)).toEqual([200, 'ok'])
      expect([(await says('/foo'))[0], (await says('/bar'))[0]]).toEqual([403, 401])
      expect([...hooks].sort()).toEqual(['delegate', 'start-informers', 'wrapping'])
    },
  )

  row('DG-10', 'does not let what its delegate has to start be late on livez', async () => {
    const delegate = create('delegate')
    const never = () => new Promise<void>(() => {})
    delegate.addPostStartHook('inner', never)
    const { ask } = await serveApi({
      delegate,
      config: { livezGrace: '1h' },
      setUp: (outer) => outer.addPostStartHook('outer', never),
    })
    const lines = (await (await ask('/livez')).text()).split('\n').filter((line) => /inner|outer/.test(line))
    expect(lines).toEqual(['[-]poststarthook/inner failed: reason withheld', '[+]poststarthook/outer ok'])
  })

  row('DG-11', 'does not ask on readyz what its delegate asks there alone; that stays a path of its delegate', async () => {
    const delegate = create('delegate')
    delegate.addReadyzCheck('inner', fails('not yet'))
    const { ask } = await serveApi({ delegate })
    expect((await ask('/readyz')).status).toBe(200)
    expect(await (await ask('/readyz/inner')).text()).toBe('internal server error: not yet\n')
  })

  row('DG-12', 'that is empty lists its own paths for an unknown one', async () => {
    const { ask } = await serveApi({ delegate: emptyDelegate() })
    const answer = await ask('/unknown')
    expect([answer.status, Object.keys((await answer.json()) as object)]).toEqual([404, ['paths']])
  })

  row('DG-13', 'that is empty but for a handler has that answer', async () => {
    const { ask } = await serveApi({ delegate: emptyDelegate(status(418)) })
    expect((await ask('/unknown')).status).toBe(418)
  })

  test('keeps a check of its own in the place of one of its delegate`s', async () => {
    const delegate = create('delegate')
    delegate.addHealthzCheck('db', fails('the inner one'))
    const { ask } = await serveApi({ delegate, setUp: (outer) => outer.addHealthzCheck('db', () => {}) })
    expect([(await ask('/healthz')).status, (await ask('/livez')).status]).toEqual([200, 500])
  })

  row(['MX-10', 'HK-19'], 'is refused when both have a hook or a mux-complete signal of one name', () => {
    const delegate = create('delegate')
    delegate.addMuxCompleteSignal('routes', new Promise(() => {}))
    delegate.addPostStartHook('warm', () => {})
    const outer = create('outer', delegate)
    const taken = (message: string) => expect.objectContaining({ code: 'ERR_DUPLICATE', message: expect.stringContaining(message) })
    expect(() => outer.addMuxCompleteSignal('routes', new Promise(() => {}))).toThrow(taken('routes already registered'))
    expect(() => outer.addPostStartHook('warm', () => {})).toThrow(taken('unable to add "warm" because it was already registered by'))
  })

  row(['MX-06', 'MX-07', 'MX-08'], 'names the mux-complete signals of both', () => {
    const delegate = create('delegate')
    expect(delegate.muxCompleteSignals).toEqual([])
    delegate.addMuxCompleteSignal('inner', new Promise(() => {}))
    expect(delegate.muxCompleteSignals).toEqual(['inner'])
    const outer = create('outer', delegate)
    expect(outer.muxCompleteSignals).toEqual(['inner'])
    outer.addMuxCompleteSignal('outer', new Promise(() => {}))
    expect(outer.muxCompleteSignals).toEqual(['inner', 'outer'])
  })
})

describe('three servers in a row', () => {
  test('can be walked from the outermost to the last delegate, and asked for their hooks', () => {
    const last = emptyDelegate()
    const extensions = create('extensions', last)
    extensions.addPostStartHook('start-informers', () => {})
    const core = create('core', extensions)
    const aggregator = create('aggregator', core)
    expect(aggregator.nextDelegate).toBe(core)
    expect(core.nextDelegate).toBe(extensions)
    expect(extensions.nextDelegate).toBe(last)
    expect(last.nextDelegate).toBeUndefined()
    expect([aggregator, extensions].map((server) => server.hasPostStartHook('start-informers'))).toEqual([true, true])
    expect(aggregator.hasPostStartHook('sync')).toBe(false)
  })

  row(['DG-14', 'DG-15'], 'are prepared from the inside, and end from the outside', async () => {
    const ended: string[] = []
    let listedWhenPrepared: readonly string[] | undefined
    const end: Delegate = {
      ...emptyDelegate(),
      registered: new ApiServerRegistrations(),
      prepareFor: () => {
        listedWhenPrepared = middle.listedPaths
      },
    }
    const destroyed = (server: ApiServer) => server.addDestroy(server.name, () => void ended.push(server.name))
    const inner = create('inner', end)
    destroyed(inner)
    const middle = create('middle', inner)
    destroyed(middle)
    const { life } = await serveApi({ name: 'outer', delegate: middle, setUp: destroyed })
    expect(listedWhenPrepared).not.toContain('/healthz')
    expect(inner.listedPaths).toContain('/healthz')
    await life.stop('the test is over')
    expect(ended).toEqual(['outer', 'middle', 'inner'])
  })

  row('DG-16', 'have the filters of the outermost passed, and those once', async () => {
    const seen: string[] = []
    const filterOf = (name: string) => ({
      filters: [{ name, admit: ({ info }: { info: { path: string } }) => seen.push(`${name} ${info.path}`) > 0 }],
    })
    const inner = create('inner', undefined, filterOf('inner'))
    inner.handle('/inner', status(200))
    const { ask } = await serveApi({ delegate: create('middle', inner, filterOf('middle')), config: filterOf('outer') })
    expect((await ask('/inner')).status).toBe(200)
    expect(seen).toEqual(['outer /inner'])
  })

  row(
    ['MX-11', 'MX-12', 'MX-13', 'MX-14', 'MX-15', 'MX-16', 'MX-17', 'MX-18'],
    'say 503 for unknown paths until all have installed theirs',
    async () => {
      let complete = (): void => {}
      let letGo = (): void => {}
      const inner = create('inner')
      inner.addMuxCompleteSignal('inner', new Promise<void>((resolve) => (complete = resolve)))
      inner.handle('/there', status(200))
      const held = new Promise<void>((resolve) => (letGo = resolve))
      const hold = { name: 'hold', admit: ({ info }: { info: { path: string } }) => (info.path === '/held' ? held.then(() => true) : true) }
      const { ask, life } = await serveApi({ delegate: create('middle', inner), config: { filters: [hold] } })

      expect((await ask('/there')).status).toBe(200)
      const early = await ask('/unknown')
      expect([early.status, early.headers.get('retry-after'), early.headers.get('content-type')]).toEqual([503, '5', 'application/json'])
      expect(await early.text()).toBe(
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the request has been made before all known HTTP paths have been installed, please try again","reason":"ServiceUnavailable","details":{"retryAfterSeconds":5},"code":503}\n',
      )
      const marked = ask('/held')
      await expect.poll(() => life.counts().requests).toBe(1)
      complete()
      await expect.poll(() => life.signal('MuxAndDiscoveryComplete').aborted).toBe(true)
      const late = await ask('/unknown')
      expect([late.status, await late.text()]).toEqual([404, '404 page not found\n'])
      letGo()
      expect((await marked).status).toBe(503)
    },
  )
})
