// Handlers that put values of their own in place of what node has given them: routers rewrite the
// URL, frameworks take `response.req`, and method overrides the method. Fails when: one of them is
// read late and believed, so that an answer throws, a client is not told, or a name is another.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { HANDSHAKE } from '../support/web-socket-client.ts'
import { Latch, rig } from './rig.ts'

type Change = (request: IncomingMessage, response: ServerResponse) => void
const set = (object: object, values: object): void => {
  for (const [name, value] of Object.entries(values)) Object.defineProperty(object, name, { value, configurable: true, writable: true })
}

const CHANGES: Readonly<Record<string, Change>> = {
  'response.req taken away': (_, response) => set(response, { req: undefined }),
  'response.req of its own': (_, response) => set(response, { req: { method: 'GET', url: '/' } }),
  'all of the request': (request) =>
    set(request, { url: 7, method: undefined, headers: undefined, rawHeaders: null, socket: undefined, connection: {}, complete: 'yes' }),
  'its methods': (request, response) => {
    set(request, { once: undefined, httpVersionMajor: '1' })
    set(response, { statusCode: 201, statusMessage: undefined })
  },
}

describe.each(Object.entries(CHANGES))('a handler that changes %s', (_, change) => {
  test.each(['before', 'after'])('is answered for, and its client told, by a stop %s that', async (when) => {
    const [arrived, goOn] = [new Latch(), new Latch()]
    const { traffic, connect, facts } = await rig(async (request, response) => {
      if (when === 'after') change(request, response)
      arrived.resolve()
      await goOn.promise
      if (when === 'before') change(request, response)
      response.end('hello')
    })
    const client = await connect()
    client.request('GET', '/path')
    await arrived.promise
    traffic.beginNotifying({ how: 'at-once', delayMs: 0 })
    expect(traffic.snapshot.underWay().map(({ name }) => name)).toEqual(['GET /path'])
    goOn.resolve()
    expect(await client.response()).toMatchObject({ body: 'hello', headers: { connection: 'close' } })
    await expect.poll(() => traffic.counts()).toMatchObject({ requests: 0, connections: { open: 0 } })
    expect(facts).toEqual([])
  })
})

test('writeHead that was copied to an object of the handler’s writes the head all the same', async () => {
  const [arrived, goOn] = [new Latch(), new Latch()]
  const { traffic, connect, facts } = await rig(async (_, response) => {
    arrived.resolve()
    await goOn.promise
    const { writeHead } = response
    const mine = Object.defineProperties(Object.create(Object.getPrototypeOf(response) as object) as ServerResponse, {})
    expect(() => writeHead.call(Object.assign(mine, { _header: 'sent' }), 200)).toThrow(
      expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }),
    )
    response.end('hello')
  })
  const client = await connect()
  client.request('GET', '/')
  await arrived.promise
  traffic.beginNotifying({ how: 'at-once', delayMs: 0 })
  goOn.resolve()
  expect(await client.response()).toMatchObject({ status: 200, body: 'hello' })
  expect(facts).toEqual([])
})

test.each([
  ['headers', { headers: undefined }],
  ['method', { method: 'CONNECT' }],
])('an upgrade whose handler changes its %s is what its client has asked for', async (_, change) => {
  const { server, traffic, connect, facts } = await rig(undefined)
  server.on('upgrade', (request, socket: Socket) => {
    set(request, change)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  })
  const client = await connect()
  client.request('GET', '/', { headers: HANDSHAKE })
  expect((await client.response()).status).toBe(101)
  expect(traffic.counts().watches).toBe(1)
  expect(traffic.snapshot.underWay().map(({ name }) => name)).toEqual(['WebSocket /'])
  expect(facts).toEqual([])
})
