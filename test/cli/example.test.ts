import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { addExampleHooks, createExampleApp, EXAMPLE_OPTIONS } from '#src/example/app.ts'
import { ServiceRegistry } from '#src/example/registry.ts'

function open() {
  const clock = new VirtualClock()
  const registry = new ServiceRegistry()
  const shutdown = new AbortController()
  const app = createExampleApp({ registry, clock, signalOf: () => shutdown.signal })
  return { app, clock, registry, shutdown }
}

describe('the example application', () => {
  test('lists its routes and the instances in the registry', async () => {
    const { app, registry } = open()
    registry.join('one')
    const index = (await (await app.request('/')).json()) as { routes: object; instances: string[] }
    expect(Object.keys(index.routes)).toContain('POST /upload')
    expect(index.instances).toEqual(['one'])
  })

  test('echoes', async () => {
    expect(await (await open().app.request('/echo?message=a%20b')).text()).toBe('a b')
    expect(await (await open().app.request('/echo?message=')).text()).toBe('')
  })

  test('answers done after a while', async () => {
    const { app, clock } = open()
    let answered = false
    const response = Promise.resolve(app.request('/slow?ms=500')).then((answer) => {
      answered = true
      return answer
    })
    await clock.advance(499)
    expect(answered).toBe(false)
    await clock.advance(1)
    expect(await (await response).text()).toBe('done')
  })

  test('stops working when the client of a slow request leaves', async () => {
    const { app, clock } = open()
    const client = new AbortController()
    const response = app.request('/slow?ms=500', { signal: client.signal })
    await clock.waitForTimers(1)
    client.abort()
    await response
    expect(clock.pending).toBe(0)
  })

  test.each(['/watch?intervalMs=100', '/events?intervalMs=100'])(
    '%s goes on until the shutdown signal, then ends cleanly',
    async (path) => {
      const { app, clock, shutdown } = open()
      const response = await app.request(path)
      const whole = response.text()
      await clock.waitForTimers(1)
      await clock.advance(100)
      shutdown.abort()
      const text = await whole
      expect(clock.pending).toBe(0)
      if (path.startsWith('/watch')) {
        expect(response.headers.get('Content-Type')).toBe('application/x-ndjson')
        const frames = text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { sequence: number; last?: boolean })
        expect(frames.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
        expect(frames.at(-1)?.last).toBe(true)
      } else {
        expect(response.headers.get('Content-Type')).toBe('text/event-stream')
        expect(text.match(/^event: .*$/gm)).toEqual(['event: tick', 'event: tick', 'event: last'])
      }
    },
  )

  test.each(['/watch?intervalMs=100', '/events?intervalMs=100'])('%s ends when its client leaves', async (path) => {
    const { app, clock } = open()
    const response = await app.request(path)
    await clock.waitForTimers(1)
    await response.body?.cancel()
    await clock.advance(200)
    expect(clock.pending).toBe(0)
  })

  test('counts the bytes of an upload', async () => {
    const { app } = open()
    expect(await (await app.request('/upload', { method: 'POST', body: new Uint8Array(300_000) })).text()).toBe('300000')
    expect(await (await app.request('/upload', { method: 'POST' })).text()).toBe('0')
  })

  test.each([
    ['/echo', 'message: got nothing, allowed: any text'],
    ['/slow', 'ms: got nothing, allowed: an integer from 0 to 600000'],
    ['/slow?ms=-1', 'ms: got "-1", allowed: an integer from 0 to 600000'],
    ['/slow?ms=1e3', 'ms: got "1e3", allowed: an integer from 0 to 600000'],
    ['/slow?ms=600001', 'ms: got "600001", allowed: an integer from 0 to 600000'],
    ['/watch?intervalMs=9', 'intervalMs: got "9", allowed: an integer from 10 to 60000'],
    ['/events?intervalMs=', 'intervalMs: got "", allowed: an integer from 10 to 60000'],
  ])('refuses %s', async (path, text) => {
    const response = await open().app.request(path)
    expect(response.status).toBe(400)
    expect(await response.text()).toBe(`${text}\n`)
  })

  test('says which of its requests are watches', () => {
    const isWatch = (url: string) => EXAMPLE_OPTIONS.longRunning?.({ url } as never) === true
    expect(['/watch', '/watch?intervalMs=1', '/events', '/slow?x=/watch', '/watches', '/'].map(isWatch)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })

  test('is in the registry between its hooks', async () => {
    const registry = new ServiceRegistry()
    const hooks = new Map<string, (context: object) => unknown>()
    const add = (name: string, hook: unknown) => {
      hooks.set(name, hook as () => unknown)
      return { [Symbol.dispose]: () => {} }
    }
    addExampleHooks({ addPostStartHook: add, addPreShutdownHook: add }, { registry })
    hooks.get('join-registry')?.({})
    expect(registry.instances).toEqual([`quiesce-${process.pid}`])
    await hooks.get('leave-registry')?.({})
    expect(registry.instances).toEqual([])
  })
})
