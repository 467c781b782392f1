// Servers that never listen and are given their sockets: `emit('connection')` behind a server that
// reads a PROXY header or tells TLS from plain text on one port, `emit('secureConnection')` behind
// one that ends TLS, `emit('request')` behind one that chooses an application. And servers whose
// `listen()` fails, whenever the life was put around them.
// Fails when: such a life never starts, or is ready before it has; its stop skips hooks or tells no
// client; or an error of `listen()` is heard by nothing, is a crash, or is not what the start ends
// with.
import { createServer, type RequestListener } from 'node:http'
import { createServer as createServer2 } from 'node:http2'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, createServer as createFront, type Server, type Socket } from 'node:net'
import { connect as connectSecurely, createServer as createSecureFront } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { EarlyEvents } from '#src/actors/early-events.ts'
import type { AttachableServer } from '#src/attach.ts'
import { pairFor } from '../support/certificates.ts'
import { GivenStream } from '../support/given-stream.ts'
import { H2Client } from '../support/h2-client.ts'
import { newAttachedLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { POLL } from '../support/upstream-client.ts'

const PAIR = pairFor({ names: ['localhost'] })
const hello: RequestListener = (_, response) => void response.end('hello')

interface Client {
  ask(path: string): Promise<{ readonly status?: number | undefined }>
  notified(): boolean
}

async function overHttp1(socket: Socket, ready: string): Promise<Client> {
  await new Promise((resolve) => socket.once(ready, resolve))
  const raw = RawClient.on(socket)
  onTestFinished(() => raw.abort())
  let isNotified = false
  const ask = async (path: string) => {
    raw.request('GET', path)
    const answer = await raw.response()
    isNotified = answer.headers['connection'] === 'close'
    return answer
  }
  return { ask, notified: () => isNotified }
}
const plainly = (port: number): Promise<Client> => overHttp1(connect({ port, host: '127.0.0.1' }), 'connect')
const securely = (port: number): Promise<Client> =>
  overHttp1(connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false }), 'secureConnect')

/** What is given the sockets, by what and how, and how its clients connect. */
const KINDS: Readonly<Record<string, () => { servers: AttachableServer[]; front: Server; open: (port: number) => Promise<Client> }>> = {
  'plain sockets': () => {
    const server = createServer(hello)
    return { servers: [server], front: createFront((socket) => void server.emit('connection', socket)), open: plainly }
  },
  'sockets whose handshake is still to come': () => {
    const server = createSecureServer(PAIR, hello)
    return { servers: [server], front: createFront((socket) => void server.emit('connection', socket)), open: securely }
  },
  'sockets of TLS, to a server without it': () => {
    const server = createServer(hello)
    return { servers: [server], front: createSecureFront(PAIR, (socket) => void server.emit('connection', socket)), open: securely }
  },
  'sockets of TLS, to a server with it': () => {
    const server = createSecureServer(PAIR, hello)
    return { servers: [server], front: createSecureFront(PAIR, (socket) => void server.emit('secureConnection', socket)), open: securely }
  },
  'requests of another server': () => {
    const server = createServer(hello)
    return { servers: [server], front: createServer((request, response) => void server.emit('request', request, response)), open: plainly }
  },
  'sockets of HTTP/2': () => {
    const server = createServer2((_, response) => void response.end('hello'))
    return {
      servers: [server],
      front: createFront((socket) => void server.emit('connection', socket)),
      open: async (port) => {
        const client = await H2Client.open(`http://127.0.0.1:${port}`)
        let isNotified = false
        client.session.on('goaway', () => (isNotified = true))
        return { ask: (path) => client.get(path), notified: () => isNotified }
      },
    }
  },
  'those of two servers on one port, of which one has none yet': () => {
    const [plain, secure] = [createServer(hello), createSecureServer(PAIR, hello)]
    const front = createFront((socket) => {
      socket.once('readable', () => {
        const first = socket.read(1) as Buffer | null
        if (!first) return
        socket.unshift(first)
        ;(first[0] === 0x16 ? secure : plain).emit('connection', socket)
      })
    })
    return { servers: [plain, secure], front, open: plainly }
  },
}

describe.each(Object.entries(KINDS))('a server that is given %s', (_, make) => {
  test('starts with the first of them, is ready then, and ends like any other', async () => {
    const { servers, front, open } = make()
    const t = newAttachedLife(servers, { options: { shutdownDelay: 200 } })
    let hasRunHook = false
    t.life.addPreShutdownHook('leave', () => {
      hasRunHook = true
    })
    front.listen(0, '127.0.0.1')
    onTestFinished(() => void front.close())
    const started = t.life.start()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(t.hasFired('Serving')).toBe(false)
    const client = await open((front.address() as AddressInfo).port)
    await expect.poll(async () => (await client.ask('/readyz')).status, POLL).toBe(200)
    await started
    const report = t.life.stop()
    await t.fired('ClientsNotified')
    // Over HTTP/2 it is told without an answer.
    if (!client.notified()) expect(await client.ask('/')).toMatchObject({ status: 200 })
    await expect.poll(client.notified).toBe(true)
    expect(await report).toMatchObject({ exitCode: 0, connections: { notified: 1, forced: 0 } })
    expect(hasRunHook).toBe(true)
  })
})

describe('a server that waits for its owner', () => {
  const onStream = { socket: new GivenStream() }
  const GIVEN: readonly (readonly [event: string, given: object, server: () => AttachableServer])[] = [
    ...['connection', 'secureConnection'].map((event) => [event, new GivenStream(), () => createServer()] as const),
    ...['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect'].map(
      (event) => [event, onStream, () => createServer()] as const,
    ),
    ...['session', 'stream'].map((event) => [event, {}, () => createServer2()] as const),
  ]

  test.each(GIVEN)('begins with its first %s, and is then as it was', (event, given, make) => {
    const server = make().removeAllListeners()
    const early = new EarlyEvents(server)
    let times = 0
    early.onGiven(() => times++)
    expect(server.listenerCount(event)).toBe(0)
    server.emit('listening')
    server.emit(event, { socket: {} })
    expect(times).toBe(event === 'session' || event === 'stream' || event.endsWith('onnection') ? 1 : 0)
    server.emit(event, given)
    server.emit(event, given)
    expect(times).toBe(1)
    expect(Object.hasOwn(server, 'emit')).toBe(false)
    early[Symbol.dispose]()
    expect(server.eventNames()).toEqual([])
  })

  test('is as it was when it is given back before', () => {
    const server = createServer()
    const emit = server.emit.bind(server) as typeof server.emit
    server.emit = emit
    const t = newAttachedLife(server)
    expect(server.emit).not.toBe(emit)
    t.life.dispose()
    expect(server.emit).toBe(emit)
  })
})

test('readiness is red until the start is over, whatever is attached', async () => {
  const server = createServer(hello)
  const t = newAttachedLife([server, createServer(hello)])
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  void t.life.start().catch(() => undefined)
  const { port } = server.address() as AddressInfo
  const client = await plainly(port)
  expect(await client.ask('/readyz')).toMatchObject({ status: 500 })
  expect(await client.ask('/livez')).toMatchObject({ status: 200 })
  expect(await client.ask('/readyz/startup')).toMatchObject({ status: 500 })
})

describe('listen() that fails', () => {
  /** A port that is taken. */
  async function taken(): Promise<number> {
    const server = createFront().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    return (server.address() as AddressInfo).port
  }
  const SERVERS: Readonly<Record<string, () => AttachableServer>> = {
    http: () => createServer(hello),
    https: () => createSecureServer(PAIR, hello),
    http2: () => createServer2(),
  }
  const failure = { code: 'ERR_START', message: expect.stringContaining('EADDRINUSE') as string }

  test.each(Object.entries(SERVERS))('is a failed start, before and after its error (%s)', async (_, make) => {
    const port = await taken()
    const ORDERS: readonly ((server: AttachableServer) => Promise<unknown>)[] = [
      async (server) => {
        const t = newAttachedLife(server.listen(port, '127.0.0.1'))
        return t.life.start()
      },
      async (server) => {
        const t = newAttachedLife(server)
        const started = t.life.start()
        server.listen(port, '127.0.0.1')
        return started
      },
      async (server) => {
        const t = newAttachedLife(server.listen(port, '127.0.0.1'))
        await new Promise((resolve) => server.once('error', resolve))
        await new Promise((resolve) => setImmediate(resolve))
        return t.life.start()
      },
    ]
    for (const order of ORDERS) await expect(order(make())).rejects.toMatchObject(failure)
  })

  test('is forgotten when the owner has listened elsewhere in the meantime', async () => {
    const server = createServer(hello)
    const t = newAttachedLife(server.listen(await taken(), '127.0.0.1'))
    await new Promise((resolve) => server.once('error', resolve))
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    await t.life.start()
    expect((await t.get('/')).status).toBe(200)
  })

  test('leaves nothing on a server that is given back', () => {
    const server = createServer(hello)
    const before = ['error', 'connection', 'secureConnection'].map((event) => server.listenerCount(event))
    const t = newAttachedLife(server)
    t.life.dispose()
    expect(['error', 'connection', 'secureConnection'].map((event) => server.listenerCount(event))).toEqual(before)
  })
})
