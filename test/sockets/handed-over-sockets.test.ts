// Fails when: a socket that code hands to a server after it has closed counts as a connection,
// which never ends.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createSecureServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { pairFor } from '../support/certificates.ts'
import { newAttachedLife } from '../support/life.ts'

test.each([
  ['HTTP/1.1', () => createServer()],
  ['HTTPS', () => createHttpsServer(pairFor())],
  ['HTTP/2', () => createHttp2Server({ ...pairFor(), allowHTTP1: true })],
] as const)('a socket that has closed before it is handed to a server of %s is no connection', async (_, create) => {
  const server = create()
  // A listener of another port, for one, that looks at its clients first.
  const front = createSocketServer()
  onTestFinished(() => void front.close())
  await once(front.listen(0, '127.0.0.1'), 'listening')
  const accepted = once(front, 'connection')
  connect((front.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  const [socket] = (await accepted) as [Socket]
  await once(socket.destroy(), 'close')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const rig = newAttachedLife(server)
  await rig.life.start()
  server.emit('connection', socket)
  const { open } = rig.life.counts().connections
  // A life that waits for it does not end.
  if (open > 0) void rig.life.stop({ now: true })
  expect(open).toBe(0)
})
