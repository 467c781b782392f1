import { describe, expect, test } from 'vitest'
import { attachLifecycle } from '#src/index.ts'
import { connectTo } from '../support/raw-client.ts'
import { attachedSubjects, fired, type Owned } from './subjects.ts'

/** Everything by which a server could tell that somebody has been there. */
const stateOf = (server: Owned['server']) => ({
  listeners: Object.fromEntries(server.eventNames().map((event) => [event, server.rawListeners(event as string)])),
  own: Reflect.ownKeys(server),
})

describe.each(attachedSubjects)('$name', ({ listen }) => {
  test('dispose() gives the server back as it was', async () => {
    const { server, port } = await listen()
    const before = stateOf(server)
    const life = attachLifecycle(server, { shutdownDelay: 0, health: true })
    await life.start()
    const client = await connectTo(port)
    expect(await client.ask('GET', '/livez')).toMatchObject({ status: 200 })
    life.dispose()
    life.dispose()
    expect(stateOf(server)).toEqual(before)

    expect(await client.ask('GET', '/livez')).toMatchObject({ status: 404 })
    expect(await life.stop()).toMatchObject({ exitCode: 0 })
    expect(await (await connectTo(port)).ask('GET', '/hello')).toMatchObject({ status: 200, body: 'hello\n' })
    expect(stateOf(server)).toEqual(before)
  })

  test('a second life is refused until the first has let go', async () => {
    const { server } = await listen()
    using life = attachLifecycle(server)
    expect(() => attachLifecycle(server)).toThrow(expect.objectContaining({ code: 'ERR_ALREADY_ATTACHED' }))
    life.dispose()
    using second = attachLifecycle(server)
    expect(second).not.toBe(life)
  })

  test('a connection from before counts from its next request on', async () => {
    const { server, port, stage } = await listen()
    const client = await connectTo(port)
    await client.ask('GET', '/hello')
    using life = attachLifecycle(server, { platform: 'unknown', shutdownDelay: 0 })
    await life.start()
    client.request('GET', '/slow')
    await stage.slow.reached
    const stopped = life.stop()
    await fired(life, 'HTTPServerStoppedListening')
    stage.slow.open()
    expect(await client.response()).toMatchObject({ status: 200, body: 'done\n', headers: { connection: 'close' } })
    expect(await stopped).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, connections: { notified: 1 } })
  })

  test('a connection from before that has sent nothing is closed as any other', async () => {
    const { server, port } = await listen()
    const silent = await connectTo(port)
    // Accepted as well, since that goes in order.
    await (await connectTo(port)).ask('GET', '/hello')
    using life = attachLifecycle(server, { platform: 'unknown', shutdownDelay: 0, lastCall: 0 })
    expect(life.counts().connections.open).toBe(2)
    await life.start()
    const { exitCode, warnings, connections } = await life.stop()
    expect({ exitCode, warnings, connections }).toMatchObject({ exitCode: 0, warnings: [], connections: { idleUnnotified: 2, forced: 0 } })
    expect(await silent.closed()).toBe('ended')
  })

  test('a request from before is waited for, and its connection and idle ones are closed', async () => {
    const { server, port, stage } = await listen()
    const idle = await connectTo(port)
    await idle.ask('GET', '/hello')
    const client = await connectTo(port)
    client.request('GET', '/slow')
    await stage.slow.reached
    using life = attachLifecycle(server, { platform: 'unknown', shutdownDelay: 0 })
    await life.start()
    const called: string[] = []
    life.addDestroy('pool', () => void called.push('pool'))
    const found = new Promise<void>((resolve) => life.events$.subscribe(({ type }) => type === 'warning' && resolve()))
    const stopped = life.stop()
    await fired(life, 'InFlightRequestsDrained')
    await idle.closed()
    await found
    expect(called).toEqual([])
    stage.slow.open()
    expect(await client.response()).toMatchObject({ status: 200, body: 'done\n' })
    await client.closed()
    const { exitCode, warnings } = await stopped
    expect({ exitCode, warnings }).toMatchObject({
      exitCode: 0,
      warnings: [{ message: expect.stringContaining('were open before attachLifecycle()'), details: { count: 1 } }],
    })
  })

  test('a connection from before whose request was answered before all of it came is not idle', async () => {
    const { server, port } = await listen()
    server.removeAllListeners('request').on('request', (_, response) => void response.end('early'))
    const client = await connectTo(port)
    client.send('POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc')
    await client.until('the answer', () => client.received.includes('early'))
    using life = attachLifecycle(server, { platform: 'unknown' })
    expect(life.counts().connections.open).toBe(0)
    client.abort()
    await life.stop()
  })

  test('an upgraded connection from before is closed by the cut', async () => {
    const { server, port } = await listen()
    server.on('upgrade', (_, socket) => {
      socket.on('error', () => undefined)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    })
    const client = await connectTo(port)
    await client.ask('GET', '/', { headers: { Connection: 'Upgrade', Upgrade: 'echo' } })
    using life = attachLifecycle(server, { platform: 'unknown', shutdownDelay: 0, lastCall: 0, connectionTimeout: '100ms' })
    await life.start()
    expect(await life.stop()).toMatchObject({ exitCode: 5 })
    await client.closed()
  })

  test.each([{ connectionTimeout: '100ms' }, { deadline: '1s' }])(
    'a request from before that outlives its limit is cut: %j',
    async (limit) => {
      const { server, port, stage } = await listen()
      const client = await connectTo(port)
      client.request('GET', '/slow')
      await stage.slow.reached
      using life = attachLifecycle(server, { platform: 'unknown', shutdownDelay: 0, ...limit })
      await life.start()
      const reasons: unknown[] = []
      life.events$.subscribe((event) => {
        if (event.type === 'phase.ended' && event.phase === 'close-connections') reasons.push(event.error?.message)
      })
      const { exitCode, warnings, phases } = await life.stop()
      const ofTimeout = expect.stringMatching(/^1 closed at the end of the connection timeout/) as string
      expect(reasons).toEqual(['connectionTimeout' in limit ? ofTimeout : undefined])
      expect(phases.find(({ name }) => name === 'close-connections')).toMatchObject({ outcome: 'cut' })
      expect(exitCode).toBe(5)
      // A loaded machine adds that the deadline was missed.
      expect(warnings[0]).toMatchObject({ details: { count: 1 } })
      await client.closed()
      stage.slow.open()
    },
  )
})
