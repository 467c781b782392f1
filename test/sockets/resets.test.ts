// Clients that reset a stream whose answer is on its way, with each code there is. Fails when: the
// request stays in flight, or its connection open when its client has closed it; the end waits for
// it; a handler that is still at work is not waited for; or the rest of a body that had arrived is
// kept from the handler that reads it.
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { Gate } from '../conformance/stage.ts'
import { FRAME, frame, RawH2Client } from '../support/h2-frames.ts'
import { newAttachedLife, newLife } from '../support/life.ts'

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => unknown

/** Of RFC 9113 section 7, those that a client has a reason for, and one that is none. */
const CODES = { NO_ERROR: 0, INTERNAL_ERROR: 2, REFUSED_STREAM: 7, CANCEL: 8, 'one of its own': 0x1234 }

const code = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const reset = (stream: number, value: number): Buffer => frame(FRAME.reset, { stream, payload: code(value) })
const goaway = (): Buffer => frame(FRAME.goaway, { payload: Buffer.alloc(8) })
/** SETTINGS_INITIAL_WINDOW_SIZE 0: of an answer, nothing but its head can be sent. */
const shut = (): Buffer => frame(FRAME.settings, { payload: Buffer.from([0, 4, 0, 0, 0, 0]) })

const HANDLERS: Record<string, Handler> = {
  'ends at once': (_, response) => void response.end('answer'),
  'sends more than one window': (_, response) => void response.end(Buffer.alloc(1_000_000)),
  'has sent a part, and ends when its client has left': (_, response) => {
    response.write('part')
    response.stream.once('close', () => response.end())
  },
  'leaves the body where it is': (request, response) => {
    request.once('data', () => request.pause())
    response.end('answer')
  },
  'closes the stream itself': (_, response) => {
    response.end('answer')
    response.stream.close()
  },
}

async function serving(kind: 'attached' | 'created', handler: Handler) {
  const options = { lastCall: 0 }
  if (kind === 'created') {
    const t = newLife({ listener: handler as never, options: { ...options, http2: true } })
    await t.life.start()
    return { t, port: t.port }
  }
  const server = createServer(handler)
  const t = newAttachedLife(server, { options })
  server.listen(0, '127.0.0.1')
  await t.life.start()
  return { t, port: (server.address() as AddressInfo).port }
}

/** Its request has begun, half of the body is there, and its handler has done what it does. */
async function asking(port: number, whenHandled: Promise<void>): Promise<RawH2Client> {
  const client = await RawH2Client.open(port)
  client.send(shut())
  client.request(1, { ':method': 'POST' }, { endStream: false })
  client.send(frame(FRAME.data, { stream: 1, payload: Buffer.from('body') }))
  await whenHandled
  return client
}

describe.each(['attached', 'created'] as const)('on a server that was %s', (kind) => {
  test.each(Object.entries(HANDLERS))('every reset ends the request of a handler that %s', async (_what, handler) => {
    let handled = new Gate()
    const { t, port } = await serving(kind, (request, response) => {
      handler(request, response)
      void handled.pass()
    })
    for (const value of Object.values(CODES)) {
      handled = new Gate()
      const client = await asking(port, handled.reached)
      expect(t.life.counts().requests).toBe(1)
      client.send(reset(1, value))
      await expect.poll(() => t.life.counts().requests).toBe(0)
      client.send(goaway())
      client.end()
      await expect.poll(() => t.life.counts().connections.open).toBe(0)
    }
    expect(await t.end()).toMatchObject({ exitCode: 0, requests: { cut: [] } })
  })
})

test.each(Object.entries(CODES))('a handler at work whose client has reset with %s is waited for', async (_name, value) => {
  const handled = new Gate()
  let answer: () => void = () => undefined
  const { t, port } = await serving('attached', (_, response) => {
    answer = () => response.end('late')
    void handled.pass()
  })
  const client = await asking(port, handled.reached)
  client.send(reset(1, value))
  await expect.poll(() => t.life.counts().requests).toBe(0)
  const ended = t.end()
  await t.fired('InFlightRequestsDrained')
  expect(t.hasFired('HandlersDone')).toBe(false)
  answer()
  expect(await ended).toMatchObject({ exitCode: 0 })
})

test('a handler that reads the body reads all that had arrived, also after a reset', async () => {
  const begun = new Gate()
  const read = new Gate()
  let body = ''
  const { port } = await serving('attached', async (request, response) => {
    response.end('answer')
    try {
      for await (const chunk of request) {
        body += String(chunk)
        await begun.pass()
      }
    } finally {
      read.open()
    }
  })
  const client = await asking(port, begun.reached)
  client.send(frame(FRAME.data, { stream: 1, payload: Buffer.from(' and more') }))
  client.send(reset(1, CODES.NO_ERROR))
  client.send(frame(FRAME.ping, { payload: Buffer.alloc(8) }))
  await client.until('the answer to a ping', ({ type }) => type === FRAME.ping)
  begun.open()
  await read.pass()
  expect(body).toBe('body and more')
})
