// Fails when: a client that sends nothing, half of a handshake or half of a head keeps a connection
// of a created server longer than it may, before its end or through it; or HTTP/2 is spoken where
// it was not asked for.
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { nodeServers, type ServerFactories } from '#src/actors/server-factories.ts'
import { systemClock } from '#src/base/clock.ts'
import { createServerOn } from '#src/create-server.ts'
import type { ServerOptions } from '#src/options/options.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { pairFor } from '../support/certificates.ts'
import { newLife } from '../support/life.ts'
import { row } from '../support/row.ts'

const PAIR = pairFor({ names: ['localhost'] })
/** The beginning of a ClientHello. */
const HALF_HELLO = Buffer.from('160301020001', 'hex')
const HALF_HEAD = 'GET / HTTP/1.1\r\nHost: x\r\n'

interface Peer {
  readonly socket: Socket
  /** What it was sent until the server closed the connection. */
  readonly ended: Promise<string>
}

async function peer(port: number, sent: string | Buffer): Promise<Peer> {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.on('data', (chunk) => {
    received += String(chunk)
  })
  socket.on('error', () => undefined)
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(received)))
  await new Promise((resolve) => socket.once('connect', resolve))
  if (sent.length > 0) socket.write(sent)
  return { socket, ended }
}

describe('a client of a created server has a bound', () => {
  row('SS-11', 'for the head of a request, and before its first byte', async () => {
    const rig = newLife({ options: { headersTimeout: '200ms' } })
    await rig.life.start()
    const [half, silent] = [await peer(rig.port, HALF_HEAD), await peer(rig.port, '')]
    expect(await half.ended).toMatch(/^HTTP\/1\.1 408 /)
    expect(await silent.ended).toMatch(/^HTTP\/1\.1 408 /)
  })

  test.each([true, false])('for the head of a request over TLS, with HTTP/2 %s', async (http2) => {
    const rig = newLife({ options: { tls: PAIR, http2, headersTimeout: '200ms' } })
    await rig.life.start()
    const socket = connectSecurely({ port: rig.port, host: '127.0.0.1', rejectUnauthorized: false }, () => void socket.write(HALF_HEAD))
    const received = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))))
    expect(received).toMatch(/^HTTP\/1\.1 408 /)
    socket.destroy()
  })

  row('SS-12', 'for the time between two requests', async () => {
    const rig = newLife({ options: { keepAliveTimeout: '200ms' } })
    await rig.life.start()
    const idle = await peer(rig.port, `${HALF_HEAD}\r\n`)
    expect(await idle.ended).toMatch(/^HTTP\/1\.1 200 /)
  })

  row('SS-10', 'for the size of a head', async () => {
    const rig = newLife()
    await rig.life.start()
    const large = await peer(rig.port, `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(1_048_577)}\r\n\r\n`)
    expect(await large.ended).toMatch(/^HTTP\/1\.1 431 /)
  })

  test.each(['', HALF_HELLO])('for a TLS handshake of which %j was sent', async (sent) => {
    const rig = newLife({ options: { tls: PAIR, headersTimeout: '200ms' } })
    await rig.life.start()
    const { ended } = await peer(rig.port, sent)
    await ended
    await vi.waitFor(() => expect(rig.life.counts().connections.open).toBe(0))
  })
})

describe('many handshakes that never end', () => {
  const MANY = 300

  test.each(['', HALF_HELLO])('are counted, bounded and named at the end, of which %j was sent', async (sent) => {
    const rig = newLife({ options: { tls: PAIR, deadline: '20s' } })
    await rig.life.start()
    const peers = await Promise.all(Array.from({ length: MANY }, () => peer(rig.port, sent)))
    await vi.waitFor(() => expect(rig.life.counts().connections.open).toBe(MANY), { timeout: 10_000 })
    const report = await rig.end()
    expect(report).toMatchObject({ exitCode: 0, forced: null })
    await Promise.all(peers.map(({ ended }) => ended))
    const named = JSON.stringify(report)
    expect(named).toContain('TLS handshake')
    expect(rig.sinceStop('Ended')).toBeLessThan(10_000)
  })
})

const chosen = (port: number, ALPNProtocols: string[]): Promise<string | false | null> =>
  new Promise((resolve, reject) => {
    const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols }, () => {
      resolve(socket.alpnProtocol)
      socket.destroy()
    })
    socket.once('error', reject)
  })

row('SS-13', 'without HTTP/2, HTTP/1.1 is chosen by a client that offers both', async () => {
  const rig = newLife({ options: { tls: PAIR, http2: false } })
  await rig.life.start()
  expect(await chosen(rig.port, ['h2', 'http/1.1'])).toBe('http/1.1')
})

test('with TLS, HTTP/2 is chosen by a client that offers it, and HTTP/1.1 by one that does not', async () => {
  const rig = newLife({ options: { tls: PAIR } })
  await rig.life.start()
  expect(await chosen(rig.port, ['h2', 'http/1.1'])).toBe('h2')
  expect(await chosen(rig.port, ['http/1.1'])).toBe('http/1.1')
})

/** The limits of the server that node makes with these options. */
async function limitsOf(options: ServerOptions): Promise<object> {
  const made: Server[] = []
  const seen = <S>(server: S): S => {
    made.push(server as unknown as Server)
    return server
  }
  const servers: ServerFactories = {
    ...nodeServers,
    http: async (...args) => seen(await nodeServers.http(...args)),
    https: async (...args) => seen(await nodeServers.https(...args)),
    http2Secure: async (...args) => seen(await nodeServers.http2Secure(...args)),
  }
  const host = { clock: systemClock, random: () => 0, process: new FakeProcess().asHostProcess(), servers }
  const common = { port: 0, host: '127.0.0.1', logger: false, exit: 'natural' } as const
  await using life = createServerOn(host, { listener: () => undefined }, { ...common, ...options })
  await life.start()
  const [{ headersTimeout, requestTimeout, keepAliveTimeout }] = made as [Server]
  return { headersTimeout, requestTimeout, keepAliveTimeout }
}

test('the limits of a created server are those of the options, and node has no objection to them', async () => {
  const ours = { headersTimeout: 32_000, requestTimeout: 300_000, keepAliveTimeout: 75_000 }
  expect(await limitsOf({})).toEqual(ours)
  expect(await limitsOf({ tls: PAIR, http2: false })).toEqual(ours)
  expect(await limitsOf({ tls: PAIR })).toEqual(ours)
  expect(await limitsOf({ tls: PAIR, serverOptions: { headersTimeout: 1_000 } })).toEqual({ ...ours, headersTimeout: 1_000 })
  expect(await limitsOf({ headersTimeout: '10m' })).toEqual({ ...ours, headersTimeout: 600_000, requestTimeout: 600_000 })
  // Node refuses a head that may take longer than its request.
  expect(await limitsOf({ serverOptions: { requestTimeout: 20_000 } })).toEqual({ ...ours, headersTimeout: 20_000, requestTimeout: 20_000 })
  expect(await limitsOf({ serverOptions: { requestTimeout: 0, headersTimeout: 1_000 } })).toEqual({
    ...ours,
    headersTimeout: 1_000,
    requestTimeout: 0,
  })
})
