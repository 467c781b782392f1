// Floods that HTTP/2 allows and that cost their sender nothing. Fails when: a client that resets
// its streams, pings or sends settings without end is served on; one that does so as clients do is
// sent away; or other clients notice.
import { createServer } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { FLOOD_LIMITS, FloodLimits } from '#src/http/h2/flood-limits.ts'
import { H2Client } from '../support/h2-client.ts'
import { FLAG, FRAME, frame, framesOf, PREFACE } from '../support/h2-frames.ts'
import { newAttachedLife } from '../support/life.ts'

/** `GET http://x/`, by HPACK's static table. */
const GET = Buffer.from([0x82, 0x86, 0x84, 0x41, 0x01, 0x78])

/** The code of the GOAWAY with which a connection has ended; undefined: there was none. */
async function endOf(socket: Socket): Promise<number | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of socket) chunks.push(chunk as Buffer)
  } catch {
    return undefined
  }
  const goaway = framesOf(Buffer.concat(chunks)).findLast(({ type }) => type === FRAME.goaway)
  return goaway?.payload.readUInt32BE(4)
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
