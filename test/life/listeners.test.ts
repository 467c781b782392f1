// When a life binds which of its listeners, and when it closes them. Fails when: a start that fails
// touches what comes after the failure, or leaves something waiting for an owner; a failure is told
// twice, or not at all after a stop; the inspector is taken for a part of the life; or one kind of
// listener closes with another.
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { LifecycleEvent } from '#src/index.ts'
import { leftBehind } from '../support/left-behind.ts'
import { never, newAttachedLife, newLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { fresh } from '../support/upstream-client.ts'

const LOOPBACK = '127.0.0.1'

async function listening(server: Server): Promise<number> {
  server.listen(0, LOOPBACK)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

const isBinding = (event: LifecycleEvent): boolean => event.type === 'phase.started' && event.phase === 'bind'

describe('binding', () => {
  test('ends at the first that fails, which is told once: what comes after it is left alone', async () => {
    const [port, path] = [await listening(createServer()), await leftBehind()]
    const t = newLife({ options: { listeners: [{ port, host: LOOPBACK }, { path }] } })
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_START' })
    expect(await t.end(t.life.ended)).toMatchObject({ exitCode: 3, listeners: [] })
    expect(existsSync(path)).toBe(true)
    expect(t.events.filter(({ type }) => type === 'error')).toEqual([])
  })

  test('of a server of its own waits for no owner', async () => {
    const t = newLife()
    const watched: unknown[] = []
    t.process.on('newListener', (event) => watched.push(event))
    await t.life.start()
    expect(watched).not.toContain('beforeExit')
  })

  test('that fails after a stop is told all the same', async () => {
    const port = await listening(createServer())
    const t = newLife({ options: { port } })
    // Before node says what has become of it.
    t.life.events$.subscribe((event) => void (isBinding(event) && process.nextTick(() => void t.life.stop())))
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
    await t.end(t.life.ended)
    expect(t.events.filter(({ type }) => type === 'error')).toMatchObject([{ where: 'bind', error: { code: 'ERR_LISTEN' } }])
  })

  test.each<[string, (t: ReturnType<typeof newAttachedLife>) => unknown]>([
    ['while an owner is waited for', (t) => t.fired('AuditRunning').then(() => t.clock.setTimeout(() => void t.life.stop(), 0))],
    ['in the step in which that begins', (t) => t.life.events$.subscribe((event) => void (isBinding(event) && t.life.stop()))],
  ])('ends with a stop %s, without an error', async (_, stops) => {
    const t = newAttachedLife(createServer())
    stops(t)
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
    expect(await t.end(t.life.ended)).toMatchObject({ exitCode: 0, errors: [] })
    expect(t.process.listenerCount('beforeExit')).toBe(0)
    expect(t.events.filter(({ type }) => type === 'error')).toEqual([])
  })

  test('waits for no owner any more when the server of another cannot listen', async () => {
    const taken = await listening(createServer())
    const servers = [createServer(), createServer()] as const
    const t = newAttachedLife(servers)
    const started = t.life.start()
    started.catch(() => undefined)
    await t.fired('AuditRunning')
    servers[1].listen(taken, LOOPBACK)
    await expect(started).rejects.toMatchObject({ code: 'ERR_START' })
    await t.end(t.life.ended)
    expect(t.process.listenerCount('beforeExit')).toBe(0)
  })
})

describe('closing', () => {
  /** A life with a listener of each kind, and the server of each, which is told by a request. */
  async function each(options: object = {}) {
    const t = newLife({ options: { admin: { port: 0, host: LOOPBACK }, inspector: true, ...options } })
    await t.life.start()
    const found = t.events.filter((event) => event.type === 'listening')
    const servers: Server[] = []
    const requests = channel('http.server.request.start')
    const note = (message: unknown): void => void servers.push((message as { server: Server }).server)
    requests.subscribe(note)
    for (const { port } of found) await fresh(port, '/')
    requests.unsubscribe(note)
    const accepting = () => servers.map((server) => server.listening)
    return { t, found, servers, accepting }
  }

  test('is of the public listeners first, then of the admin listener, and last of the inspector', async () => {
    const { t, found, accepting } = await each()
    expect(found.map(({ admin, inspector }) => ({ admin, inspector }))).toEqual([
      { admin: false, inspector: undefined },
      { admin: true, inspector: undefined },
      { admin: true, inspector: true },
    ])
    const at: Record<string, boolean[]> = {}
    t.life.events$.subscribe((event) => {
      if (event.type === 'signal') at[event.name] = accepting()
    })
    await t.end()
    expect(at['NotAcceptingNewRequest']).toEqual([true, true, true])
    expect(at['HTTPServerStoppedListening']).toEqual([false, true, true])
    expect(at['Destroyed']).toEqual([false, true, true])
    expect(at['AdminClosed']).toEqual([false, false, true])
    expect(t.events.flatMap((event) => (event.type === 'stopped-listening' ? event.url : []))).toEqual([found[0]?.url])
  })

  test('by force is of all but the inspector, which shows the end; who is connected is disconnected', async () => {
    const { t, found, servers, accepting } = await each()
    const sockets: Socket[] = []
    servers[1]?.on('connection', (socket: Socket) => void sockets.push(socket))
    const client = await RawClient.open({ port: Number(found[1]?.port) })
    await client.ask('GET', '/livez')
    const atEnd: unknown[] = []
    t.life.events$.subscribe((event) => {
      if (event.type === 'ended')
        atEnd.push(
          accepting(),
          sockets.map(({ destroyed }) => destroyed),
        )
    })
    expect(await t.end(t.life.stop({ now: true }))).toMatchObject({ exitCode: 1, handlers: [] })
    expect(atEnd).toEqual([[false, false, true], [true]])
    await client.closed()
    // Nothing is left that could be named.
    expect(t.events.filter(({ type }) => type === 'handlers')).toEqual([])
  })

  test('of the inspector by somebody else is not the end of the life', async () => {
    const { t, servers } = await each()
    const inspector = servers[2] as Server
    const closed = once(inspector, 'close')
    inspector.close().closeAllConnections()
    await closed
    expect(t.hasFired('StopRequested')).toBe(false)
    expect(await t.end()).toMatchObject({ exitCode: 0, reason: { kind: 'stop' } })
  })

  test.each([
    ['in the step in which nothing is accepted any more, without a last call', 0, false],
    ['some turns later, with one', '1s', true],
  ])('comes %s', async (_, lastCall, expected) => {
    const t = newLife({ options: { lastCall } })
    await t.life.start()
    let hasTurned = false
    const seen: boolean[] = []
    t.life.events$.subscribe((event) => {
      if (event.type === 'signal' && event.name === 'NotAcceptingNewRequest') setImmediate(() => (hasTurned = true))
      if (event.type === 'stopped-listening') seen.push(hasTurned)
    })
    await t.end()
    expect(seen).toEqual([expected])
  })

  test('comes with the cut at the latest, while clients still fill the queue', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { lastCall: '1s', deadline: '10s' } })
    await t.life.start()
    const { port } = t
    let isFilling = true
    const fill = (): void => {
      if (!isFilling) return
      connect(port, LOOPBACK)
        .on('error', () => undefined)
        .unref()
      setImmediate(fill)
    }
    t.life.events$.subscribe((event) => void (event.type === 'signal' && event.name === 'NotAcceptingNewRequest' && fill()))
    onTestFinished(() => {
      isFilling = false
    })
    const ended = t.life.stop()
    await t.clock.advance(9_999)
    isFilling = false
    await t.end(ended)
    const place = (what: (event: LifecycleEvent) => boolean): number => t.events.findIndex(what)
    expect(t.events.find((event) => event.type === 'phase.ended' && event.phase === 'close-listener')).toMatchObject({ outcome: 'cut' })
    expect(t.events.filter(({ type }) => type === 'stopped-listening')).toHaveLength(1)
    expect(place(({ type }) => type === 'stopped-listening')).toBeLessThan(
      place((event) => event.type === 'signal' && event.name === 'HTTPServerStoppedListening'),
    )
  })
})

test('handlers are named that never answer, and those that have returned and will not, since their client has left', async () => {
  const t = newLife({
    clock: new VirtualClock(),
    options: { deadline: '5s' },
    listener: ({ url }) => (url === '/hangs' ? never : undefined) as never,
  })
  await t.life.start()
  const [stays, leaves] = [await RawClient.open({ port: t.port }), await RawClient.open({ port: t.port })]
  stays.request('GET', '/hangs')
  leaves.request('GET', '/forgets')
  await expect.poll(() => t.life.status.gauges().requests).toBe(2)
  leaves.abort()
  await expect.poll(() => t.life.status.gauges().requests).toBe(1)
  const { handlers } = await t.end()
  expect(handlers.map(({ name }) => name).sort()).toEqual(['GET /forgets', 'GET /hangs'])
})
