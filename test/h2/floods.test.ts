// Floods that HTTP/2 allows and that cost their sender nothing. Fails when: a client that resets
// its streams, pings or sends settings without end is served on; one that does so as clients do is
// sent away; or other clients notice.
import { createServer } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { CALM, Calm } from '#src/http/h2/calm.ts'
import { H2Client } from '../support/h2-client.ts'
import { newAttachedLife } from '../support/life.ts'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const FRAME = { headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7 } as const
const END_STREAM_AND_HEADERS = 0x5
/** `GET http://x/`, by HPACK's static table. */
const GET = Buffer.from([0x82, 0x86, 0x84, 0x41, 0x01, 0x78])

function frame(type: number, { flags = 0, stream = 0, payload = Buffer.alloc(0) } = {}): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The code of the GOAWAY with which a connection has ended; undefined: there was none. */
async function endOf(socket: Socket): Promise<number | undefined> {
  let bytes = Buffer.alloc(0)
  let code: number | undefined
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer])
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const length = bytes.readUIntBE(0, 3)
      if (bytes[3] === FRAME.goaway) code = bytes.readUInt32BE(13)
      bytes = bytes.subarray(9 + length)
    }
  }
  return code
}

async function serve() {
  const server = createServer(() => undefined)
  const t = newAttachedLife(server, { options: { lastCall: 0, deadline: 2000 } })
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
      frame(FRAME.headers, { flags: END_STREAM_AND_HEADERS, stream, payload: GET }),
      frame(FRAME.reset, { stream, payload: Buffer.from([0, 0, 0, 8]) }),
    ])
  },
  pings: () => frame(FRAME.ping, { payload: Buffer.alloc(8) }),
  settings: () => frame(FRAME.settings),
} satisfies Record<keyof typeof CALM, (index: number) => Buffer>

describe.each(Object.entries(FLOODS))('a flood of %s', (demand, make) => {
  const { atOnce } = CALM[demand as keyof typeof CALM]

  test('ends the connection with ENHANCE_YOUR_CALM, says so once, and is no other client’s business', async () => {
    const { t, port } = await serve()
    const other = await H2Client.open(`http://127.0.0.1:${port}`)
    const socket = flooding(port)
    const ended = endOf(socket).catch(() => undefined)
    for (let index = 0; index < atOnce + 20 && socket.writable; index++) {
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
  const calm = new Calm(clock)
  const { atOnce, perSecond } = CALM.resets
  for (let index = 0; index < atOnce; index++) expect(calm.bears('resets')).toBe(true)
  expect(calm.bears('resets')).toBe(false)
  await clock.advance('1s')
  for (let index = 0; index < perSecond - 1; index++) expect(calm.bears('resets')).toBe(true)
  expect(calm.bears('resets')).toBe(false)
  expect(calm.bears('pings')).toBe(true)
})
