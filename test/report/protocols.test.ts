// What a life says its connections speak, against what their clients know of it: HTTP/1.1, HTTPS,
// HTTP/2 with and without TLS, WebSockets, tunnels and handshakes that never end, in one life.
// Fails when: a kind is counted twice, not at all, or under what it spoke before; a metric, gauge,
// log line, page or report names something without its protocol; or a handshake that never ends
// has no name, or holds the end up.
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createHttp2, createSecureServer } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { connect as connectSecurely, type SecureVersion } from 'node:tls'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { nameWithProtocol, type ProtocolCount, type ProtocolFates, protocolLabel } from '#src/base/protocol.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type LifecycleOptions, printReport } from '#src/index.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import { reportPage } from '#src/report/report-page.ts'
import { drainLines } from '#src/terminal/drain-lines.ts'
import { H2Client } from '../support/h2-client.ts'
import { newAttachedLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { fresh, POLL } from '../support/upstream-client.ts'
import { WebSocketClient } from '../support/web-socket-client.ts'

const file = (name: string): Buffer => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url))
const schema = JSON.parse(readFileSync(new URL('../../schema/report.schema.json', import.meta.url), 'utf8')) as object
const isReport = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(schema)

/** The beginning of a ClientHello. */
const HALF_HELLO = Buffer.from('160301020001', 'hex')
const SWITCHED =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'

const answer = (request: { readonly url?: string | undefined }, response: { end(body: string): unknown }): Promise<void> | undefined => {
  if (request.url?.startsWith('/hang')) return new Promise(() => {})
  response.end('hello')
  return undefined
}

/** Three servers as one unit: plain, h2c, and TLS with HTTP/2 beside HTTP/1.1. */
async function serve(options: LifecycleOptions = {}) {
  const plain = createServer(answer)
  const h2c = createHttp2(answer)
  const secure = createSecureServer({ key: file('key.pem'), cert: file('cert.pem'), allowHTTP1: true }, answer)
  for (const server of [plain, secure as unknown as Server]) {
    server.on('upgrade', (_request, socket) => void socket.on('error', () => undefined).write(SWITCHED))
    server.on('connect', (_request, socket) => void socket.on('error', () => undefined).write('HTTP/1.1 200 Open\r\n\r\n'))
  }
  const servers = [plain, h2c, secure]
  for (const server of servers) {
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
  }
  const t = newAttachedLife(servers, {
    clock: new VirtualClock(),
    options: { lastCall: 0, deadline: '5s', watchGrace: '1s', admin: { port: 0, host: '127.0.0.1' }, ...options },
  })
  await t.life.start()
  const [http, http2, https] = servers.map((server) => (server.address() as AddressInfo).port) as [number, number, number]
  return { t, life: t.life as unknown as Lifecycle, http, http2, https }
}
type Rig = Awaited<ReturnType<typeof serve>>

async function overTls(port: number, maxVersion: SecureVersion = 'TLSv1.3'): Promise<RawClient> {
  const half = { allowHalfOpen: true }
  const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], maxVersion, ...half })
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  const client = RawClient.on(socket)
  onTestFinished(() => client.abort())
  return client
}

async function plainly(port: number): Promise<RawClient> {
  const client = await RawClient.open({ port })
  onTestFinished(() => client.abort())
  return client
}

/** Sends the beginning of a handshake, and nothing else. */
async function halfHandshake(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(HALF_HELLO)
  return socket
}

const idle = async (client: RawClient): Promise<void> => void (await client.ask('GET', '/'))

/** One of each that rests, and returns what there is. */
async function oneOfEach({ http, http2, https }: Rig): Promise<ProtocolCount[]> {
  await idle(await plainly(http))
  await idle(await overTls(https))
  await idle(await overTls(https, 'TLSv1.2'))
  await (await H2Client.open(`http://127.0.0.1:${http2}`)).get('/')
  await (await H2Client.open(`https://127.0.0.1:${https}`)).get('/')
  await WebSocketClient.open(await plainly(http), '/feed')
  await WebSocketClient.open(await overTls(https), '/feed')
  const tunnel = await plainly(http)
  tunnel.request('CONNECT', 'db:5432')
  await tunnel.until('an open tunnel', () => tunnel.received.includes('200 Open'))
  await halfHandshake(https)
  return [
    { protocol: 'HTTP/1.1', tls: 'none', open: 1 },
    { protocol: 'HTTP/1.1', tls: 'TLSv1.3', open: 1 },
    { protocol: 'HTTP/1.1', tls: 'TLSv1.2', open: 1 },
    { protocol: 'HTTP/2', tls: 'none', open: 1 },
    { protocol: 'HTTP/2', tls: 'TLSv1.3', open: 1 },
    { protocol: 'WebSocket', tls: 'none', open: 1 },
    { protocol: 'WebSocket', tls: 'TLSv1.3', open: 1 },
    { protocol: 'tunnel', tls: 'none', open: 1 },
    { protocol: 'TLS handshake', tls: 'pending', open: 1 },
  ]
}

const sorted = (counts: readonly ProtocolCount[]): string[] =>
  counts.map(({ protocol, tls, open }) => `${protocol} ${tls} ${open}`).toSorted()
const openNow = ({ t }: Rig): string[] => sorted(t.life.counts().connections.byProtocol)

/** The metric as a scraper reads it. */
async function scraped({ t }: Rig): Promise<string[]> {
  const admin = t.events.find((event) => event.type === 'listening' && event.admin) as unknown as { readonly port: number }
  const { body } = await fresh(admin.port, '/metrics')
  expect(body).toContain('# TYPE quiesce_connections gauge\n')
  return Array.from(body.matchAll(/^quiesce_connections\{protocol="(.*)",tls="(.*)"\} (\d+)$/gm), ([, protocol, tls, open]) =>
    [protocol, tls, open].join(' '),
  ).toSorted()
}

/** In the order of their names: which connection was seen first is not to be known. */
const byName = (fates: readonly ProtocolFates[] = []): ProtocolFates[] =>
  fates.toSorted((a, b) => `${a.protocol} ${a.tls}`.localeCompare(`${b.protocol} ${b.tls}`))

describe('connections by what they speak', () => {
  test('are counted from their beginning to their end: by counts, gauges and the metric', async () => {
    const rig = await serve()
    const opened = await oneOfEach(rig)
    await expect.poll(() => openNow(rig), POLL).toEqual(sorted(opened))
    expect(sorted(rig.life.status.gauges().connections.byProtocol ?? [])).toEqual(sorted(opened))
    expect(await scraped(rig)).toEqual(sorted(opened))

    // One more of a kind, which goes again; its count stays, for a scraper.
    const more = await overTls(rig.https, 'TLSv1.2')
    await idle(more)
    await expect.poll(() => openNow(rig), POLL).toContain('HTTP/1.1 TLSv1.2 2')
    more.abort()
    await expect.poll(() => openNow(rig), POLL).toEqual(sorted(opened))

    const report = await rig.t.end()
    expect(openNow(rig)).toEqual([])
    const atStop = (report.connections.byProtocol ?? []).map(({ protocol, tls, open }) => ({ protocol, tls, open }))
    expect(sorted(atStop)).toEqual(sorted(opened))
  })

  test('end as the report says: the kinds add up to the sums, and each is what its client saw', async () => {
    const rig = await serve()
    await oneOfEach(rig)
    const report = await rig.t.end()
    expect(isReport(JSON.parse(JSON.stringify(report))), JSON.stringify(isReport.errors)).toBe(true)
    const { byProtocol = [], notified, idleUnnotified, ended, forced } = report.connections
    const sum = (of: 'notified' | 'idleUnnotified' | 'ended' | 'forced'): number =>
      byProtocol.reduce((total, fates) => total + fates[of], 0)
    expect({ notified: sum('notified'), idleUnnotified: sum('idleUnnotified'), ended: sum('ended'), forced: sum('forced') }).toEqual({
      notified,
      idleUnnotified,
      ended,
      forced,
    })
    const none = { open: 1, notified: 0, idleUnnotified: 0, ended: 0, forced: 0 }
    expect(byName(byProtocol)).toEqual(
      byName([
        { protocol: 'HTTP/1.1', tls: 'none', ...none, idleUnnotified: 1 },
        { protocol: 'HTTP/1.1', tls: 'TLSv1.3', ...none, idleUnnotified: 1 },
        { protocol: 'HTTP/1.1', tls: 'TLSv1.2', ...none, idleUnnotified: 1 },
        { protocol: 'HTTP/2', tls: 'none', ...none, notified: 1 },
        { protocol: 'HTTP/2', tls: 'TLSv1.3', ...none, notified: 1 },
        { protocol: 'WebSocket', tls: 'none', ...none, forced: 1 },
        { protocol: 'WebSocket', tls: 'TLSv1.3', ...none, forced: 1 },
        { protocol: 'tunnel', tls: 'none', ...none, idleUnnotified: 1 },
        { protocol: 'TLS handshake', tls: 'pending', ...none, idleUnnotified: 1 },
      ]),
    )
    // For people, in every form.
    const text: string[] = []
    printReport(report, { stream: { write: (part) => text.push(part), columns: 300 } })
    for (const said of [text.join(''), reportPage(report)]) {
      expect(said).toContain('HTTP/2 over TLSv1.3: 1 open, 1 told to leave')
      expect(said).toContain('TLS handshake: 1 open, 1 closed idle')
    }
    expect(rig.t.log.find(({ message }) => message === 'connections closed by force')?.fields).toMatchObject({ byProtocol, forced: 2 })
  })

  test('move when a handshake ends after the stop has begun', async () => {
    const rig = await serve({ shutdownDelay: '1s' })
    const socket = connect({ port: rig.https, host: '127.0.0.1' })
    await new Promise((resolve) => socket.once('connect', resolve))
    await expect.poll(() => openNow(rig), POLL).toEqual(['TLS handshake pending 1'])
    const ended = rig.t.life.stop()
    await rig.t.fired('ShutdownInitiated')
    const secured = connectSecurely({ socket, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    onTestFinished(() => void secured.destroy())
    await new Promise((resolve) => secured.once('secureConnect', resolve))
    await idle(RawClient.on(secured))
    expect(openNow(rig)).toEqual(['HTTP/1.1 TLSv1.3 1'])
    const { connections } = await rig.t.end(ended)
    expect(connections.byProtocol).toMatchObject([
      { protocol: 'TLS handshake', open: 1, notified: 0, idleUnnotified: 0, ended: 0, forced: 0 },
      { protocol: 'HTTP/1.1', tls: 'TLSv1.3', open: 0 },
    ])
  })
})

describe('what is left over', () => {
  test('says its protocol wherever it is named: gauges, terminal, headline, log and report', async () => {
    const rig = await serve()
    const { t, life } = rig
    ;(await plainly(rig.http)).request('GET', '/hang/http')
    ;(await overTls(rig.https)).request('GET', '/hang/https')
    void (await H2Client.open(`http://127.0.0.1:${rig.http2}`)).get('/hang/h2c')
    void (await H2Client.open(`https://127.0.0.1:${rig.https}`)).get('/hang/h2')
    await WebSocketClient.open(await overTls(rig.https), '/feed')
    await expect.poll(() => t.life.counts(), POLL).toMatchObject({ requests: 4, watches: 1 })
    const all = [
      ['GET /hang/http', 'HTTP/1.1', 'none'],
      ['GET /hang/https', 'HTTP/1.1', 'TLSv1.3'],
      ['GET /hang/h2c', 'HTTP/2', 'none'],
      ['GET /hang/h2', 'HTTP/2', 'TLSv1.3'],
    ].map(([name, protocol, tls]) => ({ name, protocol, tls, ageMs: expect.any(Number) as number }))
    const feed = { name: 'WebSocket /feed', protocol: 'WebSocket', tls: 'TLSv1.3', ageMs: expect.any(Number) as number }
    const { blocking } = life.status.gauges()
    expect(blocking.requests).toEqual(expect.arrayContaining(all))
    expect(blocking.watches).toEqual([feed])

    const ended = t.life.stop()
    await t.fired('ShutdownInitiated')
    const progress = life.status.progress()
    if (!progress) throw new Error('no stop is under way')
    const lines = drainLines(progress, life.status.gauges(), { width: 400, height: 40, color: false }).join('\n')
    expect(lines).toContain('GET /hang/h2 (HTTP/2 over TLSv1.3) ')
    expect(lines).toContain('GET /hang/h2c (HTTP/2) ')
    expect(lines).toContain('WebSocket /feed (TLSv1.3) ')
    expect(lines).toContain('GET /hang/http ')
    expect(lines).toMatch(/connections .* told to leave: .*1 HTTP\/2 over TLSv1\.3/)

    const report = await t.end(ended)
    expect(report.exitCode).toBe(5)
    expect(report.requests.cut).toHaveLength(4)
    expect(report.requests.cut).toEqual(expect.arrayContaining(all))
    expect(report.watches.cut).toEqual([feed])
    expect(report.handlers).toHaveLength(4)
    expect(report.handlers).toEqual(expect.arrayContaining(all))
    for (const { protocol, tls } of report.connections.forcedNames) expect(protocol && tls).toBeTruthy()
    expect(isReport(JSON.parse(JSON.stringify(report))), JSON.stringify(isReport.errors)).toBe(true)
    const lists = t.log.flatMap(({ fields: { cut, forcedNames, running } }) => [cut, forcedNames, running].filter(Array.isArray))
    expect(lists.length).toBeGreaterThan(2)
    for (const straggler of lists.flat()) expect(straggler).toMatchObject({ protocol: expect.any(String), tls: expect.any(String) })
  })

  test('a handshake that never ends is named while it holds something up, and then closed', async () => {
    const rig = await serve()
    const { t } = rig
    const peer = await halfHandshake(rig.https)
    const closed = new Promise((resolve) => peer.once('close', resolve))
    await expect.poll(() => openNow(rig), POLL).toEqual(['TLS handshake pending 1'])
    const ended = t.life.stop()
    await expect
      .poll(async () => {
        await t.clock.advance(0)
        return rig.life.status.gauges().blocking.connections
      }, POLL)
      .toMatchObject([{ name: expect.stringMatching(/^127\.0\.0\.1:\d+ TLS handshake$/), protocol: 'TLS handshake', tls: 'pending' }])
    const report = await t.end(ended)
    await closed
    expect(report).toMatchObject({
      exitCode: 0,
      connections: { forced: 0, byProtocol: [{ protocol: 'TLS handshake', tls: 'pending', open: 1, idleUnnotified: 1 }] },
      warnings: [{ details: { count: 1, clients: [expect.stringMatching(/ TLS handshake$/)] } }],
    })
    expect(t.sinceStop('Ended')).toBeLessThan(2_000)
  })
})

test('words leave out what goes without saying', () => {
  expect(protocolLabel({ protocol: 'HTTP/1.1', tls: 'none' })).toBe('')
  expect(protocolLabel({})).toBe('')
  expect(nameWithProtocol({ name: 'job 7' })).toBe('job 7')
  expect(nameWithProtocol({ name: 'GET /WebSocket', protocol: 'WebSocket', tls: 'none' })).toBe('GET /WebSocket (WebSocket)')
  expect(nameWithProtocol({ name: 'WebSocket /', protocol: 'WebSocket', tls: 'none' })).toBe('WebSocket /')
  expect(nameWithProtocol({ name: '::1 TLS handshake', protocol: 'TLS handshake', tls: 'pending' })).toBe('::1 TLS handshake')
  expect(nameWithProtocol({ name: 'GET /', protocol: 'HTTP/1.1', tls: 'TLSv1.2' })).toBe('GET / (HTTP/1.1 over TLSv1.2)')
})
