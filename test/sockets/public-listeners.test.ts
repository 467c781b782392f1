// What a server that quiesce creates listens on and with, within one process. Fails when: a socket
// that was passed is not served, a certificate of its own is not for the host it listens on, or is
// for what is no host, or the system does not look for clients that have gone without a word.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { ServerOptions } from '#src/options/options.ts'
import type { WebSocketServerLike } from '#src/options/rows/web-socket.ts'
import { newLife } from '../support/life.ts'
import { boundSocket } from '../support/passed-sockets.ts'
import { temporaryFolder } from '../support/process.ts'
import { fresh } from '../support/upstream-client.ts'

describe('a socket that was passed is served', () => {
  test('by its name', async () => {
    const { fd, port } = boundSocket(true)
    // The first is 3.
    const names = [...Array.from({ length: fd - 3 }, () => 'other'), 'http']
    const env = { LISTEN_PID: '4711', LISTEN_FDS: String(names.length), LISTEN_FDNAMES: names.join(':') }
    const rig = newLife({ env, options: { listeners: [{ fd: 'http' }] } })
    await rig.life.start()
    expect(await fresh(port, '/')).toMatchObject({ body: 'hello' })
    expect(rig.port).toBe(port)
    await rig.end()
  })

  test('by its descriptor, whatever the environment says', async () => {
    const { fd, port } = boundSocket(true)
    const rig = newLife({ options: { listeners: [{ fd }] } })
    await rig.life.start()
    expect(await fresh(port, '/')).toMatchObject({ body: 'hello' })
    await rig.end()
  })
})

describe('a certificate of its own', () => {
  const OWN = 'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1'

  /** The names in the certificate of the first listener. */
  async function namesAt(listener: NonNullable<ServerOptions['listeners']>[number], to: ConnectionOptions) {
    const rig = newLife({ options: { listeners: [{ tls: 'self-signed', ...listener }] } })
    await rig.life.start()
    const socket = connect({ port: rig.life.addresses[0]?.port as number, ...to, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    onTestFinished(() => void socket.destroy())
    return socket.getPeerCertificate().subjectaltname
  }

  test('is also for the address that is listened on', async () => {
    expect(await namesAt({ port: 0, host: '127.0.0.2' }, { host: '127.0.0.2' })).toBe(`${OWN}, IP Address:127.0.0.2`)
  })

  test.each([
    ['all addresses', { port: 0, host: '0.0.0.0' }],
    ['all addresses of IPv6', { port: 0, host: '::' }],
    ['no address in particular', { port: 0 }],
  ])('is for this machine alone where it listens on %s', async (_, listener) => {
    expect(await namesAt(listener, { host: '127.0.0.1' })).toBe(OWN)
  })

  test('is for this machine alone where it listens on a Unix socket', async () => {
    const path = join(temporaryFolder(), 'app.sock')
    expect(await namesAt({ path }, { path })).toBe(OWN)
  })
})

test('the system asks a silent client after three minutes whether it is still there', async () => {
  const rig = newLife()
  await rig.life.start()
  const client = connectSocket(rig.port, '127.0.0.1')
  await once(client, 'connect')
  onTestFinished(() => void client.destroy())
  await expect.poll(() => rig.life.counts().connections.open).toBe(1)
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')
  const ends = `:${hex(rig.port)} 0100007F:${hex(client.localPort as number)} `
  const line = readFileSync('/proc/self/net/tcp', 'utf8')
    .split('\n')
    .find((each) => each.includes(ends))
  // Its timer is that for silence, in hundredths of a second.
  const [, kind, left] = / (\d\d):([\dA-F]{8}) /.exec(line ?? '') ?? []
  expect(kind).toBe('02')
  expect(Number.parseInt(left as string, 16) / 100).toBeGreaterThan(170)
  expect(Number.parseInt(left as string, 16) / 100).toBeLessThanOrEqual(180)
})

test('a WebSocket that is asked for is taken', async () => {
  const server = new WebSocketServer({ noServer: true })
  server.on('connection', (socket) => socket.send('welcome'))
  const rig = newLife({ options: { websocket: { server: server as unknown as WebSocketServerLike } } })
  await rig.life.start()
  const client = new WebSocket(`ws://127.0.0.1:${rig.port}/`)
  const [message] = (await once(client, 'message')) as [Buffer]
  expect(String(message)).toBe('welcome')
  client.close()
})
