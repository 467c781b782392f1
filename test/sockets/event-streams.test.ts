// Which responses are watches: event streams whose handlers ask for their signal, and what was said
// to be one. Fails when: a stream that may end by itself has less time than a request, a way of
// writing its head is not seen, something else is taken for one, what was said does not decide, a
// move between requests and watches loses count, or a handler is told in the middle of its own
// write or before it can listen.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { ExchangeView } from '#src/http/chain.ts'
import { markRequest, markWatch, shutdownSignalOf } from '#src/http/shutdown-signal.ts'
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

/** Begins the shutdown as far as heads are armed. */
function begin({ traffic }: Rig): void {
  traffic.initiateShutdown()
  traffic.beginNotifying(AT_ONCE)
}

const REQUEST = { requests: 1, watches: 0 }
const WATCH = { requests: 0, watches: 1 }

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

describe('an event stream whose handler asks for its signal is a watch from then on', () => {
  for (const when of ['while serving', 'during the shutdown'] as const) {
    test.each(WAYS)(`asked first, ${when}: %s`, async (_, write) => {
      const handler = new Handler()
      const scene = await opened(rig(handler.listener))
      if (when === 'during the shutdown') begin(scene)
      shutdownSignalOf(handler.request)
      expect(scene.traffic.counts(), 'its answer may be anything yet').toMatchObject(REQUEST)
      write(handler.response)
      await turns(1)
      expect(scene.traffic.counts()).toMatchObject(WATCH)
      handler.response.end()
      expect(await scene.client.response()).toMatchObject({ status: 200 })
      await expect.poll(() => scene.traffic.counts().watches).toBe(0)
    })

    test.each(WAYS)(`asked later, ${when}: %s`, async (_, write) => {
      const handler = new Handler()
      const scene = await opened(rig(handler.listener))
      if (when === 'during the shutdown') begin(scene)
      write(handler.response)
      await turns(1)
      expect(scene.traffic.counts(), 'nothing is known of it yet').toMatchObject(REQUEST)
      const signal = shutdownSignalOf(handler.request)
      expect(scene.traffic.counts()).toMatchObject(WATCH)
      if (when === 'while serving') begin(scene)
      scene.traffic.stopAccepting()
      await scene.traffic.drains.requests()
      const drained = scene.traffic.drains.watches(60_000)
      await expect.poll(() => signal.aborted).toBe(true)
      handler.response.end('last')
      expect(await scene.client.response()).toMatchObject({ status: 200, body: expect.stringMatching(/last$/) })
      expect(await drained).toMatchObject({ before: 1, after: 0 })
    })
  }

  test('and its client is told by the next answer, as by any whose head was too early', async () => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    shutdownSignalOf(handler.request)
    handler.response.writeHead(200, { 'Content-Type': TYPE }).write('first ')
    begin(scene)
    handler.response.end('last')
    expect(await scene.client.response()).toMatchObject({ headers: { connection: 'keep-alive' }, body: 'first last' })
    scene.client.request('GET', '/next')
    await expect.poll(() => handler.request.url).toBe('/next')
    handler.response.end()
    expect(await scene.client.response()).toMatchObject({ headers: { connection: 'close' } })
  })

  test.each(OTHERS)('but no other answer: %s', async (_, write) => {
    const [before, during] = [new Handler(), new Handler()]
    const scene = await opened(
      rig((request, response) => (before.request ? during : before).listener(request, response)),
      TYPE,
    )
    shutdownSignalOf(before.request)
    write(before.response)
    begin(scene)
    const client = await scene.connect()
    client.request('GET', '/stream', { headers: { Accept: TYPE } })
    await expect.poll(() => scene.traffic.counts().requests).toBe(2)
    write(during.response)
    shutdownSignalOf(during.request)
    await turns(1)
    expect(scene.traffic.counts()).toMatchObject({ requests: 2, watches: 0 })
  })

  test('nor one that is over already, and only its tail is on the way', async () => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    scene.client.socket.pause()
    handler.response.writeHead(200, { 'Content-Type': TYPE }).end(Buffer.alloc(2 ** 25, 'x'))
    shutdownSignalOf(handler.request)
    expect(scene.traffic.counts()).toMatchObject(REQUEST)
  })

  test('nor one that is answered whole in one step', async () => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    shutdownSignalOf(handler.request)
    scene.client.socket.pause()
    handler.response.writeHead(200, { 'Content-Type': TYPE }).end(Buffer.alloc(2 ** 25, 'x'))
    await turns(1)
    expect(scene.traffic.counts()).toMatchObject(REQUEST)
  })

  test('nor one whose client has left', async () => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    handler.response.writeHead(200, { 'Content-Type': TYPE }).write('first ')
    scene.client.socket.destroy()
    await expect.poll(() => scene.traffic.counts().requests).toBe(0)
    expect(shutdownSignalOf(handler.request).aborted).toBe(false)
    expect(scene.traffic.counts()).toMatchObject({ requests: 0, watches: 0 })
  })
})

describe('an event stream whose handler does not ask has the time of a request', () => {
  test.each(WAYS)('%s', async (_, write) => {
    const clock = new VirtualClock()
    const handler = new Handler()
    const scene = await opened(rig(handler.listener, { clock }))
    write(handler.response)
    begin(scene)
    scene.traffic.stopAccepting()
    const drained = scene.traffic.drains.requests()
    expect(await scene.traffic.drains.watches(1_000)).toEqual({ before: 0, after: 0 })
    await clock.advance(60_000)
    expect(scene.traffic.counts()).toMatchObject(REQUEST)
    handler.response.end('last')
    expect(await scene.client.response()).toMatchObject({ status: 200, body: expect.stringMatching(/last$/) })
    await drained
  })

  test('and is named as a stream when it is cut, unless something was said of it', async () => {
    const handlers: Record<string, Handler> = {}
    const scene = await rig((request, response) => {
      handlers[String(request.url)] ??= new Handler()
      handlers[String(request.url)]?.listener(request, response)
    })
    for (const path of ['/events', '/said', '/chunks', '/silent', '/tail']) {
      const client = await scene.connect()
      client.request('GET', path)
      await expect.poll(() => handlers[path]?.response).toBeDefined()
      if (path === '/tail') client.socket.pause()
    }
    markRequest(handlers['/said']?.request as IncomingMessage)
    for (const path of ['/events', '/said']) handlers[path]?.response.writeHead(200, { 'Content-Type': TYPE }).write('first ')
    handlers['/chunks']?.response.write('{}\n')
    handlers['/tail']?.response.end(Buffer.alloc(2 ** 25, 'x'))
    expect(scene.traffic.drains.cutRequests().map(({ name, streaming = false }) => [name, streaming])).toEqual([
      ['GET /events', true],
      ['GET /said', false],
      ['GET /chunks', true],
      ['GET /silent', false],
      ['GET /tail', false],
    ])
  })
})

describe('what is said of a request decides, whatever its answer looks like', () => {
  const stream = ({ response }: Handler): unknown => response.writeHead(200, { 'Content-Type': TYPE }).write('first ')
  const ask = ({ request }: Handler): unknown => shutdownSignalOf(request)
  const request = (handler: Handler): unknown => markRequest(handler.request)
  const watch = (handler: Handler): unknown => markWatch(handler.request)

  test.each([
    ['that it is a request, before its head', [request, ask, stream], REQUEST],
    ['that it is a request, after its head', [stream, request, ask], REQUEST],
    ['that it is a request, when it was a watch by its head', [stream, ask, request], REQUEST],
    ['that it is a watch, and no handler listens', [watch, stream], WATCH],
    ['first the one, then the other', [watch, request, stream], REQUEST],
    ['first the other, then the one', [request, stream, watch], WATCH],
    ['the same twice', [request, request, stream, ask], REQUEST],
  ] as const)('%s', async (_, steps, counts) => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    for (const step of steps) step(handler)
    await turns(1)
    expect(scene.traffic.counts()).toMatchObject(counts)
    handler.response.end()
    await expect.poll(() => scene.traffic.counts()).toMatchObject({ requests: 0, watches: 0 })
  })

  test.each([
    ['true', true, [], WATCH],
    ['true, and the handler that it is a request', true, [request], REQUEST],
    ['false, whatever its handler listens to', false, [ask], REQUEST],
    ['false, and the handler that it is a watch', false, [watch], WATCH],
    ['undefined, and its handler listens', undefined, [ask], WATCH],
    ['undefined, and its handler does not', undefined, [], REQUEST],
  ] as const)('longRunning says %s', async (_, isLongRunning, steps, counts) => {
    const handler = new Handler()
    const scene = await rig(handler.listener, { isLongRunning: () => isLongRunning })
    const client = await scene.connect()
    client.request('GET', '/stream')
    await expect.poll(() => handler.response).toBeDefined()
    for (const step of [...steps, stream]) step(handler)
    await turns(1)
    expect(scene.traffic.counts()).toMatchObject(counts)
  })

  test('a step before the count says it for good: longRunning is not asked', async () => {
    const handler = new Handler()
    const steps = [{ name: 'mine', before: 'count', admit: (exchange: ExchangeView) => Boolean(markRequest(exchange.request)) }]
    const scene = await rig(handler.listener, { steps, isLongRunning: () => true })
    const client = await scene.connect()
    client.request('GET', '/stream')
    await expect.poll(() => scene.traffic.counts()).toMatchObject(REQUEST)
  })

  test('a step that only passes the signal of the exchange on has not asked for the handler', async () => {
    const handler = new Handler()
    const steps = [{ name: 'mine', admit: ({ signal }: ExchangeView) => !signal.aborted }]
    const scene = await opened(rig(handler.listener, { steps }))
    stream(handler)
    await turns(1)
    expect(scene.traffic.counts()).toMatchObject(REQUEST)
  })

  test('a watch that was told stays one, because that cannot be taken back', async () => {
    const handler = new Handler()
    const scene = await opened(rig(handler.listener))
    const signal = markWatch(handler.request)
    const drained = scene.traffic.drains.watches(60_000)
    await expect.poll(() => signal.aborted).toBe(true)
    expect(markRequest(handler.request)).toBe(signal)
    expect(scene.traffic.counts()).toMatchObject(WATCH)
    handler.response.end()
    expect(await drained).toMatchObject({ before: 1, after: 0 })
  })

  test('one that was not told moves back while others are, and is not told', async () => {
    const clock = new VirtualClock()
    const handlers: Handler[] = []
    const scene = await rig(
      (...args) => {
        const handler = new Handler()
        handlers.push(handler)
        handler.listener(...args)
      },
      { clock },
    )
    for (const path of ['/watch/1', '/watch/2', '/slow']) (await scene.connect()).request('GET', path)
    await expect.poll(() => scene.traffic.counts()).toMatchObject({ requests: 1, watches: 2 })
    const requestsDrained = scene.traffic.drains.requests()
    const watchesDrained = scene.traffic.drains.watches(1_000)
    await turns(1)
    const [notified, untold, slow] = handlers as [Handler, Handler, Handler]
    const signal = markRequest(untold.request)
    expect(scene.traffic.counts()).toMatchObject({ requests: 2, watches: 1 })
    notified.response.end()
    await expect.poll(() => scene.traffic.counts()).toMatchObject({ requests: 2, watches: 0 })
    await clock.advance(10)
    expect(await watchesDrained).toMatchObject({ before: 2, after: 0 })
    expect(signal.aborted).toBe(false)
    for (const { response } of [untold, slow]) response.end()
    await requestsDrained
  })
})

describe('a handler that asks while both drains are under way', () => {
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
    const requestsDrained = scene.traffic.drains.requests()
    const watchesDrained = scene.traffic.drains.watches(GRACE_MS)
    return { ...scene, clock, late, watch: handlers[0] as Handler, handler: handlers[1] as Handler, requestsDrained, watchesDrained }
  }

  test('moves its request in one step, and is told in its turn, whose stream stays whole', async () => {
    const { traffic, clock, late, watch, handler, requestsDrained, watchesDrained } = await draining()
    // As many do: the handler that hears the signal ends the response there and then.
    shutdownSignalOf(handler.request).addEventListener('abort', () => handler.response.end('last'))
    handler.response.setHeader('Content-Type', TYPE)
    handler.response.write('first ')
    handler.response.write('second ')
    await requestsDrained
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 2 })
    expect(handler.response.writableEnded, 'the first turn was that of the other watch').toBe(false)
    await clock.advance(5)
    expect(await late.response()).toMatchObject({ status: 200, framing: 'chunked', body: 'first second last' })
    expect(await late.closed()).toBe('ended')
    watch.response.end()
    expect(await watchesDrained).toMatchObject({ after: 0 })
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 0 })
  })

  test('hears that it is told although it listens only then', async () => {
    const { traffic, clock, late, watch, handler, watchesDrained } = await draining()
    handler.response.writeHead(200, { 'Content-Type': TYPE }).write('first ')
    shutdownSignalOf(handler.request).addEventListener('abort', () => handler.response.end('last'))
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 2 })
    await clock.advance(5)
    expect(await late.response()).toMatchObject({ body: 'first last' })
    watch.response.end()
    expect(await watchesDrained).toMatchObject({ after: 0 })
  })

  test('moves it as long as half of the grace is left, which every watch has', async () => {
    const { clock, traffic, handler, requestsDrained } = await draining()
    await clock.advance(GRACE_MS / 2)
    handler.response.writeHead(200, { 'Content-Type': TYPE }).flushHeaders()
    shutdownSignalOf(handler.request)
    await requestsDrained
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 2 })
  })

  test('comes too late after that: it is told at once, and the request drain still waits for it', async () => {
    const { clock, traffic, late, handler, requestsDrained } = await draining()
    await clock.advance(GRACE_MS / 2 + 1)
    handler.response.writeHead(200, { 'Content-Type': TYPE }).flushHeaders()
    shutdownSignalOf(handler.request).addEventListener('abort', () => handler.response.end('last'))
    expect(traffic.counts()).toMatchObject({ requests: 1, watches: 1 })
    expect(await late.response()).toMatchObject({ body: 'last' })
    await requestsDrained
  })

  test('comes too late, too, when no other watch is left', async () => {
    const { traffic, late, watch, handler, requestsDrained, watchesDrained } = await draining()
    watch.response.end()
    expect(await watchesDrained).toMatchObject({ after: 0 })
    handler.response.writeHead(200, { 'Content-Type': TYPE }).flushHeaders()
    shutdownSignalOf(handler.request).addEventListener('abort', () => handler.response.end('last'))
    expect(traffic.counts()).toMatchObject(REQUEST)
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
    const drained = scene.traffic.drains.watches(1_000)
    await clock.advance(1_000)
    await drained
    expect(scene.traffic.drains.terminateWatches()).toMatchObject({ watches: [{ name: 'GET /watch' }], lost })
    expect(await client.closed()).not.toBe('open')
  })

  test('one that was never told is lost, as it is when the budget ends the drain before its turn', async () => {
    const handler = new Handler()
    const scene = await rig(handler.listener)
    const client = await scene.connect()
    client.request('GET', '/watch')
    await expect.poll(() => scene.traffic.counts().watches).toBe(1)
    handler.response.flushHeaders()
    expect(scene.traffic.drains.terminateWatches()).toMatchObject({ lost: 1 })
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
    const drained = scene.traffic.drains.watches(1_000)
    await clock.advance(1_000)
    await drained
    expect(scene.traffic.drains.terminateWatches()).toMatchObject({ lost })
  })
})
