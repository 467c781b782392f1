// Clients that end their side behind their request, and wait for the answer: `shutdown(SHUT_WR)`,
// and close_notify over TLS.
// Fails when: one of them is broken off during a stop that node, and a life that serves, answers.
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { pairFor } from '../support/certificates.ts'
import { GivenStream } from '../support/given-stream.ts'
import { RawClient } from '../support/raw-client.ts'
import { Latch, rig, UNBOUNDED } from './rig.ts'

const PAIR = pairFor({ names: ['localhost'] })
/** Of a socket of TLS, too, where its types do not have it. */
const HALF_OPEN = { allowHalfOpen: true }

const HANDLERS: Readonly<Record<string, RequestListener>> = {
  'in the step in which it is called': (_, response) => void response.end('hello'),
  'after some promises': async (_, response) => {
    for (let at = 0; at < 5; at++) await Promise.resolve()
    response.end('hello')
  },
  'when it has read the body': async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    response.end(body)
  },
}
const POST = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello'

/** All of `sent` and the end behind it come in one read. */
function sentWhole(sent: string): GivenStream {
  const stream = new GivenStream()
  stream.push(sent)
  stream.push(null)
  return stream
}

describe.each(Object.entries(HANDLERS))('a handler that answers %s', (_, handler) => {
  test('answers a client whose end comes in the same read as its request, when clients are notified', async () => {
    const { server, traffic } = await rig(handler)
    traffic.beginNotifying({ how: 'after-delay', delayMs: 1_000 })
    const stream = sentWhole(POST)
    server.emit('connection', stream)
    await expect.poll(() => stream.sent).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*hello/)
  })

  test('the same over TLS', async () => {
    const { traffic } = await rig(handler)
    const server = createSecureServer(PAIR, handler)
    const gate = traffic.takeOver(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      gate[Symbol.dispose]()
      server.close()
    })
    traffic.beginNotifying({ how: 'after-delay', delayMs: 1_000 })
    const { port } = server.address() as AddressInfo
    const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false, ...HALF_OPEN })
    await once(socket, 'secureConnect')
    const client = RawClient.on(socket)
    onTestFinished(() => client.abort())
    socket.end(POST)
    await client.until('the answer', () => /^HTTP\/1.1 200 OK\r\n[\s\S]*hello/.test(client.received))
    expect(await client.closed()).toBe('ended')
  })

  test('answers one whose end comes while the accept queue is emptied', async () => {
    // No time passes: in time, what waits for the queue goes on without it.
    const { traffic, connect } = await rig(handler, { clock: new VirtualClock() })
    traffic.beginNotifying({ how: 'at-once', delayMs: 0 })
    const isSealed = new Latch<'sealed'>()
    const attempted = new Latch()
    const seal = {
      attempt: () => {
        attempted.resolve()
        return isSealed.promise
      },
      shut: () => undefined,
    }
    const queued = traffic.lastCall.acceptQueued(() => undefined, UNBOUNDED.signal, seal)
    const [client, patient] = [await connect(), await connect()]
    await attempted.promise
    patient.send(POST)
    client.send(POST)
    client.end()
    await client.until('the answer', () => /^HTTP\/1.1 200 OK\r\n[\s\S]*hello/.test(client.received))
    expect(await client.closed()).toBe('ended')
    // What has not ended waits on.
    expect(patient.received).toBe('')
    isSealed.resolve('sealed')
    await patient.until('the answer', () => patient.received.includes('hello'))
    await queued
  })
})

test('requests that came before the end of their client are answered in their order, and the last one tells', async () => {
  const { server, traffic } = await rig((request, response) => void response.end(request.url))
  traffic.beginNotifying({ how: 'at-once', delayMs: 0 })
  const stream = sentWhole(['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''))
  server.emit('connection', stream)
  await expect.poll(() => stream.sent.match(/\/\d$|\/\d(?=HTTP)/g)).toEqual(['/1', '/2', '/3'])
  expect(stream.sent.match(/^Connection: .*$/gim)).toEqual(['Connection: keep-alive', 'Connection: keep-alive', 'Connection: close'])
})

test('an end is heard once, after requests that gathered and after those that did not', async () => {
  const { server, traffic } = await rig((_, response) => void response.end('hello'))
  let ends = 0
  server.on('connection', (socket) => socket.on('end', () => ends++))
  server.emit('connection', sentWhole(POST))
  await expect.poll(() => ends).toBe(1)
  traffic.beginNotifying({ how: 'after-delay', delayMs: 1_000 })
  const stream = sentWhole(POST)
  server.emit('connection', stream)
  await expect.poll(() => ends).toBe(2)
  expect(Object.hasOwn(stream, 'emit')).toBe(false)
})
