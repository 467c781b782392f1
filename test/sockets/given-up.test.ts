// Handlers of HTTP/2 that give up by themselves, and those that end their answer by the stream.
// Fails when: a stop waits for one of them, or warns of it; a handler whose client has left, or
// whose session another one has ended, is taken for one that has given up; or what handlers reset
// is held against their client.
import { once } from 'node:events'
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { FLOOD_LIMITS } from '#src/http/h2/flood-limits.ts'
import { Gate } from '../conformance/stage.ts'
import { answerOf, H2Client } from '../support/h2-client.ts'
import { newAttachedLife } from '../support/life.ts'

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => unknown

const CANCEL = 8

async function serving(handler: Handler) {
  const server = createServer((request, response) => {
    response.stream.on('error', () => undefined)
    return handler(request, response)
  })
  server.on('session', (session) => session.on('error', () => undefined))
  const t = newAttachedLife(server, { clock: new VirtualClock(), options: { lastCall: 0 } })
  server.listen(0, '127.0.0.1')
  await t.life.start()
  const { port } = server.address() as AddressInfo
  return { t, client: await H2Client.open(`http://127.0.0.1:${port}`) }
}

type Served = Awaited<ReturnType<typeof serving>>['t']

const warnings = ({ events }: Served) => events.filter(({ type }) => type === 'warning')

/** Of handlers that are waited for, and do not end. */
const NOT_ENDED = { message: 'handlers did not end their responses in time after their clients had left' }

const WAYS: Record<string, Handler> = {
  'destroys the response': (_, response) => void response.destroy(),
  'destroys the response with an error': (_, response) => void response.destroy(new Error('no')),
  'destroys half an answer': (_, response) => void response.write('half', () => response.destroy(new Error('no'))),
  'closes the stream': (_, { stream }) => stream.close(),
  'closes the stream with CANCEL': (_, { stream }) => stream.close(CANCEL),
  'destroys the stream of a HEAD request': (_, { stream }) => stream.destroy(new Error('no')),
  'destroys the stream later': (_, { stream }) => void setImmediate(() => stream.destroy(new Error('no'))),
  'destroys the session': (_, { stream }) => stream.session?.destroy(),
  'destroys the session with an error': (_, { stream }) => stream.session?.destroy(new Error('no')),
  'destroys the socket': (_, { stream }) => void stream.session?.socket.destroy(),
}

test.each(Object.entries(WAYS))('a stop does not wait for a handler that %s', async (what, handler) => {
  const { t, client } = await serving(handler)
  await client.get('/', { ':method': what.includes('HEAD') ? 'HEAD' : 'GET' })
  await expect.poll(() => t.life.counts().requests).toBe(0)
  expect(await t.end()).toMatchObject({ exitCode: 0 })
  expect(warnings(t)).toEqual([])
})

test.each([
  ['has sent it', (answer: Gate) => answer.open()],
  ['sends it when its client has left', (_: Gate, client: H2Client) => client.session.destroy()],
])('a handler that ends its answer by the stream of its response is over when it %s', async (_, then) => {
  const begun = new Gate()
  const ended = new Gate()
  const { t, client } = await serving((_request, response) => {
    // More than one window.
    response.stream.once('close', () => ended.open())
    void begun.pass().then(() => response.stream.end(Buffer.alloc(1_000_000)))
  })
  const answer = client.stream({ ':path': '/' }, true)
  const whole = answerOf(answer)
  await begun.reached
  then(begun, client)
  await whole
  await ended.pass()
  await expect.poll(() => t.life.counts().requests).toBe(0)
  begun.open()
  expect(await t.end()).toMatchObject({ exitCode: 0 })
  expect(warnings(t)).toEqual([])
})

const DEPARTURES: Record<string, (client: H2Client) => void> = {
  'destroys its connection': ({ session }) => session.destroy(),
  'ends its session with an error': ({ session }) => {
    session.goaway(CANCEL)
  },
}

test.each(Object.entries(DEPARTURES))('a handler whose client %s is waited for', async (_, leave) => {
  const asked = new Gate()
  let answer: () => void = () => undefined
  const { t, client } = await serving((_request, response) => {
    answer = () => response.end('late')
    void asked.pass()
  })
  client.stream({ ':path': '/' }, true)
  await asked.reached
  leave(client)
  await expect.poll(() => t.life.counts().requests).toBe(0)
  const ending = t.end()
  await t.fired('InFlightRequestsDrained')
  expect(t.hasFired('HandlersDone')).toBe(false)
  answer()
  await ending
  expect(warnings(t)).toEqual([])
})

test.each(['GET', 'HEAD'])('a handler of %s that waits for the close of its response hears that its client has left', async (method) => {
  const asked = new Gate()
  const { t, client } = await serving(async (_request, response) => {
    const closed = once(response, 'close')
    void asked.pass()
    await closed
  })
  client.stream({ ':method': method, ':path': '/' }, true)
  await asked.reached
  client.session.destroy()
  await expect.poll(() => t.life.counts().requests).toBe(0)
  expect(await t.end()).toMatchObject({ exitCode: 0 })
})

test('a handler whose session another one destroys is waited for', async () => {
  const asked = new Gate()
  const { t, client } = await serving(({ url }, { stream }) => {
    if (url === '/other') stream.session?.destroy()
    else void asked.pass()
  })
  client.stream({ ':path': '/' }, true)
  await asked.reached
  await client.get('/other')
  await expect.poll(() => t.life.counts().requests).toBe(0)
  await t.end()
  expect(warnings(t)).toMatchObject([NOT_ENDED])
})

test('what handlers give up is not held against their client', async () => {
  const { t, client } = await serving((_, response) => void response.destroy(new Error('no')))
  for (let times = 0; times < 2 * FLOOD_LIMITS.resets.atOnce; times++) await client.get('/')
  expect(client.session.destroyed).toBe(false)
  expect(warnings(t)).toEqual([])
})
