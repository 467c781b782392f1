// CONNECT over HTTP/2, plain and with `:protocol` (RFC 8441: WebSocket over HTTP/2), and what tells
// a client to go on with a body. Fails when: a tunnel is counted as a request, is not told,
// outlives its grace, or has an exit code; one is let in while draining, or one that no handler
// takes stays; a request that is refused is told to send its body; or what was sent in part stays
// counted.
import { createSecureServer, createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect as connectSocket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock } from '#src/base/clock.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type LifecycleOptions, shutdownSignalOf } from '#src/index.ts'
import { Gate } from '../conformance/stage.ts'
import { Dam, ofOurs } from '../conformance/transports.ts'
import { pairFor } from '../support/certificates.ts'
import { answerOf, H2Client } from '../support/h2-client.ts'
import { bodyOf, FRAME, frame, RawH2Client } from '../support/h2-frames.ts'
import { newAttachedLife, newLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { POLL } from '../support/upstream-client.ts'

const PAIR = pairFor({ names: ['localhost'] })
const CANCEL = 0x8

async function serve(server: Http2Server, options: LifecycleOptions = {}, clock: Clock = systemClock) {
  const t = newAttachedLife(server, { clock, options: { lastCall: 0, ...options } })
  server.listen(0, '127.0.0.1')
  await t.life.start()
  const { port } = server.address() as AddressInfo
  return { t, port, open: () => H2Client.open(`http://127.0.0.1:${port}`) }
}

const KINDS = [
  ['CONNECT', 'CONNECT there:1', { ':method': 'CONNECT', ':authority': 'there:1' }],
  [
    'extended CONNECT',
    'CONNECT /chat',
    { ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':path': '/chat', ':authority': 'here' },
  ],
] as const

/** Echoes what it is sent, and says goodbye when it is told to end unless it is to stay. */
const echoing = (stays = false): Http2Server => {
  const server = createServer({ settings: { enableConnectProtocol: true } })
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    if (headers[':method'] !== 'CONNECT') return stream.respond({ ':status': 200 }, { endStream: true })
    stream.on('error', () => undefined)
    stream.respond({ ':status': 200 })
    stream.on('data', (chunk: Buffer) => stream.write(chunk))
    const signal = shutdownSignalOf(stream)
    if (!stays) signal.addEventListener('abort', () => stream.end('bye'))
  })
  return server
}

describe.each(KINDS)('%s', (_, name, head) => {
  test('is a watch from its head on, goes both ways, and is told to end', async () => {
    const { t, open } = await serve(echoing(), { watchGrace: 2000 })
    const tunnel = (await open()).stream(head)
    const answer = answerOf(tunnel.on('end', () => void tunnel.end()))
    tunnel.write('ping ')
    await new Promise((resolve) => tunnel.once('data', resolve))
    expect(t.life.counts()).toMatchObject({ requests: 0, watches: 1, connections: { idle: 0 } })
    const report = await t.end()
    expect(await answer).toMatchObject({ status: 200, body: 'ping bye', code: 0 })
    expect(report).toMatchObject({ exitCode: 0, requests: { before: 0 }, watches: { before: 1, after: 0 }, connections: { forced: 0 } })
  })

  test('that does not end is broken off with its grace, by name and without cost; the rest of its connection goes on', async () => {
    const { t, open } = await serve(echoing(true), { watchGrace: 100 })
    const one = await open()
    const tunnel = one.stream(head)
    const answer = answerOf(tunnel)
    tunnel.write('ping')
    await new Promise((resolve) => tunnel.once('data', resolve))
    const report = await t.end()
    expect(await answer).toMatchObject({ status: 200, body: 'ping', code: 2 })
    expect(report).toMatchObject({
      exitCode: 0,
      watches: { before: 1, after: 1, cut: [{ name }] },
      connections: { notified: 1, forced: 0 },
    })
  })

  test('that comes while new ones are refused is answered, and no handler sees it', async () => {
    const { t, open, slow, seen } = await holding({ whileDraining: 'retry-after' })
    const { ended, answer } = await slow(open)
    const late = answerOf((await open()).stream(head))
    expect(await late).toMatchObject({ status: 429, code: 0 })
    expect(seen).toEqual(['/slow'])
    await answer()
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, watches: { before: 0, after: 0 }, connections: { forced: 0 } })
  })
})

/** A server whose life goes on while it drains, because of one request. */
async function holding(
  options: LifecycleOptions,
  server: Http2Server = createServer({ settings: { enableConnectProtocol: true } }),
  // A client that connects late is told to leave a little later: not before it has asked.
  clock = new VirtualClock(),
) {
  const gate = new Gate()
  const seen: string[] = []
  server.on('stream', async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    seen.push(headers[':path'] ?? '')
    await gate.pass()
    stream.respond({ ':status': 200 }, { endStream: true })
  })
  const { t, port, open } = await serve(server, options, clock)
  const slow = async (from: () => Promise<H2Client>) => {
    const asked = (await from()).get('/slow')
    await gate.reached
    const ended = t.life.stop()
    while (!t.hasFired('NotAcceptingNewRequest')) await clock.advance(1)
    const answer = async (): Promise<void> => {
      gate.open()
      expect(await asked).toMatchObject({ status: 200, code: 0 })
    }
    return { ended, answer }
  }
  return { t, port, open, slow, seen }
}

describe('a CONNECT that no handler takes', () => {
  const PLAIN = KINDS[0][2]

  test('is answered 405 by node, on a server of the user’s own and on a created one', async () => {
    const own = await serve(createServer((_, response) => void response.end('ok')))
    const created = newLife({ options: { http2: true, lastCall: 0 } })
    await created.life.start()
    for (const [port, { life }] of [
      [own.port, own.t],
      [created.port, created],
    ] as const) {
      const one = await H2Client.open(`http://127.0.0.1:${port}`)
      expect(await answerOf(one.stream(PLAIN, true))).toMatchObject({ status: 405, code: 0 })
      await expect.poll(() => life.counts(), POLL).toMatchObject({ requests: 0, watches: 0 })
      expect(await one.get('/')).toMatchObject({ status: 200 })
      expect(one.session.remoteSettings.enableConnectProtocol).toBe(false)
    }
  })

  test('is taken by a listener for connect, with node’s objects', async () => {
    const server = createServer(() => undefined)
    server.on('connect', (_request, response) => void response.end('taken'))
    const { t, open } = await serve(server)
    expect(await answerOf((await open()).stream(PLAIN, true))).toMatchObject({ status: 200, body: 'taken', code: 0 })
    await expect.poll(() => t.life.counts(), POLL).toMatchObject({ requests: 0, watches: 0 })
  })
})

describe('Expect: 100-continue of a request that is refused', () => {
  const POST = { ':method': 'POST', expect: '100-continue', 'content-length': '5000' }
  /** Heads that were sent for one stream: one that says 100 comes before the answer. */
  const heads = async (one: RawH2Client): Promise<number> => {
    one.request(1, POST, { endStream: false })
    const frames = await one.answer(1)
    return frames.filter(({ type }) => type === FRAME.headers).length
  }

  test('gets 429 and no 100, where one that is let in gets both', async () => {
    const { t, port, open, slow } = await holding({ whileDraining: 'retry-after', exempt: ['/exempt'] })
    const { ended, answer } = await slow(open)
    const one = await RawH2Client.open(port)
    expect(await heads(one)).toBe(1)
    const refused = await H2Client.open(`http://127.0.0.1:${port}`)
    const stream = refused.stream({ ':path': '/', ...POST })
    let isContinued = false
    stream.on('continue', () => (isContinued = true))
    expect(await answerOf(stream)).toMatchObject({ status: 429 })
    expect(isContinued).toBe(false)
    await answer()
    expect(await t.end(ended)).toMatchObject({ exitCode: 0 })
    expect(t.life.counts().rejected).toMatchObject({ 'retry-after': 2 })
    const letIn = await serve(createServer((request, response) => void request.resume().on('end', () => response.end('ok'))))
    const other = await RawH2Client.open(letIn.port)
    other.request(1, { ':method': 'POST', expect: '100-continue' }, { endStream: false })
    await other.until('a head', ({ type }) => type === FRAME.headers)
    other.send(frame(FRAME.data, { stream: 1, flags: 1, payload: Buffer.from('body') }))
    const frames = await other.answer(1)
    expect({ heads: frames.filter(({ type }) => type === FRAME.headers).length, body: bodyOf(frames) }).toEqual({ heads: 2, body: 'ok' })
  })

  test('gets 503 and no 100, of a client whose handshake ends when no connection is accepted any more', async () => {
    const server = createSecureServer({ ...PAIR }) as unknown as Http2Server
    // A handshake that is under way has a second, which does not pass here however busy the machine
    // is.
    const clock = new VirtualClock()
    const { t, port, slow } = await holding({}, server, clock)
    const { dam, secure } = handshake(port)
    await expect.poll(() => t.life.counts().connections.open, POLL).toBe(1)
    const { ended, answer } = await slow(() => H2Client.open(`https://127.0.0.1:${port}`))
    dam.open()
    await new Promise((resolve) => secure.once('secureConnect', resolve))
    const one = await RawH2Client.on(RawClient.on(secure))
    expect(await heads(one)).toBe(1)
    let isClosed = false
    const closed = one.closed().finally(() => {
      isClosed = true
    })
    while (!isClosed) await clock.advance(1)
    expect(await closed).toBe('ended')
    await answer()
    expect(await t.end(ended)).toMatchObject({ exitCode: 0 })
    expect(t.life.counts().rejected).toMatchObject({ 'not-accepting': 1 })
  })
})

/** A handshake of which a part is sent; the rest when the dam is opened. */
function handshake(port: number) {
  const socket = connectSocket({ port, ...ofOurs })
  const dam = new Dam(socket, 40)
  const secure = connectSecurely({ socket: dam, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  secure.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return { dam, secure }
}

test('a request whose client breaks it off in its body is over, also for the drain', async () => {
  let bytes = 0
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (bytes += chunk.length))
    request.on('aborted', () => response.end())
  })
  const { t, open } = await serve(server)
  const one = await open()
  const stream = one.stream({ ':path': '/', ':method': 'POST' })
  stream.write('half')
  await expect.poll(() => bytes, POLL).toBe(4)
  expect(t.life.counts().requests).toBe(1)
  stream.close(CANCEL)
  await expect.poll(() => t.life.counts().requests, POLL).toBe(0)
  expect(await t.end()).toMatchObject({ exitCode: 0, requests: { before: 0, after: 0 } })
})
