// What close() of an attached server does in its own step. Fails when: its port is not free in that
// step, another port of the life stays taken when its owner closes that server too, a stop that
// came first loses its accept queue to close(), or what is under way is not drained.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2Server, createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createNetServer, type Server } from 'node:net'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AttachableServer } from '#src/attach.ts'
import { pairFor } from '../support/certificates.ts'
import { newAttachedLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'

const LOOPBACK = '127.0.0.1'
const answer = (_: unknown, response: { end(text: string): unknown }): void => void response.end('hello')

let pair: ReturnType<typeof pairFor>
beforeAll(() => {
  pair = pairFor({ names: ['localhost'] })
})

async function listening(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, LOOPBACK), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

/** Another server, on this port from this step on; rejects when it is taken. */
const listeningAgain = (port: number): Promise<number> => listening(createNetServer(), port)

const KINDS: readonly [string, () => AttachableServer][] = [
  ['http', () => createServer(answer)],
  ['https', () => createHttpsServer(pair, answer)],
  ['HTTP/2', () => createHttp2Server(answer)],
  ['HTTP/2 with TLS', () => createSecureServer({ ...pair, allowHTTP1: true }, answer)],
]

const WAYS: readonly [string, (server: AttachableServer) => unknown][] = [
  ['close()', (server) => server.close()],
  ['close() with a callback', (server) => new Promise((resolve) => server.close(resolve))],
  ['the end of its scope', (server) => server[Symbol.asyncDispose]()],
  ['close() twice', (server) => server.close() && server.close()],
]

describe.each(KINDS)('the port of a server of %s', (_, make) => {
  test.each(WAYS)('is free in the step of %s', async (_way, close) => {
    for (const lastCall of [undefined, 0]) {
      const server = make()
      const port = await listening(server)
      const t = newAttachedLife(server, lastCall === undefined ? {} : { options: { lastCall } })
      await t.life.start()
      const closed = close(server)
      expect(server.listening).toBe(false)
      expect(await listeningAgain(port)).toBe(port)
      await closed
      expect(await t.end(t.life.ended)).toMatchObject({ exitCode: 0, reason: { kind: 'server-closed' }, errors: [], warnings: [] })
      const stopped = t.events.flatMap((event) => (event.type === 'stopped-listening' ? [event.url] : []))
      expect(stopped).toEqual([expect.stringContaining(`:${port}`)])
    }
  })
})

test('closeAllConnections() beside close() cuts what is under way, as its owner asks', async () => {
  const server = createServer(() => {})
  const port = await listening(server)
  const t = newAttachedLife(server)
  await t.life.start()
  const client = await RawClient.open({ port })
  client.request('GET', '/')
  await expect.poll(() => t.life.counts().requests).toBe(1)
  server.close()
  server.closeAllConnections()
  await listeningAgain(port)
  expect(await t.end(t.life.ended)).toMatchObject({ reason: { kind: 'server-closed' }, requests: { after: 0, cut: [] } })
})

test('a request that is under way is answered, and another server has the port meanwhile', async () => {
  let finish = (): void => {}
  const server = createServer((_, response) => {
    finish = () => void response.end('whole')
  })
  const port = await listening(server)
  const t = newAttachedLife(server)
  await t.life.start()
  const client = await RawClient.open({ port })
  client.request('GET', '/')
  await expect.poll(() => t.life.counts().requests).toBe(1)
  const closed = new Promise((resolve) => server.close(resolve))
  await listeningAgain(port)
  finish()
  expect(await client.response()).toMatchObject({ status: 200, body: 'whole', headers: { connection: 'close' } })
  expect(await closed).toBeUndefined()
  expect(await t.end(t.life.ended)).toMatchObject({ exitCode: 0, requests: { after: 0 } })
})

test('of two servers of one life each frees its port when it is closed', async () => {
  const servers = [createServer(answer), createServer(answer)] as const
  const ports = [await listening(servers[0]), await listening(servers[1])] as const
  const t = newAttachedLife(servers)
  await t.life.start()
  servers[0].close()
  expect(servers[1].listening).toBe(true)
  servers[1].close()
  expect(await Promise.all(ports.map(listeningAgain))).toEqual(ports)
  expect(await t.end(t.life.ended)).toMatchObject({ exitCode: 0, reason: { kind: 'server-closed' } })
})

describe('a stop that came first', () => {
  test.each<[string, (t: ReturnType<typeof newAttachedLife>) => unknown]>([
    ['by a signal', (t) => t.process.emit('SIGTERM', 'SIGTERM')],
    ['by stop()', (t) => t.life.stop('the test asks')],
  ])('%s empties its accept queue, whatever its owner closes', async (_, stop) => {
    const server = createServer(answer)
    await listening(server)
    const t = newAttachedLife(server)
    // Its owner's listener was there before the life's.
    t.process.on('SIGTERM', () => void server.close())
    void t.life.run()
    await t.fired('Serving')
    void stop(t)
    server.close()
    expect(server.listening).toBe(true)
    const report = await t.end(t.life.ended)
    expect(report).toMatchObject({ exitCode: 0 })
    expect(report.reason?.kind).not.toBe('server-closed')
    expect(server.listening).toBe(false)
  })
})
