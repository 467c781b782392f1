// WebSockets on real sockets in virtual time, held by the package `ws` and by code that writes its
// frames itself, plain and over TLS; their client is frame by frame. Fails when: one is not closed
// with 1001 and the reason in its turn, in the middle of a message, twice, or never; something that
// was sent before is lost; a client that does not take part holds the end up beyond the grace; or
// the report says something else than what the client saw.
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createSecureServer as createServer2 } from 'node:http2'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { closeFrame } from '#src/http/upgraded/frames.ts'
import { type LifecycleOptions, shutdownSignalOf } from '#src/index.ts'
import { newAttachedLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { row } from '../support/row.ts'
import { POLL } from '../support/upstream-client.ts'
import { HANDSHAKE, WebSocketClient } from '../support/web-socket-client.ts'

const GRACE_MS = 4_000
const REASON = 'the server is shutting down'
const CLOSED = { code: 1001, reason: REASON }

const file = (name: string): Buffer => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url))

/** Of a socket of TLS, too, where its types do not have it. */
const HALF_OPEN = { allowHalfOpen: true }

const SCHEMES = {
  ws: {
    make: () => createServer(),
    connect: (port: number): Socket => connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true }),
  },
  wss: {
    make: (): Server => createSecureServer({ key: file('key.pem'), cert: file('cert.pem') }),
    connect: (port: number): Socket => connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false, ...HALF_OPEN }),
  },
  /** HTTP/1.1 of a server that speaks HTTP/2 as well. */
  'wss beside HTTP/2': {
    make: () => createServer2({ key: file('key.pem'), cert: file('cert.pem'), allowHTTP1: true }) as unknown as Server,
    connect: (port: number): Socket => connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false, ...HALF_OPEN }),
  },
} as const

const ACCEPTED =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'

/** A text message of a server, in one frame. */
const text = (message: string): Buffer => Buffer.concat([Buffer.from([0x81, message.length]), Buffer.from(message)])

interface Peer {
  send(message: string): void
}
type OnOpen = (peer: Peer, request: IncomingMessage, socket: Socket) => void

/** Who holds the server's end of a WebSocket. */
const HOLDERS = {
  'the package ws': (server: Server, opened: OnOpen) => {
    const wss = new WebSocketServer({ server, perMessageDeflate: true })
    wss.on('connection', (ws, request) => opened({ send: (message) => ws.send(message) }, request, request.socket))
  },
  'a handler that writes its own frames': (server: Server, opened: OnOpen) => {
    server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
      socket.write(ACCEPTED)
      socket.resume()
      opened({ send: (message) => void socket.write(text(message)) }, request, socket)
    })
  },
} as const

async function serve(
  prepare: (server: Server) => void,
  { scheme = 'ws', ...options }: LifecycleOptions & { readonly scheme?: keyof typeof SCHEMES } = {},
) {
  const server = SCHEMES[scheme].make()
  prepare(server)
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const t = newAttachedLife(server, { clock: new VirtualClock(), options: { watchGrace: GRACE_MS, ...options } })
  onTestFinished(() => server.closeAllConnections?.())
  await t.life.start()
  const connectRaw = async (): Promise<RawClient> => {
    const socket = SCHEMES[scheme].connect((server.address() as AddressInfo).port)
    await new Promise<void>((resolve, reject) => socket.once(scheme === 'ws' ? 'connect' : 'secureConnect', resolve).once('error', reject))
    const raw = RawClient.on(socket)
    onTestFinished(() => raw.abort())
    return raw
  }
  return {
    t,
    server,
    connectRaw,
    open: async (path = '/chat?token=1', headers = {}) => WebSocketClient.open(await connectRaw(), path, headers),
  }
}

/** Stops it, and goes on in time until the watches have had their turn. */
async function notified(t: Awaited<ReturnType<typeof serve>>['t']) {
  const report = t.life.stop()
  while (!t.hasFired('NotAcceptingNewRequest')) await t.clock.advance(1)
  await t.clock.advance(GRACE_MS / 4)
  return { report }
}

describe.each(Object.keys(SCHEMES) as (keyof typeof SCHEMES)[])('%s', (scheme) => {
  describe.each(Object.keys(HOLDERS) as (keyof typeof HOLDERS)[])('held by %s', (holder) => {
    const hold = HOLDERS[holder]

    test('is closed with 1001 and the reason, after what was sent before, and costs nothing', async () => {
      const { t, open } = await serve((server) => hold(server, (peer) => peer.send('hello')), { scheme })
      const client = await open()
      await client.received(1)
      expect(t.life.counts()).toMatchObject({ requests: 0, watches: 1, connections: { open: 1, idle: 0 } })
      const { report: stopped } = await notified(t)
      expect(await client.closeFrame()).toEqual(CLOSED)
      client.close()
      expect(await client.raw.closed()).toBe('ended')
      expect(await t.end(stopped)).toMatchObject({
        exitCode: 0,
        watches: { before: 1, after: 0, cut: [] },
        connections: { notified: 1, ended: 0, forced: 0, upgraded: { 'WebSocket closed 1001': 1 } },
        errors: [],
        warnings: [],
      })
      expect(client.messages).toEqual(['hello'])
    })

    test('says goodbye first when its handler has asked for the signal', async () => {
      const { t, open } = await serve(
        (server) =>
          hold(server, (peer, request) => {
            shutdownSignalOf(request).addEventListener('abort', async () => {
              peer.send('going')
              for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
              peer.send('gone')
            })
          }),
        { scheme },
      )
      const client = await open()
      const { report } = await notified(t)
      expect(await client.closeFrame()).toEqual(CLOSED)
      expect(client.messages).toEqual(['going', 'gone'])
      client.close()
      expect(await t.end(report)).toMatchObject({ exitCode: 0, connections: { upgraded: { 'WebSocket closed 1001': 1 } } })
    })

    test('is terminated at the end of the grace when its client does not answer, by name, and counted once', async () => {
      const { t, open } = await serve((server) => hold(server, () => undefined), { scheme })
      const client = await open()
      const { report: stopped } = await notified(t)
      expect(await client.closeFrame()).toEqual(CLOSED)
      const report = await t.end(stopped)
      expect(await client.raw.closed()).toBeOneOf(['reset', 'ended'])
      expect(report).toMatchObject({
        exitCode: 0,
        watches: { before: 1, after: 1, cut: [{ name: 'WebSocket /chat', ageMs: expect.any(Number) as number }] },
        connections: { notified: 0, ended: 0, forced: 1, upgraded: { 'WebSocket terminated': 1 } },
      })
      expect(report.connections.forcedNames).toHaveLength(1)
      expect(report.connections.forcedNames[0]?.name).toMatch(/^127\.0\.0\.1:\d+ WebSocket \/chat$/)
      expect(t.sinceStop('InFlightRequestsDrained')).toBe(GRACE_MS)
    })

    test('is terminated at the end of the grace when its client goes on sending', async () => {
      const { t, open } = await serve((server) => hold(server, () => undefined), { scheme })
      const client = await open()
      const sending = setInterval(() => client.send('and another thing'), 1)
      onTestFinished(() => clearInterval(sending))
      expect(await t.end()).toMatchObject({
        exitCode: 0,
        watches: { after: 1, cut: [{ name: 'WebSocket /chat' }] },
        connections: { upgraded: { 'WebSocket terminated': 1 } },
      })
    })

    test('is terminated at the end of the grace when its client reads nothing', async () => {
      const flood = 'x'.repeat(100)
      const { t, open } = await serve(
        (server) =>
          hold(server, (peer) => {
            for (let message = 0; message < 100_000; message++) peer.send(flood)
          }),
        { scheme },
      )
      const client = await open()
      client.raw.socket.pause()
      const report = await t.end()
      expect(report).toMatchObject({
        exitCode: 0,
        watches: { after: 1, cut: [{ name: 'WebSocket /chat' }] },
        connections: { forced: 1, upgraded: { 'WebSocket terminated': 1 } },
      })
    })

    test('is closed with 1001 without a grace, too, and nothing waits for it', async () => {
      const { t, open } = await serve((server) => hold(server, () => undefined), { scheme, watchGrace: 0 })
      const client = await open()
      const { report } = await notified(t)
      expect(await client.closeFrame()).toEqual(CLOSED)
      expect(await client.raw.closed()).toBe('ended')
      expect(await t.end(report)).toMatchObject({
        exitCode: 0,
        watches: { before: 1, after: 1, cut: [] },
        connections: { notified: 1, forced: 0 },
      })
    })

    test('may have ended by its client in the meantime, in order or not', async () => {
      const { t, open } = await serve((server) => hold(server, () => undefined), { scheme })
      const [polite, rude] = [await open(), await open()]
      const { report: stopped } = await notified(t)
      await Promise.all([polite.closeFrame(), rude.closeFrame()])
      polite.close(1000)
      rude.raw.abort()
      expect(await t.end(stopped)).toMatchObject({
        exitCode: 0,
        watches: { before: 2, after: 0 },
        connections: { upgraded: { 'WebSocket closed 1000': 1, 'WebSocket ended': 1 } },
      })
    })
  })
})

/** A message of a client, masked with zeroes. */
const masked = (message: string): Buffer => Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), Buffer.from(message)])

/** Calls back with each message, whoever holds the socket; the frames of clients here are short. */
const LISTENERS = {
  'the package ws': (server: Server, heard: (message: string, peer: Peer) => void) => {
    new WebSocketServer({ server }).on('connection', (ws) => {
      ws.on('message', (data) => heard(String(data as Buffer), { send: (message) => ws.send(message) }))
    })
  },
  'a handler that reads its own frames': (server: Server, heard: (message: string, peer: Peer) => void) => {
    server.on('upgrade', (_request, socket: Socket) => {
      socket.write(ACCEPTED)
      let bytes = Buffer.alloc(0)
      socket.on('data', (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk])
        while (bytes.length >= 6 && bytes.length >= 6 + ((bytes[1] as number) & 0x7f)) {
          const end = 6 + ((bytes[1] as number) & 0x7f)
          const [opcode, message] = [(bytes[0] as number) & 0x0f, bytes.subarray(6, end).toString()]
          bytes = bytes.subarray(end)
          heard(opcode === 8 ? 'CLOSE' : message, { send: (answer) => void socket.write(text(answer)) })
        }
      })
    })
  },
} as const

describe.each(Object.keys(LISTENERS) as (keyof typeof LISTENERS)[])('heard by %s', (listener) => {
  /** What was heard, each answered when `answer` is called. */
  async function listening(options?: LifecycleOptions) {
    const heard: string[] = []
    const answers: (() => void)[] = []
    const served = await serve((server) => {
      LISTENERS[listener](server, (message, peer) => {
        heard.push(message)
        answers.push(() => peer.send(message))
      })
    }, options)
    const client = await served.open()
    const say = async (message: string): Promise<void> => {
      client.raw.send(masked(message))
      await expect.poll(() => heard, POLL).toContain(message)
    }
    const stop = async () => {
      const report = served.t.life.stop()
      while (!served.t.hasFired('NotAcceptingNewRequest')) await served.t.clock.advance(1)
      await served.t.clock.advance(1)
      return { report }
    }
    const answerAll = (): void => {
      for (const answer of answers.splice(0)) answer()
    }
    return { ...served, client, heard, say, stop, answerAll }
  }
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  test('what was heard is answered before the Close frame, and what comes after is not heard', async () => {
    const { t, client, heard, say, stop, answerAll } = await listening()
    await say('one')
    const { report } = await stop()
    client.raw.send(masked('two'))
    await turns()
    await t.clock.advance(250)
    answerAll()
    await t.clock.advance(100)
    expect(await client.closeFrame()).toEqual(CLOSED)
    client.raw.send(masked('three'))
    client.close()
    expect(await t.end(report)).toMatchObject({
      exitCode: 0,
      watches: { after: 0 },
      connections: { upgraded: { 'WebSocket closed 1001': 1 } },
    })
    expect(client.messages).toEqual(['one'])
    expect(heard.filter((message) => message !== 'CLOSE')).toEqual(['one'])
  })

  test('a message that was heard in part is heard whole, and answered', async () => {
    const { t, client, heard, say, stop, answerAll } = await listening()
    await say('one')
    const [begin, rest] = [masked('halves').subarray(0, 8), masked('halves').subarray(8)]
    client.raw.send(begin)
    await turns()
    const { report } = await stop()
    client.raw.send(Buffer.concat([rest, masked('two')]))
    if (listener !== 'the package ws') await expect.poll(() => heard, POLL).toContain('halves')
    answerAll()
    await t.clock.advance(350)
    expect(await client.closeFrame()).toEqual(CLOSED)
    client.close()
    expect(await t.end(report)).toMatchObject({ exitCode: 0 })
    expect(heard).not.toContain('two')
    // `ws` keeps the part to itself: it was not processed.
    expect(client.messages).toEqual(listener === 'the package ws' ? ['one'] : ['one', 'halves'])
  })

  test('held work is waited for, but no longer than half of the grace', async () => {
    for (const [worksMs, answered] of [
      [GRACE_MS / 4, ['one']],
      [GRACE_MS, []],
    ] as const) {
      const { t, client, say, stop, answerAll } = await listening()
      await say('one')
      void t.life.hold('message one', async () => {
        await new Promise<void>((resolve) => void t.clock.setTimeout(resolve, worksMs))
        answerAll()
      })
      const { report } = await stop()
      await t.clock.advance((GRACE_MS / 4) * 3)
      expect(await client.closeFrame()).toEqual(CLOSED)
      client.close()
      expect(await t.end(report)).toMatchObject({ exitCode: 0, connections: { upgraded: { 'WebSocket closed 1001': 1 } } })
      expect(client.messages).toEqual(answered)
    }
  })

  test('one that never stops sending is closed in its turn', async () => {
    const { t, client, say, stop, answerAll } = await listening()
    await say('one')
    const { report } = await stop()
    for (let ms = 0; ms < 350; ms += 10) {
      answerAll()
      await t.clock.advance(10)
    }
    expect(await client.closeFrame()).toEqual(CLOSED)
    client.close()
    expect(await t.end(report)).toMatchObject({ exitCode: 0, watches: { after: 0 } })
  })

  if (listener !== 'the package ws')
    test('the client’s own Close frame is heard, for what passes it on', async () => {
      const { t, client, heard, say, stop } = await listening()
      await say('one')
      const { report } = await stop()
      await t.clock.advance(350)
      await client.closeFrame()
      client.raw.send(masked('two'))
      client.close()
      await t.end(report)
      expect(heard).toEqual(['one', 'CLOSE'])
    })
})

describe('held by the package ws or by other code', () => {
  test('the Close frame of a client may come in pieces', async () => {
    for (const hold of Object.values(HOLDERS)) {
      const { t, open } = await serve((server) => hold(server, () => undefined))
      const client = await open()
      const { report } = await notified(t)
      expect(await client.closeFrame()).toEqual(CLOSED)
      for (const byte of [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9]) {
        client.raw.send(Buffer.from([byte]))
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(await client.raw.closed()).toBe('ended')
      expect(await t.end(report)).toMatchObject({ exitCode: 0, connections: { upgraded: { 'WebSocket closed 1001': 1 } } })
    }
  })

  /** What a client may do when it is told, and what becomes of it then. */
  const FATES = {
    answers: 'WebSocket closed 1001',
    'answers with another code': 'WebSocket closed 1000',
    'leaves without a word': 'WebSocket ended',
    'does nothing': 'WebSocket terminated',
    'goes on sending': 'WebSocket terminated',
  } as const
  type Manner = keyof typeof FATES

  async function behave(client: WebSocketClient, manner: Manner): Promise<void> {
    await client.closeFrame()
    if (manner === 'answers') client.close()
    if (manner === 'answers with another code') client.close(1000)
    if (manner === 'leaves without a word') client.raw.abort()
    if (manner === 'goes on sending') client.send('and another thing')
  }

  test('each has one fate, which is the one that its client saw', async () => {
    const clients = fc.array(
      fc.record({
        holder: fc.constantFrom(...(Object.keys(HOLDERS) as (keyof typeof HOLDERS)[])),
        manner: fc.constantFrom(...(Object.keys(FATES) as Manner[])),
      }),
      { minLength: 1, maxLength: 8 },
    )
    await fc.assert(
      fc.asyncProperty(clients, async (plans) => {
        const { t, open } = await serve((server) => {
          const wss = new WebSocketServer({ noServer: true })
          server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
            if (request.url === '/the%20package%20ws') wss.handleUpgrade(request, socket, head, () => undefined)
            else socket.resume().write(ACCEPTED)
          })
        })
        const opened: { readonly client: WebSocketClient; readonly manner: Manner }[] = []
        for (const { holder, manner } of plans) opened.push({ client: await open(`/${encodeURIComponent(holder)}`), manner })
        const { report } = await notified(t)
        await Promise.all(opened.map(({ client, manner }) => behave(client, manner)))
        const expected: Record<string, number> = {}
        for (const { manner } of plans) expected[FATES[manner]] = (expected[FATES[manner]] ?? 0) + 1
        const terminated = expected['WebSocket terminated'] ?? 0
        const { exitCode, watches, connections } = await t.end(report)
        expect({
          exitCode,
          before: watches.before,
          cut: watches.cut.length,
          forced: connections.forced,
          upgraded: connections.upgraded,
        }).toEqual({
          exitCode: 0,
          before: plans.length,
          cut: terminated,
          forced: terminated,
          upgraded: expected,
        })
        expect(connections.forcedNames).toHaveLength(terminated)
        expect(t.sinceStop('InFlightRequestsDrained')).toBeLessThanOrEqual(GRACE_MS)
      }),
      { numRuns: 15 },
    )
  })
})

row('FT-08', 'a watch over WebSocket is closed in its turn; one whose client does not answer ends with its grace of 2 s', async () => {
  const { t, open } = await serve((server) => void new WebSocketServer({ server }), { watchGrace: '2s' })
  const [polite, silent] = [await open('/polite'), await open('/silent')]
  const report = t.life.stop()
  while (!t.hasFired('NotAcceptingNewRequest')) await t.clock.advance(1)
  await t.clock.advance(500)
  expect(await Promise.all([polite.closeFrame(), silent.closeFrame()])).toEqual([CLOSED, CLOSED])
  polite.close()
  expect(await polite.raw.closed()).toBe('ended')
  expect(await t.end(report)).toMatchObject({ exitCode: 0, watches: { before: 2, after: 1, cut: [{ name: 'WebSocket /silent' }] } })
  expect(t.sinceStop('InFlightRequestsDrained')).toBe(2_000)
})

describe('held by the package ws', () => {
  const serveWs = (opened: (ws: WebSocket, request: IncomingMessage) => void, options?: LifecycleOptions) =>
    serve((server) => void new WebSocketServer({ server }).on('connection', opened), options)

  test('its owner hears of the end, with the code', async () => {
    const closed = vi.fn()
    const { t, open } = await serveWs((ws) => void ws.on('close', closed))
    const client = await open()
    const { report } = await notified(t)
    await client.closeFrame()
    client.close()
    await t.end(report)
    expect(closed.mock.calls.map(([code]) => code as number)).toEqual([1001])
  })

  test('a handler that closes by itself has its own code', async () => {
    const { t, open } = await serveWs((ws, request) => {
      shutdownSignalOf(request).addEventListener('abort', () => ws.close(4000, 'moved'))
    })
    const client = await open()
    const { report } = await notified(t)
    expect(await client.closeFrame()).toEqual({ code: 4000, reason: 'moved' })
    client.close(4000)
    expect(await t.end(report)).toMatchObject({ exitCode: 0, connections: { upgraded: { 'WebSocket closed 4000': 1 } } })
  })

  test('messages that wait for their compression come before the Close frame', async () => {
    const messages = Array.from({ length: 50 }, (_, index) => `${index} `.repeat(1_000))
    const { t, server } = await serve((node) => {
      const wss = new WebSocketServer({ server: node, perMessageDeflate: { threshold: 0 } })
      wss.on('connection', (ws, request) => {
        shutdownSignalOf(request).addEventListener('abort', () => {
          for (const message of messages) ws.send(message)
        })
      })
    })
    const { WebSocket } = await import('undici')
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const received: string[] = []
    client.addEventListener('message', ({ data }) => void received.push(data as string))
    await new Promise((resolve) => client.addEventListener('open', resolve))
    expect(client.extensions).toMatch(/permessage-deflate/)
    const closed = new Promise<{ code: number; reason: string; wasClean: boolean }>((resolve) => client.addEventListener('close', resolve))
    const { report } = await notified(t)
    // Compressing takes real time.
    expect(await closed).toMatchObject({ ...CLOSED, wasClean: true })
    expect(received).toEqual(messages)
    expect(await t.end(report)).toMatchObject({ exitCode: 0, connections: { upgraded: { 'WebSocket closed 1001': 1 } } })
  })

  test('is known by the symbol that `ws` keeps it under', async () => {
    const sockets: Socket[] = []
    const { open } = await serveWs((ws, { socket }) => {
      sockets.push(socket)
      ws.send('hello')
    })
    await open()
    expect(sockets.flatMap((socket) => Object.getOwnPropertySymbols(socket).map(({ description }) => description))).toContain('websocket')
    // And nothing of ours is in the way of what it writes from then on.
    expect(sockets.map((socket) => Object.hasOwn(socket, 'write'))).toEqual([false])
  })
})

describe('held by a handler that writes its own frames', () => {
  /** Hands over the socket of the one WebSocket that there is. */
  async function serveRaw(options?: LifecycleOptions) {
    let socket: Socket | undefined
    const served = await serve(
      (server) =>
        server.on('upgrade', (_request, upgraded: Socket) => {
          socket = upgraded
          upgraded.resume()
          upgraded.write(ACCEPTED)
        }),
      options,
    )
    const client = await served.open()
    return { ...served, client, socket: socket as unknown as Socket }
  }

  test('a frame that is half written is finished first', async () => {
    const { t, client, socket } = await serveRaw()
    const whole = text('in two pieces')
    socket.write(whole.subarray(0, 5))
    const { report: stopped } = await notified(t)
    socket.write(whole.subarray(5))
    expect(await client.closeFrame()).toEqual(CLOSED)
    expect(client.messages).toEqual(['in two pieces'])
    client.close()
    expect(await t.end(stopped)).toMatchObject({ connections: { upgraded: { 'WebSocket closed 1001': 1 } } })
  })

  test('a message of several frames is finished first, and nothing is sent after the Close frame', async () => {
    const { t, client, socket } = await serveRaw()
    socket.write(Buffer.from([0x01, 1, 0x61]))
    const { report: stopped } = await notified(t)
    socket.write(Buffer.from([0x00, 1, 0x62]))
    socket.write(Buffer.from([0x80, 1, 0x63]))
    const dropped = new Promise<void>((resolve) => void socket.write(text('too late'), () => resolve()))
    expect(await client.closeFrame()).toEqual(CLOSED)
    await dropped
    expect(client.messages).toEqual(['abc'])
    client.close()
    expect(await t.end(stopped)).toMatchObject({ connections: { upgraded: { 'WebSocket closed 1001': 1 } } })
  })

  test('pieces that begin and end inside frames, as a proxy writes them, are cut at the end of a message', async () => {
    const { t, client, socket } = await serveRaw()
    const bytes = Buffer.concat(Array.from({ length: 40 }, () => text('x'.repeat(100))))
    socket.write(bytes.subarray(0, 50))
    const { report: stopped } = await notified(t)
    for (let at = 50; at < bytes.length; at += 143) await new Promise((resolve) => socket.write(bytes.subarray(at, at + 143), resolve))
    expect(await client.closeFrame()).toEqual(CLOSED)
    expect(client.messages).toEqual(['x'.repeat(100)])
    client.close()
    expect(await t.end(stopped)).toMatchObject({ connections: { upgraded: { 'WebSocket closed 1001': 1 } } })
  })

  test('one that has sent its own Close frame gets no second one', async () => {
    const { t, client, socket } = await serveRaw()
    socket.write(closeFrame(1012, 'restart'))
    const { report: stopped } = await notified(t)
    expect(await client.closeFrame()).toEqual({ code: 1012, reason: 'restart' })
    client.close(1012)
    expect(await t.end(stopped)).toMatchObject({ connections: { upgraded: { 'WebSocket closed 1012': 1 } } })
  })

  test('what is not made of frames is a tunnel: it ends without one, when nothing moves any more', async () => {
    const { t, client, socket } = await serveRaw()
    socket.write('an older protocol')
    const { report: stopped } = await notified(t)
    const report = await t.end(stopped)
    expect(await client.raw.closed()).toBe('ended')
    expect(client.raw.received).toBe('an older protocol')
    expect(report).toMatchObject({ exitCode: 0, watches: { after: 0 }, connections: { idleUnnotified: 1, forced: 0 } })
  })

  test('a proxy that passes on bytes as they come is closed between two messages', async () => {
    const message = 'x'.repeat(50_000)
    const backend = createServer()
    new WebSocketServer({ server: backend }).on('connection', (ws) => {
      const sending = setInterval(() => ws.send(message), 1)
      ws.on('close', () => clearInterval(sending))
    })
    backend.listen(0, '127.0.0.1')
    onTestFinished(() => void backend.close())
    await new Promise((resolve) => backend.once('listening', resolve))
    const { t, open } = await serve((server) =>
      server.on('upgrade', (request, socket: Socket) => {
        const behind = connect({ port: (backend.address() as AddressInfo).port, host: '127.0.0.1' })
        behind.write(`GET / HTTP/1.1\r\n${request.rawHeaders.map((part, index) => (index % 2 ? `${part}\r\n` : `${part}: `)).join('')}\r\n`)
        behind.pipe(socket).pipe(behind)
      }),
    )
    const client = await open()
    await client.received(20)
    const { report } = await notified(t)
    expect(await client.closeFrame()).toEqual(CLOSED)
    client.close()
    expect(await client.raw.closed()).toBe('ended')
    expect(await t.end(report)).toMatchObject({
      exitCode: 0,
      watches: { after: 0 },
      connections: { upgraded: { 'WebSocket closed 1001': 1 } },
    })
    expect(client.messages.every((received) => received === message)).toBe(true)
  })
})

describe('an upgrade that is no WebSocket', () => {
  test('yet: closed as soon as it is one, when its turn has come before', async () => {
    let accept: () => void = () => undefined
    const { t, connectRaw } = await serve((server) =>
      server.on('upgrade', (_request, socket: Socket) => {
        socket.resume()
        accept = () => void socket.write(ACCEPTED)
      }),
    )
    const raw = await connectRaw()
    const opening = WebSocketClient.open(raw, '/slow')
    await expect.poll(() => t.life.counts().watches, POLL).toBe(1)
    const { report: stopped } = await notified(t)
    accept()
    const client = await opening
    await t.clock.advance(GRACE_MS / 4)
    expect(await client.closeFrame()).toEqual(CLOSED)
    client.close()
    expect(await t.end(stopped)).toMatchObject({
      exitCode: 0,
      watches: { after: 0 },
      connections: { upgraded: { 'WebSocket closed 1001': 1 } },
    })
  })

  test.each([
    ['and ended', 'end'],
    ['and left open', 'write'],
  ] as const)('because its library has refused it, %s: is over, and no WebSocket', async (_, how) => {
    const { t, connectRaw } = await serve((server) =>
      server.on('upgrade', (_request, socket: Socket) => {
        socket.resume()
        socket[how]('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      }),
    )
    const raw = await connectRaw()
    await expect(WebSocketClient.open(raw, '/chat')).rejects.toThrow('401')
    const report = await t.end()
    expect(await raw.closed()).toBe('ended')
    expect(report).toMatchObject({ exitCode: 0, watches: { after: 0, cut: [] }, connections: { forced: 0 } })
    expect(report.connections.upgraded).toBeUndefined()
  })

  test('because it is never answered: lost, by name', async () => {
    const { t, connectRaw } = await serve((server) => server.on('upgrade', () => undefined))
    const raw = await connectRaw()
    raw.request('GET', '/chat', { headers: HANDSHAKE })
    await expect.poll(() => t.life.counts().watches, POLL).toBe(1)
    expect(await t.end()).toMatchObject({ exitCode: 5, watches: { before: 1, after: 1, cut: [{ name: 'GET /chat' }] } })
  })

  test('but a tunnel: told by its signal, or else ended in its turn', async () => {
    const { t, connectRaw } = await serve((server) =>
      server.on('connect', (request: IncomingMessage, socket: Socket) => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        socket.resume()
        if (request.url === 'knows:1') shutdownSignalOf(request).addEventListener('abort', () => socket.end('bye'))
      }),
    )
    const [knows, other] = [await connectRaw(), await connectRaw()]
    for (const [raw, target] of [
      [knows, 'knows:1'],
      [other, 'other:1'],
    ] as const) {
      raw.send(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
      await raw.until('an answer', () => raw.received.endsWith('\r\n\r\n'))
    }
    const report = await t.end()
    expect([await knows.closed(), await other.closed()]).toEqual(['ended', 'ended'])
    expect(knows.received).toMatch(/bye$/)
    expect(report).toMatchObject({
      exitCode: 0,
      watches: { before: 2, after: 0 },
      connections: { ended: 1, idleUnnotified: 1, forced: 0 },
    })
  })

  test('whose client breaks off crashes nothing', async () => {
    const { t, server, connectRaw } = await serve((server) =>
      server.on('upgrade', (_request, socket: Socket) => void socket.resume().write(ACCEPTED)),
    )
    const errors: unknown[] = []
    server.on('connection', (socket) => socket.on('close', (hadError) => errors.push(hadError)))
    const client = await WebSocketClient.open(await connectRaw(), '/chat')
    client.raw.socket.resetAndDestroy()
    await expect.poll(() => errors, POLL).toEqual([true])
    await expect.poll(() => t.life.counts().watches, POLL).toBe(0)
    expect(await t.end()).toMatchObject({ exitCode: 0, errors: [] })
  })
})

/** An idle connection beside a request that holds the drain up, in the last call of the server. */
async function inLastCall(options: LifecycleOptions, webSockets = 0) {
  let release: () => void = () => undefined
  const { t, connectRaw, open } = await serve(
    (server) => {
      HOLDERS['the package ws'](server, (peer) => peer.send('hello'))
      server.on('request', (_, response) => {
        release = () => void response.end('ok')
      })
    },
    { lastCall: 200, ...options },
  )
  const [busy, late] = [await connectRaw(), await connectRaw()]
  const others = await Promise.all(Array.from({ length: webSockets }, () => open()))
  busy.request('GET', '/slow')
  await expect.poll(() => t.life.counts().requests, POLL).toBe(1)
  const stopped = t.life.stop()
  while (!t.hasFired('NotAcceptingNewRequest')) await t.clock.advance(1)
  return { t, late, others, release: () => release(), stopped }
}

describe('one that comes in the last call', () => {
  test.each([
    ['after those that were there', false],
    ['beside one that is there', true],
  ])('is opened, and closed with 1001: its client has lost nothing (%s)', async (_, isBeside) => {
    const { t, late, others, release, stopped } = await inLastCall({}, isBeside ? 1 : 0)
    const clients = [await WebSocketClient.open(late, '/chat'), ...others]
    await Promise.all(clients.map((client) => client.received(1)))
    await t.clock.advance(GRACE_MS / 2)
    for (const client of clients) {
      expect(await client.closeFrame()).toEqual(CLOSED)
      client.close()
      expect(await client.raw.closed()).toBe('ended')
    }
    release()
    const report = await t.end(stopped)
    expect(report).toMatchObject({ exitCode: 0, errors: [], watches: { after: 0 }, requests: { after: 0 }, connections: { forced: 0 } })
    expect(report.connections.upgraded).toEqual({ 'WebSocket closed 1001': 1 + others.length })
  })
})

describe.each([
  ['429', 'in the mode retry-after', { whileDraining: 'retry-after' }],
  ['503', 'without a grace', { watchGrace: 0 }],
] as const)('one that comes while the server drains', (status, when, options) => {
  test(`is refused by an answer on the socket: ${status} ${when}`, async () => {
    const { t, late, release, stopped } = await inLastCall(options)
    await expect(WebSocketClient.open(late, '/chat')).rejects.toThrow(status)
    expect(await late.closed()).toBe('ended')
    release()
    expect(await t.end(stopped)).toMatchObject({ exitCode: 0, watches: { before: 0 } })
  })
})
