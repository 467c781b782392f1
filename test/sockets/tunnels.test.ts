// What nothing is known of but that bytes move: tunnels of CONNECT and of upgrades, over HTTP/1.1
// and HTTP/2, and what handlers and listeners speak on sockets that they have taken for themselves.
// A transfer of pieces is under way when the stop comes. Fails when: a piece is lost that was sent
// within the time that it has, one is lost without an exit code or a name, names of the report
// disagree, or an end waits for what stands still.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createServer2, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type LifecycleOptions, markWatch, shutdownSignalOf } from '#src/index.ts'
import { GivenStream } from '../support/given-stream.ts'
import { H2Client } from '../support/h2-client.ts'
import { newAttachedLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { POLL } from '../support/upstream-client.ts'
import { rig } from './rig.ts'

const GRACE_MS = 4_000
const LAST_CALL_MS = 300
/** Less than what counts as standing still. */
const BETWEEN_MS = 900
/** When a transfer that stands still has been seen to. */
const STILL_MS = 1_500

type Begin = (sender: Duplex, request?: object) => void

interface Kind {
  serve(begin: Begin): AttachableServer
  /** What its client has received since it has asked. */
  ask(port: number): Promise<{ received(): string; ended(): Promise<unknown> }>
  /** Where the report names what was cut: it is a watch, a request, or only a connection. */
  readonly as: 'watches' | 'requests' | 'connections'
  /** Nothing but the connection is cut with it. */
  readonly isAlone: boolean
}
type AttachableServer = Parameters<typeof newAttachedLife>[0] & {
  listen(port: number, host: string): unknown
  address(): unknown
  emit(event: string, given: Duplex): unknown
}

const overHttp1 = (first: string, prepare: (begin: Begin) => AttachableServer, as: Kind['as'] = 'watches'): Kind => ({
  serve: prepare,
  ask: async (port) => {
    const client = await RawClient.open({ port })
    onTestFinished(() => client.abort())
    client.send(first)
    await client.until('the begin', () => client.received.includes('begin'))
    return { received: () => client.received, ended: () => client.closed() }
  },
  as,
  isAlone: true,
})

const upgraded = (event: 'upgrade' | 'connect', answer: string) => (begin: Begin) => {
  const server = createServer()
  server.on(event, (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => undefined)
    socket.resume().write(answer)
    begin(socket, request)
  })
  return server
}

const switching = (to: string): string => `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${to}\r\n\r\n`
const asking = (to: string): string => `GET /t HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${to}\r\n\r\n`
const GET = 'GET /t HTTP/1.1\r\nHost: x\r\n\r\n'

const overHttp2 = (head: Record<string, string>): Kind => ({
  serve: (begin) => {
    const server = createServer2({ settings: { enableConnectProtocol: true } })
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => undefined)
      stream.resume().respond({ ':status': 200 })
      begin(stream, stream)
    })
    return server as Http2Server
  },
  ask: async (port) => {
    const stream = (await H2Client.open(`http://127.0.0.1:${port}`)).stream({ ':authority': 'x:1', ':method': 'CONNECT', ...head })
    let received = ''
    stream.on('data', (bytes) => (received += String(bytes))).on('error', () => undefined)
    stream.on('end', () => stream.end())
    const ended = new Promise((resolve) => stream.on('close', resolve))
    await expect.poll(() => received, POLL).toContain('begin')
    return { received: () => received, ended: () => ended }
  },
  as: 'watches',
  isAlone: false,
})

const onRequest = (take: (request: IncomingMessage, response: ServerResponse) => Socket) => (begin: Begin) =>
  createServer((request, response) => {
    const socket = take(request, response)
    socket.on('error', () => undefined)
    begin(socket, request)
  })

const KINDS: Readonly<Record<string, Kind>> = {
  CONNECT: overHttp1('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', upgraded('connect', 'HTTP/1.1 200 OK\r\n\r\n')),
  'CONNECT that is not answered in HTTP': overHttp1('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', upgraded('connect', 'hello\n')),
  'an upgrade to another protocol': overHttp1(asking('foo'), upgraded('upgrade', switching('foo'))),
  'an upgrade to h2c': overHttp1(asking('h2c'), upgraded('upgrade', switching('h2c'))),
  'CONNECT over HTTP/2': overHttp2({}),
  'extended CONNECT': overHttp2({ ':protocol': 'foo', ':path': '/t', ':scheme': 'http' }),
  'a socket that a listener of connection speaks on': overHttp1(
    'hello',
    (begin) =>
      createServer()
        .removeAllListeners('connection')
        .on('connection', (socket: Socket) => {
          socket.on('error', () => undefined)
          socket.resume()
          begin(socket)
        }),
    'connections',
  ),
  'a socket that a handler goes on with when it has answered': overHttp1(
    GET,
    onRequest((request, response) => {
      response.setHeader('Content-Length', 0)
      response.end()
      return request.socket
    }),
    'connections',
  ),
  'a socket that a handler detaches from its response': overHttp1(
    GET,
    onRequest((request, response) => {
      response.detachSocket(request.socket)
      return request.socket
    }),
    'requests',
  ),
  'a socket that a handler writes to instead of its response': overHttp1(
    GET,
    onRequest(({ socket }) => socket),
    'requests',
  ),
}

async function transferring({ serve, ask }: Kind, options: LifecycleOptions = {}) {
  let sender: Duplex | undefined
  let request: object | undefined
  const server = serve((to, by) => {
    to.write('begin')
    sender = to
    request = by
  })
  const t = newAttachedLife(server, {
    clock: new VirtualClock(),
    options: { watchGrace: GRACE_MS, lastCall: LAST_CALL_MS, deadline: '30s', ...options },
  })
  server.listen(0, '127.0.0.1')
  await t.life.start()
  const client = await ask((server.address() as AddressInfo).port)
  const send = (text: string): void => void sender?.write(text)
  return { t, client, send, end: (text: string) => void sender?.end(text), request: () => request }
}

describe.each(Object.entries(KINDS))('%s', (_, kind) => {
  test('ends with what is sent within its time, and costs nothing', async () => {
    const { t, client, send, end } = await transferring(kind)
    const report = t.life.stop()
    while (!t.hasFired('NotAcceptingNewRequest')) await t.clock.advance(1)
    for (const piece of ['one', 'two', 'three']) {
      send(piece)
      await t.clock.advance(BETWEEN_MS)
    }
    end('last')
    // A tunnel of HTTP/2 is over when both sides are.
    await client.ended()
    expect(client.received()).toMatch(/beginonetwothreelast$/)
    expect(await t.end(report)).toMatchObject({
      exitCode: 0,
      requests: { cut: [] },
      watches: { cut: [] },
      connections: { forcedNames: [] },
    })
  })

  test('is cut when its time is over and bytes still move: exit code 5, and every name agrees', async () => {
    const { t, client, send } = await transferring(kind, { deadline: '10s' })
    const sending = setInterval(() => send('.'), 1)
    onTestFinished(() => clearInterval(sending))
    const { exitCode, requests, watches, connections } = await t.end()
    await client.ended()
    const name = kind.as === 'connections' ? 'another protocol' : (watches.cut[0] ?? requests.cut[0])?.name
    expect({ exitCode, requests: requests.cut.length, watches: watches.cut.length }).toEqual({
      exitCode: 5,
      requests: kind.as === 'requests' ? 1 : 0,
      watches: kind.as === 'watches' ? 1 : 0,
    })
    if (kind.isAlone) expect(connections).toMatchObject({ forced: 1, forcedNames: [{ name: expect.stringMatching(`${name}$`) as string }] })
  })

  // What is begun with a request and is no upgrade has the time of a request.
  test.skipIf(kind.as === 'requests')('is ended when nothing moves any more, without cost or name', async () => {
    const { t, client } = await transferring(kind)
    const report = await t.end()
    await client.ended()
    expect(report).toMatchObject({ exitCode: 0, watches: { after: 0, cut: [] }, connections: { forced: 0, forcedNames: [] } })
    expect(t.sinceStop('ConnectionsClosed')).toBeLessThan(LAST_CALL_MS + 2 * STILL_MS)
  })
})

test('a handler that knows of its end has the grace for it, and is cut then without cost', async () => {
  const { t, send, request } = await transferring(KINDS['CONNECT'] as Kind)
  shutdownSignalOf(request() as object)
  const sending = setInterval(() => send('.'), 1)
  onTestFinished(() => clearInterval(sending))
  expect(await t.end()).toMatchObject({ exitCode: 0, watches: { after: 1, cut: [{ name: 'CONNECT x:1' }] }, connections: { forced: 1 } })
  expect(() => markWatch(request() as object)).not.toThrow()
})

describe.each(['CONNECT', 'a socket that a listener of connection speaks on'])('on a stream that is no socket: %s', (kind) => {
  async function begun() {
    const { serve } = KINDS[kind] as Kind
    let sender: Duplex | undefined
    const server = serve((to) => {
      to.write('begin')
      sender = to
    })
    const t = newAttachedLife(server, {
      clock: new VirtualClock(),
      options: { watchGrace: GRACE_MS, lastCall: LAST_CALL_MS, deadline: '10s' },
    })
    const started = t.life.start()
    const stream = new GivenStream()
    server.emit('connection', stream)
    stream.push('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(() => stream.sent, POLL).toContain('begin')
    await started
    return { t, stream, send: () => void sender?.write('.') }
  }

  test('is ended when nothing moves any more, without cost or name', async () => {
    const { t } = await begun()
    const report = await t.end()
    expect(report).toMatchObject({ exitCode: 0, watches: { after: 0, cut: [] }, connections: { forced: 0, forcedNames: [] } })
    expect(report.connections.byProtocol?.at(-1)).toMatchObject({ protocol: 'tunnel', idleUnnotified: 1 })
    expect(t.sinceStop('ConnectionsClosed')).toBeLessThan(LAST_CALL_MS + 2 * STILL_MS)
  })

  test.each(['sent', 'received'])('is cut when its time is over and it is still %s', async (way) => {
    const { t, stream, send } = await begun()
    const moving = setInterval(() => (way === 'sent' ? send() : stream.push('.')), 1)
    onTestFinished(() => clearInterval(moving))
    expect(await t.end()).toMatchObject({ exitCode: 5, connections: { forced: 1 } })
  })
})

test('an upgrade on a stream that is no socket, whose handler fails in the middle of its answer, is broken off', async () => {
  const { server, facts } = await rig(undefined)
  server.on('upgrade', (_request, socket: Socket) => {
    socket.write('HTTP/1.1 101')
    throw new Error('in the middle')
  })
  const stream = new GivenStream()
  server.emit('connection', stream)
  stream.push('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  await expect.poll(() => stream.destroyed).toBe(true)
  expect(stream.sent).not.toContain('500')
  expect(facts).toMatchObject([{ type: 'error', where: 'handler GET /' }])
})
