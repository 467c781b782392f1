// What a created server allows one client of HTTP/2 (upstream's numbers), seen from that
// client. Fails when: it is not told a limit, or a limit is not kept; an idle connection stays, or
// one that is not idle is closed; a server of the user's own is changed; or an option of
// `node:http2` does not take precedence.
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { ServerOptions } from '#src/options/options.ts'
import { Gate } from '../conformance/stage.ts'
import { pairFor } from '../support/certificates.ts'
import { H2Client } from '../support/h2-client.ts'
import { bodyOf, FRAME, RawH2Client } from '../support/h2-frames.ts'
import { newAttachedLife, newLife } from '../support/life.ts'
import { connectTo } from '../support/raw-client.ts'
import { row } from '../support/row.ts'
import { POLL } from '../support/upstream-client.ts'

const KIB = 1024
const PAIR = pairFor({ names: ['localhost'] })
const ENHANCE_YOUR_CALM = 0xb
const REFUSED_STREAM = 0x7

const created = async (options: ServerOptions = {}, listener?: Parameters<typeof newLife>[0]) => {
  const t = newLife({ ...listener, options: { http2: true, lastCall: 0, ...options } })
  await t.life.start()
  return t
}

/** What a client is told on a new connection, and may send on all of its streams together. */
async function notified(url: string) {
  const { session } = await H2Client.open(url)
  await expect.poll(() => session.state.remoteWindowSize, POLL).not.toBe(64 * KIB - 1)
  const { maxConcurrentStreams, initialWindowSize, maxFrameSize, maxHeaderListSize } = session.remoteSettings
  return { maxConcurrentStreams, initialWindowSize, maxFrameSize, maxHeaderListSize, window: session.state.remoteWindowSize }
}

describe('the settings of a created server', () => {
  const OURS = {
    maxConcurrentStreams: 100,
    initialWindowSize: 256 * KIB,
    maxFrameSize: 256 * KIB,
    maxHeaderListSize: 1024 * KIB,
    window: 25_600 * KIB,
  }

  test.each([
    ['h2c', 'http', {}],
    ['TLS', 'https', { tls: PAIR }],
  ] as const)('are upstream’s, over %s', async (_, scheme, options) => {
    const { port } = await created(options)
    expect(await notified(`${scheme}://127.0.0.1:${port}`)).toEqual(OURS)
  })

  test('are those of the options, and what node:http2 is given comes first', async () => {
    const options = { maxConcurrentStreams: 3, streamBuffer: 32 * KIB, maxHeaderSize: 20_000 }
    const { port } = await created(options)
    const given = { maxConcurrentStreams: 3, initialWindowSize: 32 * KIB, maxFrameSize: 32 * KIB, maxHeaderListSize: 20_000 }
    expect(await notified(`http://127.0.0.1:${port}`)).toEqual({ ...given, window: 96 * KIB })
    const { port: other } = await created({
      ...options,
      serverOptions: { settings: { maxConcurrentStreams: 5, maxHeaderListSize: 30_000 } },
    })
    expect(await notified(`http://127.0.0.1:${other}`)).toEqual({
      ...given,
      maxConcurrentStreams: 5,
      maxHeaderListSize: 30_000,
      window: 160 * KIB,
    })
  })
})

describe('one stream too many', () => {
  const hanging = async () => {
    const gate = new Gate()
    const t = await created(
      { maxConcurrentStreams: 2 },
      {
        listener: async (_, response) => {
          await gate.pass()
          response.end('late')
        },
      },
    )
    return { t, gate }
  }

  test('waits at a client that keeps to what it is told, and is answered', async () => {
    const { t, gate } = await hanging()
    const one = await H2Client.open(`http://127.0.0.1:${t.port}`)
    const answers = Array.from({ length: 3 }, () => one.get('/'))
    await expect.poll(() => t.life.counts().requests, POLL).toBe(2)
    gate.open()
    for (const { status, code } of await Promise.all(answers)) expect({ status, code }).toEqual({ status: 200, code: 0 })
  })

  test('is refused to one that has not heard of it yet, and may be sent again', async () => {
    const { t, gate } = await hanging()
    const one = await RawH2Client.open(t.port, { acknowledges: false })
    for (const stream of [1, 3, 5]) one.request(stream)
    const [reset] = await one.answer(5)
    expect({ type: reset?.type, code: reset?.payload.readUInt32BE() }).toEqual({ type: FRAME.reset, code: REFUSED_STREAM })
    expect(t.life.counts().requests).toBe(2)
    gate.open()
    expect(bodyOf(await one.answer(3))).toBe('late')
  })
})

row('SS-10', 'the head of a request has 1 MiB, over HTTP/2 with frames that are as large', async () => {
  const { port } = await created()
  const ask = async (bytes: number) => {
    const one = await RawH2Client.open(port)
    const names = Array.from({ length: Math.ceil(bytes / 60_000) }, (_, index) => `x-large-${index}`)
    one.requestInFrames(1, Object.fromEntries(names.map((name) => [name, 'x'.repeat(bytes / names.length)])), 250 * KIB)
    return one.answer(1)
  }
  expect(bodyOf(await ask(1_000_000))).toBe('hello')
  const [reset] = await ask(1_100_000)
  expect({ type: reset?.type, code: reset?.payload.readUInt32BE() }).toEqual({ type: FRAME.reset, code: ENHANCE_YOUR_CALM })
})

describe('maxHeaderSize', () => {
  const status = async (options: ServerOptions) => {
    const { port } = await created({ http2: false, ...options })
    const client = await connectTo(port)
    return (await client.ask('GET', '/', { headers: { 'X-Large': 'x'.repeat(40_000) } })).status
  }

  test('is also for HTTP/1.1, whose default is node’s', async () => {
    expect(await status({})).toBe(431)
    expect(await status({ maxHeaderSize: 64 * KIB })).toBe(200)
    expect(await status({ maxHeaderSize: 20_000, serverOptions: { maxHeaderSize: 64 * KIB } })).toBe(200)
  })
})

describe('an idle connection of a created server', () => {
  const rig = async (options: ServerOptions = {}) => {
    const gate = new Gate()
    const t = newLife({
      clock: new VirtualClock(),
      listener: async (request, response) => {
        if (request.url === '/slow') await gate.pass()
        response.end('ok')
      },
      options: { http2: true, lastCall: 0, ...options },
    })
    await t.life.start()
    return { t, gate, open: () => H2Client.open(`http://127.0.0.1:${t.port}`) }
  }

  row('SS-12', 'is told by GOAWAY after its time, and closed, also when it pings', async () => {
    const { t, open } = await rig()
    const [unused, used] = [await open(), await open()]
    await expect.poll(() => t.life.counts().connections.open, POLL).toBe(2)
    await t.clock.advance('74s')
    expect(await used.get('/')).toMatchObject({ status: 200 })
    await new Promise((resolve) => unused.session.ping(resolve))
    await t.clock.advance('1s')
    await expect.poll(() => unused.goaways[0], POLL).toEqual({ code: 0, lastStream: 0 })
    await t.clock.advance('1s')
    await unused.closed
    expect(used.goaways).toEqual([])
    await t.clock.advance('73s')
    await expect.poll(() => used.goaways[0], POLL).toEqual({ code: 0, lastStream: 1 })
    await t.clock.advance('1s')
    await used.closed
    await expect.poll(() => t.life.counts().connections.open, POLL).toBe(0)
  })

  test('is none while a request is under way', async () => {
    const { t, gate, open } = await rig({ keepAliveTimeout: '10s' })
    const one = await open()
    const answer = one.get('/slow')
    await gate.reached
    await t.clock.advance('5m')
    expect(one.goaways).toEqual([])
    gate.open()
    expect(await answer).toMatchObject({ status: 200, body: 'ok' })
    await t.clock.advance('9s')
    expect(await one.get('/')).toMatchObject({ status: 200 })
    await t.clock.advance('10s')
    await expect.poll(() => one.goaways[0], POLL).toEqual({ code: 0, lastStream: 3 })
  })

  test('stays with keepAliveTimeout: 0, and on a server that is not ours', async () => {
    const { t, open } = await rig({ keepAliveTimeout: 0 })
    const server = createServer((_, response) => void response.end('ok'))
    const other = newAttachedLife(server, { clock: t.clock, options: { lastCall: 0 } })
    server.listen(0, '127.0.0.1')
    await other.life.start()
    const clients = [await open(), await H2Client.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)]
    await t.clock.advance('24h')
    for (const one of clients) {
      expect(await one.get('/')).toMatchObject({ status: 200 })
      expect(one.goaways).toEqual([])
    }
  })
})

test('an attached server keeps the settings that its owner has given it, or node', async () => {
  const server = createServer({ settings: { maxConcurrentStreams: 7 } }, (_, response) => void response.end('ok'))
  const bare = createServer(() => undefined)
  const t = newAttachedLife(server)
  for (const one of [server, bare]) one.listen(0, '127.0.0.1')
  await t.life.start()
  const settings = async ({ address }: { address(): unknown }) =>
    (await H2Client.open(`http://127.0.0.1:${(address() as AddressInfo).port}`)).session.remoteSettings
  const [ours, nodes] = [await settings({ address: () => server.address() }), await settings({ address: () => bare.address() })]
  expect(ours).toEqual({ ...nodes, maxConcurrentStreams: 7 })
  bare.close()
})
