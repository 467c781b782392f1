// Which responses are watches because of what they say: those whose head is written with
// `text/event-stream`. Fails when: a way of writing such a head is not seen, something else is
// taken for one, the move from requests to watches loses count, or a handler is told in the middle
// of its own write.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { shutdownSignalOf } from '#src/http/shutdown-signal.ts'
import { type Rig, rig, turns } from './rig.ts'

const AT_ONCE = { how: 'at-once', delayMs: 0 } as const
const TYPE = 'text/event-stream'

type Write = (response: ServerResponse) => void

const WAYS: readonly (readonly [string, Write])[] = [
  ['writeHead with an object', (response) => response.writeHead(200, { 'Content-Type': TYPE }).write('first ')],
  ['writeHead with a reason and a list', (response) => response.writeHead(200, 'Fine', ['content-type', TYPE]).write('first ')],
  ['writeHead beside setHeader', (response) => response.setHeader('X-Own', '1').writeHead(200, { 'content-type': TYPE }).write('first ')],
  ['setHeader and write', (response) => response.setHeader('Content-Type', `${TYPE}; charset=utf-8`).write('first ')],
  ['setHeader and flushHeaders', (response) => response.setHeader('CONTENT-TYPE', TYPE.toUpperCase()).flushHeaders()],
  ['appendHeader', (response) => response.appendHeader('Content-Type', TYPE).flushHeaders()],
  ['setHeaders', (response) => response.setHeaders(new Headers({ 'content-type': TYPE })).flushHeaders()],
]
const OTHERS: readonly (readonly [string, Write])[] = [
  ['another type', (response) => response.writeHead(200, { 'Content-Type': 'text/event-streams' }).write('first ')],
  ['no type', (response) => response.write('first ')],
  ['another header', (response) => response.writeHead(200, { 'X-Content-Type': TYPE, 'X-Note': `content-type: ${TYPE}` }).write('first ')],
  [
    'a type that only mentions it',
    (response) => response.writeHead(200, { 'Content-Type': `multipart/mixed; type=${TYPE}` }).write('first '),
  ],
]

/** Begins the shutdown as far as watches are looked for. */
function begin({ traffic }: Rig): void {
  traffic.initiateShutdown()
  traffic.beginTelling(AT_ONCE)
}

/** A handler whose response is in hand as soon as its request is there. */
async function opened(made: Promise<Rig>, accept = '*/*') {
  const scene = await made
  const client = await scene.connect()
  client.request('POST', '/stream', { headers: { Accept: accept }, body: '{}' })
  await expect.poll(() => scene.traffic.counts().requests).toBe(1)
  return { ...scene, client }
}

/** Keeps what it was called with. */
class Handler {
  request!: IncomingMessage
  response!: ServerResponse
  readonly listener = (request: IncomingMessage, response: ServerResponse): void => {
    this.request = request
    this.response = response
  }
}

describe('a response becomes a watch by its head', () => {
  test.each(WAYS)('written before the shutdown: %s', async (_, write) => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    write(handler.response)
    expect(scene.traffic.counts(), 'nothing is looked at while serving').toMatchObject({ requests: 1, watches: 0 })
    begin(scene)
    expect(scene.traffic.counts()).toMatchObject({ requests: 0, watches: 1 })
    scene.traffic.stopAccepting()
    await scene.traffic.drainRequests()
    const drained = scene.traffic.drainWatches(60_000)
    const signal = shutdownSignalOf(handler.request)
    await expect.poll(() => signal.aborted).toBe(true)
    handler.response.end('last')
    expect(await scene.client.response()).toMatchObject({ status: 200, body: expect.stringMatching(/last$/) })
    expect(await drained).toMatchObject({ before: 1, after: 0 })
  })

  test.each(WAYS)('written during the shutdown: %s', async (_, write) => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    begin(scene)
    expect(scene.traffic.counts()).toMatchObject({ requests: 1, watches: 0 })
    write(handler.response)
    await turns(1)
    expect(scene.traffic.counts()).toMatchObject({ requests: 0, watches: 1 })
    handler.response.end()
    expect(await scene.client.response()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await expect.poll(() => scene.traffic.counts().watches).toBe(0)
  })

  test.each(OTHERS)('not by %s, before or during the shutdown', async (_, write) => {
    const [before, during] = [new Handler(), new Handler()]
    const scene = await opened(
      rig((request, response) => (before.request ? during : before).listener(request, response)),
      TYPE,
    )
    write(before.response)
    begin(scene)
    const client = await scene.connect()
    client.request('GET', '/stream', { headers: { Accept: TYPE } })
    await expect.poll(() => scene.traffic.counts().requests).toBe(2)
    write(during.response)
    await turns(1)
    expect(scene.traffic.counts()).toMatchObject({ requests: 2, watches: 0 })
  })

  test('not when it is over already, and only its tail is on the way', async () => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    scene.client.socket.pause()
    handler.response.writeHead(200, { 'Content-Type': TYPE }).end(Buffer.alloc(2 ** 25, 'x'))
    begin(scene)
    expect(scene.traffic.counts()).toMatchObject({ requests: 1, watches: 0 })
  })

  test('not when it is answered whole in one step', async () => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    begin(scene)
    scene.client.socket.pause()
    handler.response.writeHead(200, { 'Content-Type': TYPE }).end(Buffer.alloc(2 ** 25, 'x'))
    await turns(1)
    expect(scene.traffic.counts()).toMatchObject({ requests: 1, watches: 0 })
  })
})

describe('a head that is written while both drains are under way', () => {
  const GRACE_MS = 1_000

  /** A watch that is waited for, and a request whose handler has not answered yet. */
  async function draining() {
    const clock = new VirtualClock()
    const handlers: Handler[] = []
    const scene = await rig(
      (request, response) => {
        const handler = new Handler()
        handlers.push(handler)
        handler.listener(request, response)
      },
      { clock },
    )
    const [deaf, late] = [await scene.connect(), await scene.connect()]
    deaf.request('GET', '/watch')
    await expect.poll(() => scene.traffic.counts().watches).toBe(1)
    late.request('POST', '/stream')
    await expect.poll(() => scene.traffic.counts().requests).toBe(1)
    begin(scene)
    scene.traffic.stopAccepting()
    const requestsDrained = scene.traffic.drainRequests()
    const watchesDrained = scene.traffic.drainWatches(GRACE_MS)
    return { ...scene, clock, late, watch: handlers[0] as Handler, handler: handlers[1] as Handler, requestsDrained, watchesDrained }
  }

  test('moves its request in one step, and tells its handler, whose stream stays whole', async () => {
    const { traffic, late, watch, handler, requestsDrained, watchesDrained } = await draining()
    // As many do: the handler that hears the signal ends the response there and then.
    shutdownSignalOf(handler.request).addEventListener('abort', () => handler.response.end('last'))
    handler.response.setHeader('Content-Type', TYPE)
    handler.response.write('first ')
    handler.response.write('second ')
    await requestsDrained
    expect(await late.response()).toMatchObject({ status: 200, framing: 'chunked', body: 'first second last' })
    expect(await late.closed()).toBe('ended')
    watch.response.end()
    expect(await watchesDrained).toMatchObject({ after: 0 })
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 0 })
  })

  test('moves it as long as half of the grace is left, which every watch has', async () => {
    const { clock, traffic, handler, requestsDrained } = await draining()
    await clock.advance(GRACE_MS / 2)
    handler.response.writeHead(200, { 'Content-Type': TYPE }).flushHeaders()
    await requestsDrained
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 2 })
  })

  test('comes too late after that: it is told, and the request drain still waits for it', async () => {
    const { clock, traffic, late, handler, requestsDrained } = await draining()
    await clock.advance(GRACE_MS / 2 + 1)
    handler.response.writeHead(200, { 'Content-Type': TYPE }).flushHeaders()
    await turns(1)
    expect(shutdownSignalOf(handler.request).aborted).toBe(true)
    expect(traffic.counts()).toMatchObject({ requests: 1, watches: 1 })
    handler.response.end('last')
    expect(await late.response()).toMatchObject({ body: 'last' })
    await requestsDrained
  })
})

describe('of watches that are broken off', () => {
  const cases: readonly (readonly [string, Write | undefined, number])[] = [
    ['one that has begun to answer is not lost', (response) => response.flushHeaders(), 0],
    ['one without an answer is lost', undefined, 1],
    ['one whose head is only written down is lost', (response) => response.writeHead(200), 1],
  ]
  test.each(cases)('%s', async (_, write, lost) => {
    const clock = new VirtualClock()
    const handler = new Handler()
    const scene = await rig(handler.listener, { clock })
    const client = await scene.connect()
    client.request('GET', '/watch')
    await expect.poll(() => scene.traffic.counts().watches).toBe(1)
    write?.(handler.response)
    const drained = scene.traffic.drainWatches(1_000)
    await clock.advance(1_000)
    await drained
    expect(scene.traffic.terminateWatches()).toMatchObject({ watches: [{ name: 'GET /watch' }], lost })
    expect(await client.closed()).not.toBe('open')
  })

  test('one that was never told is lost, as it is when the budget ends the drain before its turn', async () => {
    const handler = new Handler()
    const scene = await rig(handler.listener)
    const client = await scene.connect()
    client.request('GET', '/watch')
    await expect.poll(() => scene.traffic.counts().watches).toBe(1)
    handler.response.flushHeaders()
    expect(scene.traffic.terminateWatches()).toMatchObject({ lost: 1 })
  })

  test.each([
    ['has answered', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n', 0],
    ['has not', '', 1],
  ])('an upgrade that %s', async (_, answer, lost) => {
    const clock = new VirtualClock()
    const scene = await rig(undefined, { clock })
    scene.server.on('upgrade', (_request, socket) => void socket.write(answer))
    const client = await scene.connect()
    client.request('GET', '/socket', { headers: { Connection: 'Upgrade', Upgrade: 'echo' } })
    await expect.poll(() => scene.traffic.counts().watches).toBe(1)
    await turns(2)
    const drained = scene.traffic.drainWatches(1_000)
    await clock.advance(1_000)
    await drained
    expect(scene.traffic.terminateWatches()).toMatchObject({ lost })
  })
})
