import { describe, expect, test } from 'vitest'
import { attachLifecycle } from '../../src/index.ts'
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
    expect(await stopped).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, connections: { told: 1 } })
  })
})
