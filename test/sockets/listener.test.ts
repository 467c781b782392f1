// One listening socket, without a life around it. Fails when: it is bound although that was given
// up, closes what is not its to close, says another address than it had, or leaves something at a
// server that it has given back.
import { getEventListeners, once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { Server } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { awaitListen } from '#src/actors/await-listen.ts'
import { asBeforeClose } from '#src/actors/before-close.ts'
import type { ListenTarget } from '#src/actors/listen-target.ts'
import { closeAll, Listener } from '#src/actors/listener.ts'
import { nodeServers } from '#src/actors/server-factories.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { leftBehind } from '../support/left-behind.ts'
import { temporaryFolder } from '../support/process.ts'

const LOOPBACK = { port: 0, host: '127.0.0.1' }
const going = new AbortController().signal

function ownServer<S extends Server>(server: S): S {
  onTestFinished(() => void Server.prototype.close.call(server))
  return server
}

async function listening(target: object = LOOPBACK): Promise<Server> {
  const server = ownServer(createServer())
  await once(server.listen(target), 'listening')
  return server
}

const portOf = (server: Server): number => (server.address() as { port: number }).port

/** Everything by which an owner could tell that a listener has been there. */
const stateOf = (server: Server) => ({
  listeners: Object.fromEntries(server.eventNames().map((event) => [event, server.rawListeners(event as string)])),
  own: Reflect.ownKeys(server).filter((key) => key === 'close' || key === 'closeIdleConnections'),
})

const watched = (listener: Listener): string[] => {
  const notified: string[] = []
  listener.onDeath(
    ({ kind }) => void notified.push(kind),
    () => void notified.push('closed by a hook'),
  )
  return notified
}

describe('binding', () => {
  test('leaves nothing at the server that it needs no more', async () => {
    const server = ownServer(createServer())
    const before = stateOf(server)
    await new Listener(server, LOOPBACK).bind(going)
    expect(stateOf(server)).toEqual(before)
  })

  test('given up while the system is asked leaves nothing bound', async () => {
    const server = ownServer(createServer())
    const stop = new AbortController()
    const bound = new Listener(server, LOOPBACK).bind(stop.signal)
    stop.abort(new Error('no more'))
    await expect(bound).rejects.toThrow('no more')
    expect(server.listening).toBe(false)
  })

  test('given up before it begins looks at no path', async () => {
    const path = join(temporaryFolder(), 'app.sock')
    await listening({ path })
    const server = ownServer(createServer())
    await expect(new Listener(server, { path }).bind(AbortSignal.abort(new Error('no more')))).rejects.toThrow('no more')
  })

  test('given up while it makes way at a path does not take the path', async () => {
    const path = await leftBehind()
    const server = ownServer(createServer())
    const stop = new AbortController()
    let listened = 0
    server.once('error', () => stop.abort(new Error('no more'))).on('listening', () => listened++)
    await expect(new Listener(server, { path }).bind(stop.signal)).rejects.toThrow('no more')
    expect(existsSync(path)).toBe(false)
    expect(listened).toBe(0)
  })

  test('at the path of a socket that was left behind takes its place', async () => {
    const path = await leftBehind()
    expect(await new Listener(ownServer(createServer()), { path }).bind(going)).toEqual({ url: `unix:${path}`, address: path, port: 0 })
  })

  test('at a path without permissions of its own has those of the process', async () => {
    const [path, other] = ['app', 'other'].map((name) => join(temporaryFolder(), name)) as [string, string]
    await listening({ path: other })
    await new Listener(ownServer(createServer()), { path }).bind(going)
    expect(statSync(path).mode).toBe(statSync(other).mode)
  })

  test('refused by listen() itself is an error like the others', async () => {
    await expect(new Listener(createServer(), { port: 65_536, host: '127.0.0.1' }).bind(going)).rejects.toMatchObject({
      code: 'ERR_LISTEN',
      message: expect.stringMatching(/failed to listen on 127\.0\.0\.1:65536: .*65536/),
    })
  })

  test.each<[string, ListenTarget]>([
    ['descriptor 4321', { fd: 4_321, name: 4_321 }],
    ['descriptor 4321 (web)', { fd: 4_321, name: 'web' }],
    ['/nowhere/app.sock', { path: '/nowhere/app.sock' }],
    ['*:65536', { port: 65_536 }],
  ])('that fails names the place: %s', async (place, target) => {
    await expect(new Listener(createServer(), target).bind(going)).rejects.toMatchObject({
      code: 'ERR_LISTEN',
      message: expect.stringContaining(`failed to listen on ${place}: `),
      details: { address: place },
    })
  })
})

describe('a server that its owner binds', () => {
  test('is awaited until it listens, is bound, or is closed', async () => {
    const server = ownServer(createServer())
    const listener = new Listener(server, undefined)
    expect(new Listener(createServer(), LOOPBACK).awaitsListen).toBe(false)
    expect(listener.awaitsListen).toBe(true)
    await once(server.listen(LOOPBACK), 'listening')
    expect(listener.awaitsListen).toBe(false)
    await listener.bind(going)
    await once(server.close(), 'close')
    expect(listener.awaitsListen).toBe(false)
    const other = new Listener(createServer(), undefined)
    other.close()
    expect(other.awaitsListen).toBe(false)
  })

  test('is not waited for when that was given up before', async () => {
    const server = ownServer(createServer())
    const before = stateOf(server)
    await expect(new Listener(server, undefined).bind(AbortSignal.abort())).rejects.toMatchObject({ code: 'ERR_NOTHING_TO_SERVE' })
    expect(stateOf(server)).toEqual(before)
  })

  test('has the address that it has, of whatever kind', async () => {
    const path = join(temporaryFolder(), 'app.sock')
    const bound = async (server: Server) => new Listener(server, undefined).bind(going)
    expect(await bound(await listening({ path }))).toEqual({ url: `unix:${path}`, address: path, port: 0 })
    const six = await listening({ port: 0, host: '::1' })
    expect(await bound(six)).toEqual({ url: `http://[::1]:${portOf(six)}`, address: '::1', port: portOf(six) })
    const secure = ownServer(createHttpsServer())
    await once(secure.listen(LOOPBACK), 'listening')
    expect((await bound(secure)).url).toBe(`https://127.0.0.1:${portOf(secure)}`)
    // What node says of a Unix socket that it was given.
    const given = Object.assign(await listening(), { address: () => null })
    expect(await bound(given)).toEqual({ url: 'unix:', address: '', port: 0 })
  })
})

test('a socket that was passed is called by its name when it has no address', async () => {
  const server = await listening()
  const passed = new Listener(server, { fd: 3, name: 'web' })
  expect((await passed.bind(going)).url).toBe(`http://127.0.0.1:${portOf(server)}`)
  Object.assign(server, { address: () => null })
  expect(await passed.bind(going)).toEqual({ url: 'fd:web', address: 'fd:web', port: 0 })
})

describe('what goes on beside a listener', () => {
  const beside = () => {
    const calls: string[] = []
    return { calls, companion: { watch: () => void calls.push('watch'), close: () => void calls.push('close') } }
  }

  test('begins once, when it is bound, and ends with it', async () => {
    const { calls, companion } = beside()
    const listener = new Listener(ownServer(createServer()), LOOPBACK, 'public', companion)
    await listener.bind(going)
    await listener.bind(going)
    expect(calls).toEqual(['watch'])
    listener.close()
    listener.close()
    expect(calls).toEqual(['watch', 'close'])
  })

  test('does not begin when it was closed before it was bound', async () => {
    const { calls, companion } = beside()
    const server = ownServer(createServer())
    const listener = new Listener(server, LOOPBACK, 'public', companion)
    const bound = listener.bind(going)
    expect(listener.close()).toBeUndefined()
    await bound
    expect(calls).toEqual(['close'])
    expect(server.listening).toBe(false)
    expect(listener.close()).toBeUndefined()
  })
})

describe('closing', () => {
  test('tells the addresses of those that listened', async () => {
    const server = await listening()
    const listeners = [new Listener(createServer(), undefined), new Listener(server, undefined)]
    const url = `http://127.0.0.1:${portOf(server)}`
    expect(closeAll(listeners)).toEqual([url])
    expect(closeAll(listeners)).toEqual([])
  })

  test('goes by the close() that the server had, also of HTTP/2', async () => {
    let closed = 0
    const server = ownServer(createHttp2Server())
    const { close } = server
    server.close = (callback) => {
      closed++
      return close.call(server, callback)
    }
    const listener = new Listener(server, LOOPBACK)
    await listener.bind(going)
    watched(listener)
    listener.close()
    expect(closed).toBe(1)
  })

  test('once more, by the owner, calls back without an error, and needs no callback', async () => {
    const server = await listening()
    const listener = new Listener(server, undefined)
    await listener.bind(going)
    watched(listener)
    listener.close()
    server.close()
    expect(await new Promise((resolve) => server.close(resolve))).toBeUndefined()
  })
})

describe('the death of a listener', () => {
  test('is told once, and not after its close', async () => {
    const server = await listening()
    const listener = new Listener(server, undefined)
    const notified = watched(listener)
    server.emit('error', new Error('the first'))
    server.emit('error', new Error('the second'))
    server.close()
    expect(notified).toEqual(['error'])
    const other = await listening()
    const closed = new Listener(other, undefined)
    const none = watched(closed)
    closed.close()
    await once(other, 'close')
    expect(none).toEqual([])
  })

  test('is told of a server that is closed by other means than close()', async () => {
    const server = await listening()
    const notified = watched(new Listener(server, undefined))
    Server.prototype.close.call(server)
    await once(server, 'close')
    expect(notified).toEqual(['closed'])
  })

  test('is none when a hook closes it that it is closed after: whoever wants to hear of it is called back at once', async () => {
    const server = await listening()
    const notified = watched(new Listener(server, undefined))
    asBeforeClose(() => server.close())
    await asBeforeClose(() => new Promise((resolve) => server.close(resolve)))
    expect(notified).toEqual(['closed by a hook', 'closed by a hook'])
    expect(server.listening).toBe(true)
  })

  test('is not looked for when it is closed already', async () => {
    const server = await listening()
    const before = stateOf(server)
    const listener = new Listener(server, undefined)
    listener.close()
    watched(listener)
    expect(stateOf(server)).toEqual(before)
  })
})

describe('a server is as it was', () => {
  const bound = async () => {
    const server = await listening()
    const before = stateOf(server)
    const listener = new Listener(server, undefined)
    await listener.bind(going)
    watched(listener)
    return { server, before, listener }
  }

  test('when it is given back', async () => {
    const { server, before, listener } = await bound()
    expect(stateOf(server)).not.toEqual(before)
    listener.release()
    listener.release()
    expect(stateOf(server)).toEqual(before)
    expect(listener.close()).toBeUndefined()
    expect(server.listening).toBe(true)
    // Nor does the end of the life come back to it.
    listener.retire()
    expect(stateOf(server)).toEqual(before)
  })

  test('when it listens again after the end', async () => {
    const { server, before, listener } = await bound()
    listener.close()
    listener.retire()
    await once(server.listen(LOOPBACK), 'listening')
    expect(stateOf(server)).toEqual(before)
    expect(server.listening).toBe(true)
  })

  test('when it listens again already at the end', async () => {
    const { server, before, listener } = await bound()
    listener.close()
    await once(server.listen(LOOPBACK), 'listening')
    listener.retire()
    expect(stateOf(server)).toEqual(before)
    expect(server.listening).toBe(true)
  })

  test('when it is given back after the end', async () => {
    const { server, before, listener } = await bound()
    listener.close()
    listener.retire()
    listener.release()
    expect(stateOf(server)).toEqual(before)
    listener.retire()
    expect(stateOf(server)).toEqual(before)
  })

  test('when it is given back after it has died', async () => {
    const { server, before, listener } = await bound()
    const closed = once(server, 'close')
    Server.prototype.close.call(server)
    await closed
    expect(listener.close()).toBeUndefined()
    listener.release()
    expect(stateOf(server)).toEqual(before)
    await once(server.listen(LOOPBACK), 'listening')
    expect(server.listening).toBe(true)
  })

  test('but not while it accepts, whatever has ended', async () => {
    const { server, listener } = await bound()
    const during = stateOf(server)
    listener.retire()
    expect(stateOf(server)).toEqual(during)
    expect(listener.close()).toBeDefined()
  })
})

test('a server that was never bound and begins to listen in the moment of the end is closed', async () => {
  const server = ownServer(createServer())
  const listener = new Listener(server, undefined)
  listener.close()
  server.listen(LOOPBACK)
  listener.retire()
  await once(server, 'close')
  expect(server.listening).toBe(false)
})

describe('waiting for an owner', () => {
  const awaiting = () => {
    const server = ownServer(createServer())
    const clock = new VirtualClock()
    const process = new FakeProcess()
    const said: unknown[] = []
    const stop = new AbortController()
    const host = { clock, random: () => 0, process: process.asHostProcess(), servers: nodeServers }
    const begin = () => awaitListen({ host, record: (fact) => said.push(fact) }, new Listener(server, undefined), stop.signal)
    return { server, clock, process, said, stop, begin }
  }

  test('keeps no process alive, and says what it waits for', async () => {
    const { server, clock, said, begin } = awaiting()
    const bound = begin()
    await clock.runToEnd()
    expect(clock.now()).toBe(0)
    await clock.advance(10_000)
    expect(said).toHaveLength(1)
    server.listen(LOOPBACK)
    await bound
  })

  test('says nothing of a server that listens in time, and leaves nothing behind', async () => {
    const { server, clock, process, said, stop, begin } = awaiting()
    const bound = begin()
    server.listen(LOOPBACK)
    expect((await bound).port).toBe(portOf(server))
    await clock.advance(20_000)
    expect(said).toEqual([])
    expect(process.listenerCount('beforeExit')).toBe(0)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })

  test.each(['while it waits', 'before'])('is over when it is given up %s', async (when) => {
    const { process, stop, begin } = awaiting()
    if (when === 'before') stop.abort()
    const bound = begin()
    stop.abort()
    await expect(bound).rejects.toMatchObject({ code: 'ERR_NOTHING_TO_SERVE' })
    expect(process.listenerCount('beforeExit')).toBe(0)
  })
})
