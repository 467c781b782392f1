// Fails when: a socket that a killed process has left keeps a server from starting, one that is in
// use (or no socket at all) is taken away, its permissions are others than asked for at any moment,
// the file stays after the end, a handshake over one is not known, or a connection that is known
// only from its handshake's end on is held until the deadline.
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, watch, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect as connectSocket, createServer as createSocketServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectSecurely } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Dam } from '../conformance/transports.ts'
import { pairFor } from '../support/certificates.ts'
import { newAttachedLife, newLife } from '../support/life.ts'
import { startServer, temporaryFolder } from '../support/process.ts'

const newPath = (): string => join(temporaryFolder(), 'app.sock')

const ask = (socketPath: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ socketPath, path: '/', agent: false }, (response) => void text(response).then(resolve, reject))
      .on('error', reject)
      .end()
  })

const permissions = (path: string): number => statSync(path).mode & 0o777

describe('a Unix socket', () => {
  test('is served, has the permissions from its first moment on, and is gone after the end', async () => {
    const path = newPath()
    const seen = new Set<number>()
    const watcher = watch(join(path, '..'), () => {
      if (existsSync(path)) seen.add(permissions(path))
    })
    onTestFinished(() => watcher.close())
    const mask = process.umask()
    const rig = newLife({ options: { listeners: [{ path, mode: 0o620 }] } })
    await rig.life.start()
    expect(await ask(path)).toBe('hello')
    expect(permissions(path)).toBe(0o620)
    expect(rig.life.addresses).toEqual([{ url: `unix:${path}`, address: path, port: 0 }])
    expect(process.umask()).toBe(mask)
    const report = await rig.end()
    expect(existsSync(path)).toBe(false)
    expect(report.listeners).toEqual([expect.objectContaining({ url: `unix:${path}` })])
    expect([...seen]).toEqual([0o620])
  })

  test('that a killed process has left is removed', async () => {
    const path = newPath()
    const killed = startServer({ options: { listeners: [{ path }] } })
    await killed.said('fired PostStartHooksLaunched')
    killed.signal('SIGKILL')
    await killed.ended()
    expect(existsSync(path)).toBe(true)
    const rig = newLife({ options: { listeners: [{ path }] } })
    await rig.life.start()
    expect(await ask(path)).toBe('hello')
  })

  test('that another process accepts on is left to it', async () => {
    const path = newPath()
    const other = createServer((_, response) => void response.end('other'))
    other.listen(path)
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const rig = newLife({ options: { listeners: [{ path }] } })
    await expect(rig.life.start()).rejects.toMatchObject({
      cause: {
        code: 'ERR_LISTEN',
        message: `failed to create listener: failed to listen on ${path}: another process accepts connections there`,
      },
    })
    await rig.life.ended
    expect(await ask(path)).toBe('other')
  })

  test('takes the place of no file', async () => {
    const path = newPath()
    writeFileSync(path, 'precious')
    const rig = newLife({ options: { listeners: [{ path }] } })
    await expect(rig.life.start()).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/: a file that is no socket is there$/) },
    })
    await rig.life.ended
    expect(readFileSync(path, 'utf8')).toBe('precious')
  })
})

test.each([
  ['listeners[0].mode: got 4096', { path: '/run/app.sock', mode: 0o10000 }],
  ['listeners[0].mode: got "0660"', { path: '/run/app.sock', mode: '0660' as never }],
])('%s is refused', (message, listener) => {
  expect(() => newLife({ options: { listeners: [listener] } })).toThrow(`${message}, allowed: permissions from 0 to 0o777`)
})

test('a TLS handshake over one is a connection from its accept on', async () => {
  const path = newPath()
  const rig = newLife({ options: { listeners: [{ path, tls: pairFor() }] } })
  await rig.life.start()
  const socket = connectSocket(path)
  onTestFinished(() => void socket.destroy())
  await expect.poll(() => rig.life.counts().connections.byProtocol).toEqual([{ protocol: 'TLS handshake', tls: 'pending', open: 1 }])
  const client = connectSecurely({ socket, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  await expect.poll(() => rig.life.counts().connections.byProtocol).toEqual([{ protocol: 'HTTP/1.1', tls: 'TLSv1.3', open: 1 }])
  client.destroy()
  await expect.poll(() => rig.life.counts().connections.open).toBe(0)
})

test('a client of a stream that is no socket, whose handshake ends when idle connections are closed, is not held', async () => {
  const server = createSecureServer(pairFor(), (_request, response) => void response.end())
  // What a proxy in the same process does, for one: node makes a socket of the stream.
  const front = createSocketServer((socket) => void server.emit('connection', new Dam(socket, Number.POSITIVE_INFINITY)))
  onTestFinished(() => void front.close())
  await Promise.all([once(server.listen(0, '127.0.0.1'), 'listening'), once(front.listen(0, '127.0.0.1'), 'listening')])
  const rig = newAttachedLife(server, { options: { lastCall: '50ms' } })
  await rig.life.start()
  const work = rig.life.hold('work that outlasts the last call')
  const socket = connectSocket({ port: (front.address() as AddressInfo).port, host: '127.0.0.1' })
  await once(socket, 'connect')
  const dam = new Dam(socket, 40)
  const client = connectSecurely({ socket: dam, rejectUnauthorized: false })
  onTestFinished(() => void client.destroy())
  const ended = rig.life.stop('the test asks')
  await rig.fired('LastCallComplete')
  expect(rig.life.counts().connections.open).toBe(0)
  dam.open()
  await once(client, 'secureConnect')
  await expect.poll(() => rig.life.counts().connections.open).toBe(1)
  work[Symbol.dispose]()
  await once(client.resume(), 'end')
  client.end()
  // Only by its deadline, ten minutes, if that were the only bound.
  expect(await ended).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 1, forced: 0 } })
})
