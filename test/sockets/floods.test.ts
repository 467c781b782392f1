// Floods that HTTP/2 allows and that cost their sender nothing. Fails when: a client that resets
// its streams, pings or sends settings without end is served on; one that does so as clients do is
// sent away, such as one that pings whenever it has got something, or a proxy; what is in flight is
// not answered, or keeps the connection for ever; or other clients notice.
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Clock } from '#src/base/clock.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { ANSWERED_IN_ADVANCE, FLOOD_LIMITS, FloodLimits, SOON_MS } from '#src/http/h2/flood-limits.ts'
import { SENT_AWAY_MS } from '#src/http/h2/patience.ts'
import { Gate } from '../conformance/stage.ts'
import { H2Client } from '../support/h2-client.ts'
import { bodyOf, FLAG, FRAME, type Frame, frame, framesOf, PREFACE, RawH2Client } from '../support/h2-frames.ts'
import { newAttachedLife } from '../support/life.ts'

type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void

/** `GET http://x/`, by HPACK's static table. */
const GET = Buffer.from([0x82, 0x86, 0x84, 0x41, 0x01, 0x78])

/** The code of the GOAWAY that has said why a connection ends; undefined: there was none. */
async function endOf(socket: Socket): Promise<number | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of socket) chunks.push(chunk as Buffer)
  } catch {
    return undefined
  }
  return framesOf(Buffer.concat(chunks)).filter(isGoaway).map(codeOf)[0]
}

const isGoaway = ({ type }: Frame): boolean => type === FRAME.goaway
const codeOf = ({ payload }: Frame): number => payload.readUInt32BE(4)

async function serve<C extends Clock = Clock>(listener: Listener = () => undefined, clock?: C) {
  const server = createServer(listener)
  const t = newAttachedLife<C>(server, { ...(clock && { clock }), options: { lastCall: 0, deadline: 2000 } })
  server.listen(0, '127.0.0.1')
  await t.life.start()
  const { port } = server.address() as AddressInfo
  return { t, port }
}

function flooding(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  socket.write(Buffer.concat([PREFACE, frame(FRAME.settings)]))
  return socket
}

const FLOODS = {
  resets: (index: number) => {
    const stream = 2 * index + 1
    return Buffer.concat([
      frame(FRAME.headers, { flags: FLAG.endStream | FLAG.endHeaders, stream, payload: GET }),
      frame(FRAME.reset, { stream, payload: Buffer.from([0, 0, 0, 8]) }),
    ])
  },
  pings: () => frame(FRAME.ping, { payload: Buffer.alloc(8) }),
  settings: () => frame(FRAME.settings),
} satisfies Record<keyof typeof FLOOD_LIMITS, (index: number) => Buffer>

describe.each(Object.entries(FLOODS))('a flood of %s', (demand, make) => {
  const { atOnce } = FLOOD_LIMITS[demand as keyof typeof FLOOD_LIMITS]

  test('ends the connection with ENHANCE_YOUR_CALM, says so once, and is no other client’s business', async () => {
    const { t, port } = await serve()
    const other = await H2Client.open(`http://127.0.0.1:${port}`)
    const socket = flooding(port)
    const ended = endOf(socket)
    // On a busy machine some of it is forgiven while it goes on.
    for (let index = 0; index < 50 * atOnce && socket.writable; index++) {
      socket.write(make(index))
      if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await ended).toBe(0xb)
    const warnings = t.events.filter((event) => event.type === 'warning')
    expect(warnings).toMatchObject([
      { message: 'clients were disconnected because of what they send', details: { why: `too many ${demand}` } },
    ])
    expect(await other.get('/readyz')).toMatchObject({ status: 200 })
    await expect.poll(() => t.life.counts()).toMatchObject({ requests: 0, connections: { open: 1 } })
  })

  test('a few at once are as clients are', async () => {
    const { t, port } = await serve()
    const socket = flooding(port)
    for (let index = 0; index < atOnce / 2; index++) socket.write(make(index))
    const client = await H2Client.open(`http://127.0.0.1:${port}`)
    await client.get('/readyz')
    expect(t.life.counts().connections.open).toBe(2)
  })
})

test('what a client has done is forgiven with time', async () => {
  const clock = new VirtualClock()
  const floodLimits = new FloodLimits(clock)
  const { atOnce, perSecond } = FLOOD_LIMITS.resets
  for (let index = 0; index < atOnce; index++) expect(floodLimits.allows('resets')).toBe(true)
  expect(floodLimits.allows('resets')).toBe(false)
  await clock.advance('1s')
  for (let index = 0; index < perSecond - 1; index++) expect(floodLimits.allows('resets')).toBe(true)
  expect(floodLimits.allows('resets')).toBe(false)
  expect(floodLimits.allows('pings')).toBe(true)
})

describe('a client that pings', () => {
  const { atOnce } = FLOOD_LIMITS.pings

  /** Such as those of gRPC, which measure their round trips. */
  test.each<[string, Listener, (client: RawH2Client, stream: number) => void]>([
    [
      'a piece of one',
      (request, response) => request.on('data', () => response.write('piece')),
      (client, stream) => {
        if (stream === 1) client.request(1, { ':method': 'POST' }, { endStream: false })
        client.send(frame(FRAME.data, { stream: 1, payload: Buffer.from('more') }))
      },
    ],
    ['one without a body', (_, response) => response.end(), (client, stream) => client.request(stream)],
  ])('whenever it has got an answer, or %s, is served on', async (_, listener, ask) => {
    const { t, port } = await serve(listener)
    const client = await RawH2Client.open(port)
    for (let round = 0; round < 2 * atOnce; round++) {
      ask(client, 2 * round + 1)
      const payload = Buffer.alloc(8)
      payload.writeUInt32BE(round)
      client.send(frame(FRAME.ping, { payload }))
      await client.until(`answer ${round}`, (one) => one.type === FRAME.ping && one.payload.readUInt32BE() === round)
    }
    expect(client.frames.some(isGoaway)).toBe(false)
    expect(t.events.filter(({ type }) => type === 'warning')).toEqual([])
  })

  test('too often has what is in flight answered first', async () => {
    const asked = new Gate()
    let answer: () => void = () => undefined
    const { t, port } = await serve((_, response) => {
      answer = () => response.end('answer')
      void asked.pass()
    })
    const client = await flooded(port, asked)
    expect(t.life.counts().requests).toBe(1)
    answer()
    expect(bodyOf(await client.answer(1))).toBe('answer')
    await client.closed()
    expect(t.events.filter(({ type }) => type === 'warning')).toHaveLength(1)
  })

  test('too often has what is in flight broken off when it takes too long', async () => {
    const asked = new Gate()
    const clock = new VirtualClock()
    const { t, port } = await serve(() => void asked.pass(), clock)
    const client = await flooded(port, asked)
    await clock.advance(SENT_AWAY_MS - 1)
    expect(t.life.counts().requests).toBe(1)
    await clock.advance(1)
    await client.closed()
  })

  test('on and on while something is in flight is disconnected', async () => {
    const asked = new Gate()
    const { t, port } = await serve(() => void asked.pass(), new VirtualClock())
    const client = await flooded(port, asked)
    for (let index = 0; index < atOnce; index++) client.send(FLOODS.pings())
    await client.closed()
    await expect.poll(() => t.life.counts()).toMatchObject({ requests: 0, connections: { open: 0 } })
  })

  /** Has one request in flight, and was told to leave. */
  async function flooded(port: number, asked: Gate): Promise<RawH2Client> {
    const client = await RawH2Client.open(port)
    client.request(1)
    await asked.reached
    client.send(Buffer.concat(Array.from({ length: atOnce + 20 }, FLOODS.pings)))
    expect(codeOf(await client.until('GOAWAY', isGoaway))).toBe(0xb)
    return client
  }
})

describe('a client that resets', () => {
  const { atOnce } = FLOOD_LIMITS.resets

  test('every other stream, as a proxy may, is served on', async () => {
    const { port } = await serve(({ url }, response) => {
      if (url === '/') response.end()
    })
    const client = await RawH2Client.open(port)
    for (let round = 0; round < 2 * atOnce; round++) {
      const stream = 4 * round + 1
      client.request(stream, { ':path': '/slow' })
      client.send(frame(FRAME.reset, { stream, payload: Buffer.from([0, 0, 0, 8]) }))
      client.request(stream + 2)
      await client.answer(stream + 2)
    }
    expect(client.frames.some(isGoaway)).toBe(false)
  })

  test('many streams at once that have lasted for a while is served on', async () => {
    const clock = new VirtualClock()
    const { t, port } = await serve(undefined, clock)
    const client = await RawH2Client.open(port)
    const streams = Array.from({ length: 2 * atOnce }, (_, index) => 2 * index + 1)
    for (const stream of streams) client.request(stream)
    await expect.poll(() => t.life.counts().requests).toBe(streams.length)
    await clock.advance(SOON_MS)
    for (const stream of streams) client.send(frame(FRAME.reset, { stream, payload: Buffer.from([0, 0, 0, 8]) }))
    await expect.poll(() => t.life.counts().requests).toBe(0)
    expect(t.events.filter(({ type }) => type === 'warning')).toEqual([])
  })
})

test('answers allow as many resets, and so many in advance', () => {
  const floodLimits = new FloodLimits(new VirtualClock())
  for (let index = 0; index < 3 * ANSWERED_IN_ADVANCE; index++) {
    floodLimits.answered()
    if (index % 2 === 0) expect(floodLimits.allows('resets')).toBe(true)
  }
  for (let index = 0; index < ANSWERED_IN_ADVANCE + FLOOD_LIMITS.resets.atOnce; index++) expect(floodLimits.allows('resets')).toBe(true)
  expect(floodLimits.allows('resets')).toBe(false)
})
