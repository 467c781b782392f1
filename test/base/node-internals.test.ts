// Fails when: a version of node moves one of the members that quiesce uses without a promise; the
// name of the test is the member. What quiesce does without it is told by the tests of what it is
// for.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect, type Server as NetServer, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import {
  acceptedOf,
  activeHandles,
  bindingNameOf,
  connectionHandleOf,
  countConnection,
  dropUnsent,
  headTextOf,
  isHead,
  isHeadSent,
  isMadeByNode,
  isParsed,
  listeningHandleOf,
  owesNoAnswer,
  readOn,
  serverOf,
  setSharedContext,
  trustPartialChains,
  untakenBytes,
} from '#src/base/node-internals.ts'
import { selfSigned } from '#src/tls/self-signed.ts'

const moved = (member: string, use: string): string =>
  `node ${process.version} has moved ${member}, by which quiesce ${use}: mend src/base/node-internals.ts`

async function listening<S extends NetServer | Http2Server>(server: S): Promise<number> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

const once = <T>(source: NetServer | Socket | Http2Server, event: string): Promise<T> =>
  new Promise((resolve) => source.once(event, (given: unknown) => resolve(given as T)))

function connected(port: number): Socket {
  const client = connect(port, '127.0.0.1').on('error', () => undefined)
  onTestFinished(() => void client.destroy())
  return client
}

/** A server, its side of a connection, and what came on it. */
async function asked(text: string) {
  const server: Server = createServer()
  const port = await listening(server)
  const accepted = once<Socket>(server, 'connection')
  const come = new Promise<[IncomingMessage, ServerResponse]>((resolve) => server.once('request', (...given) => resolve(given)))
  const client = connected(port)
  client.write(text)
  return { server, client, socket: await accepted, come }
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

test('_handle of a server with fd, listen, onconnection and close', async () => {
  const server = createServer()
  expect(listeningHandleOf(server)).toBeUndefined()
  await listening(server)
  const handle = listeningHandleOf(server)
  expect(handle?.fd, moved('_handle', 'seals accept queues')).toBeGreaterThan(0)
  expect(handle?.listen(511), moved('listen of _handle', 'seals accept queues')).toBe(0)
})

test('_connectionKey of a server', async () => {
  const server = createServer()
  await listening(server)
  expect(bindingNameOf(server), moved('_connectionKey', 'knows sockets of its own')).toBe('4:127.0.0.1:0')
})

test('_handle of a socket with getsockname, getpeername, writeQueueSize and readStart', async () => {
  const { client, socket } = await asked(GET)
  const handle = connectionHandleOf(socket)
  const [own, peer]: { port?: number }[] = [{}, {}]
  expect([handle?.getsockname(own as object), handle?.getpeername(peer as object)], moved('_handle', 'seals accept queues')).toEqual([0, 0])
  expect([own?.port, peer?.port]).toEqual([socket.localPort, client.localPort])
  expect(handle?.writeQueueSize, moved('writeQueueSize', 'sees whether bytes move')).toBe(0)
  expect(typeof handle?.readStart, moved('readStart', 'hears that a client of HTTP/2 has closed')).toBe('function')
  readOn(socket)
  socket.destroy()
  expect([connectionHandleOf(socket), untakenBytes(socket)]).toEqual([undefined, 0])
})

test('writeQueueSize counts what the system has not taken', async () => {
  const { client, socket } = await asked(GET)
  client.pause()
  socket.write(Buffer.alloc(64 * 1024 * 1024))
  expect(untakenBytes(socket), moved('writeQueueSize', 'sees whether bytes move')).toBeGreaterThan(0)
})

test('_getActiveHandles of the process, server of a socket', async () => {
  const { server, socket } = await asked(GET)
  expect(activeHandles(), moved('_getActiveHandles', 'finds connections from before it')).toContain(socket)
  expect(serverOf(socket), moved('server', 'finds connections from before it')).toBe(server)
})

test('parser of a socket, incoming of a parser, _httpMessage of a socket', async () => {
  const { socket, come } = await asked('')
  expect(isParsed(socket), moved('parser', 'sees who speaks on a socket')).toBe(true)
  const idle = await asked('')
  expect(owesNoAnswer(idle.socket), moved('incoming', 'finds idle connections')).toBe(true)
  const half = await asked('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1')
  await half.come
  expect(owesNoAnswer(half.socket), moved('incoming', 'finds idle connections')).toBe(false)
  const owed = await asked(GET)
  await owed.come
  expect(owesNoAnswer(owed.socket), moved('_httpMessage', 'finds idle connections')).toBe(false)
  void come
})

test('_parent of a socket of TLS', async () => {
  const { key, cert } = selfSigned(['localhost'], Date.now(), 1, true)
  const server = createTlsServer({ key, cert })
  const port = await listening(server)
  const accepted = once<Socket>(server, 'connection')
  const secured = once<TLSSocket>(server, 'secureConnection')
  const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }).on('error', () => undefined)
  onTestFinished(() => void client.destroy())
  expect(acceptedOf(await secured), moved('_parent', 'goes on with the connection of a handshake')).toBe(await accepted)
})

test('_sharedCreds of a server of TLS', async () => {
  const first = selfSigned(['first'], Date.now(), 1, true)
  const second = selfSigned(['second'], Date.now(), 1, true)
  const server = createTlsServer(first)
  const port = await listening(server)
  trustPartialChains(server)
  setSharedContext(server, createSecureContext(second))
  const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }).on('error', () => undefined)
  onTestFinished(() => void client.destroy())
  await once(client, 'secureConnect')
  const shown = client.getPeerX509Certificate()?.toString()
  expect(shown?.trim(), moved('_sharedCreds', 'shows each address its certificate')).toBe(second.cert.trim())
})

test('_connections and _emitCloseIfDrained of a server', async () => {
  const server = createServer()
  await listening(server)
  const counted = (): Promise<number> => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
  const left = countConnection(server)
  expect(await counted(), moved('_connections', 'counts connections in memory')).toBe(1)
  const closed = once(server, 'close')
  server.close()
  left()
  await closed
})

test('_header and _headerSent of a response', async () => {
  const { come } = await asked(GET)
  const [, response] = await come
  expect([headTextOf(response), isHeadSent(response)]).toEqual([undefined, false])
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  expect(headTextOf(response), moved('_header', 'sees event streams')).toContain('Content-Type: text/event-stream\r\n')
  expect(isHeadSent(response), moved('_headerSent', 'tells written heads from sent ones')).toBe(false)
  response.flushHeaders()
  expect(isHeadSent(response), moved('_headerSent', 'tells written heads from sent ones')).toBe(true)
})

test('outputData of a response', async () => {
  const { come } = await asked(GET)
  const [, response] = await come
  response.socket?.destroy()
  response.setHeader('Content-Length', 2).write(Buffer.from('o'))
  const kept = (response as { readonly outputData?: unknown[] }).outputData
  expect(kept, moved('outputData', 'hears the end of a handler whose client has left')).toHaveLength(1)
  dropUnsent(response)
  expect(kept).toHaveLength(0)
})

test('_maxRequestsPerSocket of a response that node has made', async () => {
  const { come } = await asked(GET)
  const [request, response] = await come
  expect(isMadeByNode(response, request), moved('_maxRequestsPerSocket', 'hears the end of responses on one channel')).toBe(true)
  const { ServerResponse } = await import('node:http')
  expect(isMadeByNode(new ServerResponse(request), request)).toBe(false)
})

test('headRequest of a stream', async () => {
  const server = createHttp2Server()
  const port = await listening(server)
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  onTestFinished(() => void session.destroy())
  for (const method of ['HEAD', 'GET']) {
    const arrived = once<ServerHttp2Stream>(server, 'stream')
    session.request({ ':method': method }).on('error', () => undefined)
    expect(isHead(await arrived), moved('headRequest', 'ends answers without a body')).toBe(method === 'HEAD')
  }
})
