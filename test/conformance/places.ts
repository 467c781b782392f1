import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AttachableServer } from '#src/attach.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type LifecycleOptions, shutdownSignalOf } from '#src/index.ts'
import type { Life } from '#src/lifecycle/life.ts'
import { type LifeRig, newAttachedLife, newLife } from '../support/life.ts'
import { h2, h2c } from './http2-transports.ts'
import { Stage } from './stage.ts'
import type { Place, Transport } from './table.ts'
import { keepWriting, misbehaving, upgrade } from './transport-suite.ts'
import { file, http1, https, type TransportAdapter } from './transports.ts'

/** The limits of every life here, in virtual time, far enough apart to be told from each other. */
export const LIMITS = { lastCall: 300, firstHead: 1_000, watchGrace: 3_000, deadline: 8_000 } as const

const OPTIONS: LifecycleOptions = {
  lastCall: LIMITS.lastCall,
  watchGrace: LIMITS.watchGrace,
  deadline: LIMITS.deadline,
  longRunning: ({ url }) => url === '/endless' || undefined,
}

/** A WebSocket begins as a connection of HTTP/1.1. */
const ADAPTERS: Readonly<Record<Transport, TransportAdapter>> = { 'HTTP/1.1': http1, HTTPS: https, h2, h2c, ws: http1, wss: https }

/** Those with TLS. */
export const SECURE: readonly Transport[] = ['HTTPS', 'h2', 'wss']

/** A life with a server of its own or of the test's, which serves. */
export interface Served {
  readonly place: Place
  readonly t: LifeRig<VirtualClock, Life>
  readonly stage: Stage
  readonly port: number
  /** The protocol that its connections begin with. */
  readonly adapter: TransportAdapter
}

export async function serve(place: Place): Promise<Served> {
  const { over, mode, kind } = place
  const adapter = ADAPTERS[over]
  const stage = new Stage()
  const listener = misbehaving(stage)
  const takes = over === 'ws' || over === 'wss' ? webSockets(stage) : undefined
  const options = { ...OPTIONS, whileDraining: mode }
  if (kind === 'created') {
    const t = newLife<VirtualClock>({
      clock: new VirtualClock(),
      listener,
      options: {
        ...options,
        ...(SECURE.includes(over) && { tls: { cert: String(file('cert.pem')), key: String(file('key.pem')) } }),
        ...(over === 'h2c' && { http2: true }),
        ...(takes && { websocket: { server: { options: { noServer: true }, handleUpgrade: takes, emit: () => true } } }),
      },
    })
    await t.life.start()
    return { place, t, stage, port: t.port, adapter }
  }
  const server = adapter.createServer(listener)
  server.on('upgrade', takes ?? upgrade)
  if (adapter === h2 || adapter === h2c) server.on('connect', connectTunnel)
  const t = newAttachedLife(server, { clock: new VirtualClock(), options })
  await listening(server)
  await t.life.start()
  return { place, t, stage, port: (server.address() as AddressInfo).port, adapter }
}

async function listening(server: AttachableServer): Promise<void> {
  // Node's own runs on real time, which on a busy machine may pass before the stop.
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
}

/** The handler of a CONNECT over HTTP/2, as that of an upgrade of HTTP/1.1. */
function connectTunnel(request: Http2ServerRequest, response: Http2ServerResponse): void {
  const { stream } = response
  stream.respond()
  stream.on('error', () => undefined)
  stream.resume()
  const signal = (): AbortSignal => shutdownSignalOf(request as unknown as IncomingMessage)
  if (request.authority === 'stays:1') signal()
  if (request.authority === 'polite:1') signal().addEventListener('abort', () => stream.end('bye'))
  if (request.authority === 'moves:1') keepWriting(stream)
}

/**
 * Who holds a WebSocket, by its path: `/later` answers the opening handshake when it may, `/frames`
 * writes its own frames and is no package `ws`; the others answer each message, `/slow` when it
 * may.
 */
function webSockets(stage: Stage): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const wss = new WebSocketServer({ noServer: true })
  return (request, socket, head) => {
    const accept = (opened: (ws: WebSocket) => void): void => wss.handleUpgrade(request, socket as Socket, head, opened)
    switch (request.url) {
      case '/later':
        void stage.slow.pass().then(() => accept(() => undefined))
        return
      case '/frames':
        socket.write(SWITCHED)
        socket.resume()
        socket.write(PART)
        void stage.stream.pass().then(() => socket.write(REST))
        return
      case '/slow':
        // One that asks for its signal has a second for what it has begun.
        shutdownSignalOf(request)
        accept((ws) => ws.on('message', () => void stage.slow.pass().then(() => ws.send('answer'))))
        return
      default:
        accept((ws) => ws.on('message', () => ws.send('answer')))
    }
  }
}

const SWITCHED =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'
/** A message of two frames. */
const PART = Buffer.from([0x01, 1, 0x61])
const REST = Buffer.from([0x80, 1, 0x62])
