// Bodies of requests that do not come, over HTTP/1.1, before and after the listener has closed:
// node bounds them by `requestTimeout` as long as it listens. Fails when: one takes longer than
// that in a stop, costs an exit code, is not answered, or one that comes in time is not waited for.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { newAttachedLife } from '../support/life.ts'
import { connectTo } from '../support/raw-client.ts'

const LIMIT_MS = 2_000
const HEAD = 'POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345'

async function read(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let length = 0
  try {
    for await (const chunk of request) length += (chunk as Buffer).length
  } catch {
    return
  }
  response.end(`read ${length}`)
}

async function stopping(prepare: (server: Server) => void = () => undefined) {
  const server = createServer({ requestTimeout: LIMIT_MS, headersTimeout: LIMIT_MS }, (request, response) => void read(request, response))
  prepare(server)
  server.listen(0, '127.0.0.1')
  const t = newAttachedLife(server, { clock: new VirtualClock(), options: { deadline: '30s' } })
  await t.life.start()
  const client = await connectTo(t.port)
  client.send(HEAD)
  await expect.poll(() => t.life.counts().requests).toBe(1)
  const report = t.life.stop()
  return { t, client, report }
}

test('one that does not come in its time is answered 408 in a stop, and costs no exit code', async () => {
  const { t, client, report } = await stopping()
  expect(await t.end(report)).toMatchObject({ exitCode: 0, requests: { cut: [] }, connections: { notified: 1, forced: 0 }, errors: [] })
  expect(client.received).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
  expect(client.received).toMatch(/^Connection: close\r$/m)
  expect(t.sinceStop('RequestsDrained')).toBeLessThanOrEqual(LIMIT_MS)
})

test('one that comes in its time is read', async () => {
  const { t, client, report } = await stopping()
  while (!t.hasFired('HTTPServerStoppedListening')) await t.clock.advance(1)
  await t.clock.advance(LIMIT_MS / 2)
  client.send('67890')
  await client.until('the answer', () => client.received.includes('read 10'))
  expect(await t.end(report)).toMatchObject({ exitCode: 0, connections: { notified: 1, forced: 0 } })
})

test('one that comes after the listener has closed has its time as well', async () => {
  const { t, client, report } = await stopping()
  const later = await connectTo(t.port)
  later.send('POST /late HTTP/1.1\r\nHost: x\r\n')
  while (!t.hasFired('HTTPServerStoppedListening')) await t.clock.advance(1)
  later.send('Content-Length: 10\r\n\r\n12345')
  await expect.poll(() => t.life.counts().requests).toBe(2)
  expect(await t.end(report)).toMatchObject({ exitCode: 0, requests: { cut: [] } })
  expect([client, later].map(({ received }) => received.slice(9, 12))).toEqual(['408', '408'])
})

test('a listener for clientError answers for it, as with node', async () => {
  const { t, client, report } = await stopping((server) =>
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) =>
      socket.end(`HTTP/1.1 408 ${error.code}\r\nConnection: close\r\n\r\n`),
    ),
  )
  expect(await t.end(report)).toMatchObject({ exitCode: 0, requests: { cut: [] } })
  expect(client.received).toContain('HTTP/1.1 408 ERR_HTTP_REQUEST_TIMEOUT\r\n')
})

test('a server without a limit waits for the deadline', async () => {
  const { t, client, report } = await stopping((server) => {
    server.requestTimeout = 0
  })
  expect(await t.end(report)).toMatchObject({ exitCode: 5, requests: { cut: [{ name: 'POST /slow' }] } })
  expect(client.received).toBe('')
})
