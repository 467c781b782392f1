import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Listener } from '#src/actors/listener.ts'
import { type Clock, systemClock } from '#src/base/clock.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { ExchangeView } from '#src/http/chain.ts'
import { shutdownSignalOf } from '#src/http/shutdown-signal.ts'
import { row } from '../support/row.ts'
import { hasSettled, Latch, type Rig, type RigOptions, rig, turns } from './rig.ts'

/**
 * Plain mode at NotAcceptingNewRequest: refuses, closes the listener, then the idle connections.
 */
function closeListener({ traffic, server }: Rig, ...lastCall: Parameters<Rig['traffic']['stopAccepting']>): Promise<void> {
  traffic.stopAccepting(...lastCall)
  new Listener(server, undefined).close()
  return traffic.lastCall.closeIdleConnections()
}

async function serving(options: RigOptions = {}): Promise<Rig> {
  const made = await rig((_request, response) => void response.end('ok'), options)
  made.traffic.initiateShutdown()
  return made
}

describe('when the listener has closed', () => {
  row('GT-23', 'idle keep-alive connections are closed at once, and counted as never told', async () => {
    const made = await serving()
    const clients = await Promise.all([made.connect(), made.connect(), made.connect()])
    for (const client of clients) await client.ask('GET', '/')
    void closeListener(made)
    for (const client of clients) expect(await client.closed()).toBe('ended')
    await made.traffic.connectionsClosed()
    const fates = { notified: 0, idleUnnotified: 3, ended: 0, forced: 0 }
    const byProtocol = [{ protocol: 'HTTP/1.1', tls: 'none', open: 0, ...fates }]
    expect(made.traffic.snapshot.connectionFates()).toEqual({ ...fates, forcedNames: [], byProtocol })
  })

  test('of those that have not left yet all are counted, of which some are named', async () => {
    const made = await serving()
    const clients = await Promise.all(Array.from({ length: 5 }, made.connect))
    for (const client of clients) await client.ask('GET', '/')
    expect(made.traffic.snapshot.blocking(2).connections.blocking).toBeUndefined()
    const closed = closeListener(made)
    // Ended by us, and not by their clients, who hear of it later.
    await expect.poll(() => made.traffic.snapshot.blocking(2).connections.blocking, { interval: 0 }).toBe(5)
    expect(made.traffic.snapshot.blocking(2).blocking.connections).toHaveLength(2)
    await closed
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.blocking(2).connections.blocking).toBeUndefined()
  })

  test('a connection that never sent anything is closed, too', async () => {
    const made = await serving()
    const client = await made.connect()
    await expect.poll(() => made.traffic.counts().connections.open).toBe(1)
    void closeListener(made)
    expect(await client.closed()).toBe('ended')
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ idleUnnotified: 1 })
  })

  test('a request that had reached the kernel is answered, not lost', async () => {
    const made = await serving()
    const clients = await Promise.all(Array.from({ length: 20 }, made.connect))
    for (const client of clients) await client.ask('GET', '/')
    for (const client of clients) client.socket.write('GET /late HTTP/1.1\r\nHost: a\r\n\r\n')
    // No turn of the event loop in between: the server has not seen any of them.
    void closeListener(made)
    for (const client of clients) {
      expect(await client.response()).toMatchObject({ status: 503, headers: { connection: 'close' } })
      expect(await client.closed()).toBe('ended')
    }
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ notified: 20, idleUnnotified: 0 })
  })

  test('a connection that becomes idle later is closed then', async () => {
    const latch = new Latch()
    const made = await rig(async (request, response) => {
      response.write('head ')
      await latch.promise
      response.end(request.url)
    })
    made.traffic.initiateShutdown()
    const client = await made.connect()
    client.request('GET', '/slow')
    await client.until('the head', () => client.received.includes('head'))
    void closeListener(made)
    await turns(10)
    expect(client.state).toBe('open')
    latch.resolve()
    expect(await client.response()).toMatchObject({ body: 'head /slow', headers: { connection: 'keep-alive' } })
    expect(await client.closed()).toBe('ended')
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ idleUnnotified: 1, notified: 0 })
  })

  test('a request that comes with the end of the previous response is answered', async () => {
    const latch = new Latch()
    const made = await rig(async (_request, response) => {
      response.write('head ')
      await latch.promise
      response.end('rest')
    })
    made.traffic.initiateShutdown()
    const client = await made.connect()
    client.request('GET', '/slow')
    await client.until('the head', () => client.received.includes('head'))
    void closeListener(made)
    await turns(10)
    // No turn of the event loop in between: when the response ends, the server has not seen what
    // comes next.
    client.request('GET', '/next')
    latch.resolve()
    expect(await client.response()).toMatchObject({ status: 200 })
    expect(await client.response()).toMatchObject({ status: 503, headers: { connection: 'close' } })
  })
})

describe('the last call', () => {
  async function lastCall(options: RigOptions = {}) {
    const made = await serving(options)
    const client = await made.connect()
    await expect.poll(() => made.traffic.counts().connections.open).toBe(1)
    made.traffic.stopAccepting(300)
    return { ...made, client, heeded: made.traffic.lastCall.heeded() }
  }

  test('is heeded at once when there is no connection', async () => {
    const { traffic } = await serving()
    traffic.stopAccepting(300)
    await traffic.lastCall.heeded()
  })

  test('is held for an idle connection, and no longer when that brings a request', async () => {
    const { client, heeded } = await lastCall()
    expect(await hasSettled(heeded)).toBe(false)
    client.request('GET', '/last')
    await heeded
    expect((await client.response()).status).toBe(200)
  })

  test('is held no longer for one whose client has left', async () => {
    const { client, heeded } = await lastCall()
    client.abort()
    await heeded
  })

  test('is held for every one of them, and for one that comes meanwhile', async () => {
    const { client, connect, traffic, heeded } = await lastCall()
    const another = await connect()
    await expect.poll(() => traffic.counts().connections.open).toBe(2)
    client.abort()
    await expect.poll(() => traffic.counts().connections.open).toBe(1)
    expect(await hasSettled(heeded)).toBe(false)
    another.abort()
    await heeded
  })

  test('is held on for one whose last answer did not tell its client', async () => {
    const { client, connect, traffic, heeded } = await lastCall({ exempt: ['/probe'] })
    const another = await connect()
    await expect.poll(() => traffic.counts().connections.open).toBe(2)
    expect(await client.ask('GET', '/probe')).toMatchObject({ headers: { connection: 'keep-alive' } })
    await expect.poll(() => traffic.counts().connections.idle).toBe(2)
    another.abort()
    await expect.poll(() => traffic.counts().connections.open).toBe(1)
    expect(await hasSettled(heeded)).toBe(false)
  })

  test('lets a watch in as well, which is told to end and waited for', async () => {
    const released = new Latch()
    const { traffic, connect } = await rig((request, response) => {
      const goodbye = () => void released.promise.then(() => response.end('goodbye'))
      shutdownSignalOf(request).addEventListener('abort', goodbye)
    })
    const client = await connect()
    traffic.stopAccepting(300)
    await traffic.drains.watches(60_000)
    client.request('GET', '/watch')
    await expect.poll(() => traffic.counts().requests).toBe(1)
    const drained = traffic.drains.requests()
    expect(await hasSettled(drained)).toBe(false)
    released.resolve()
    expect(await client.response()).toMatchObject({ status: 200, body: 'goodbye', headers: { connection: 'close' } })
    await drained
  })

  test('refuses a watch when the grace of the watches leaves it no time', async () => {
    const clock = new VirtualClock()
    const { traffic, client } = await lastCall({ clock })
    const drained = traffic.drains.watches(300)
    client.request('GET', '/watch')
    expect((await client.response()).status).toBe(503)
    await drained
  })

  test('is over for one that is known only when idle ones have been closed: it has a second', async () => {
    const clock = new VirtualClock()
    const made = await serving({ clock })
    made.traffic.stopAccepting(300)
    await made.traffic.lastCall.closeIdleConnections()
    const client = await made.connect()
    await expect.poll(() => made.traffic.counts().connections.open).toBe(1)
    await clock.advance(999)
    await turns(5)
    expect(client.state).toBe('open')
    await clock.advance(1)
    expect(await client.closed()).toBe('ended')
  })
})

test.each([0, 1, 2, 3].flatMap((over) => [0, 1, 2, 3].map((next) => [over, next] as const)))(
  'the drain ends when an untold response is over %i turns after idle connections begin to close, and %i later the next request comes',
  async (over, next) => {
    const latch = new Latch()
    const made = await rig(async (request, response) => {
      response.flushHeaders()
      if (request.url === '/begun') await latch.promise
      response.end('ok')
    })
    const client = await made.connect()
    client.request('GET', '/begun')
    await client.until('the head', () => client.received.includes('200 OK'))
    made.traffic.completeNotifying()
    const closing = closeListener(made, 300)
    await turns(over)
    latch.resolve()
    await turns(next)
    client.socket.write('GET /next HTTP/1.1\r\nHost: a\r\n\r\n')
    await closing
    const drained = made.traffic.drains.requests()
    expect((await client.response()).status).toBe(200)
    expect((await client.response()).status).toBe(200)
    await drained
  },
)

describe('half of a first request at the end of the last call', () => {
  const HALF = 'GET /half HTTP/1.1\r\nHost: a\r\n'

  /** One such connection, and a drain that has begun. */
  async function halfSent(options: RigOptions, ...lastCall: Parameters<Rig['traffic']['stopAccepting']>) {
    const clock = new VirtualClock()
    const made = await serving({ clock, ...options })
    const client = await made.connect()
    client.send(HALF)
    await turns(20)
    made.traffic.completeNotifying()
    await closeListener(made, ...lastCall)
    return { ...made, clock, client, drained: made.traffic.drains.requests() }
  }

  test('is waited for by the request drain, answered, and told', async () => {
    const { traffic, client, drained } = await halfSent({}, 300)
    expect(await hasSettled(drained)).toBe(false)
    expect(traffic.counts().requests).toBe(0)
    const name = `127.0.0.1:${client.socket.localPort} half-sent request`
    expect(traffic.snapshot.blocking(10).blocking).toMatchObject({ requests: [{ name }], connections: [] })
    client.send('\r\n')
    expect(await client.response()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await drained
    expect(traffic.lastCall.came).toMatchObject({ answered: 1 })
    expect(traffic.counts().requests).toBe(0)
  })

  test('is answered with what was asked behind it', async () => {
    const { client, drained } = await halfSent({}, 300)
    client.send('\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n')
    for (let count = 0; count < 3; count++) expect((await client.response()).status).toBe(200)
    await drained
  })

  test.each([0, 1, 2, 3])('is answered when the rest comes %i turns of the event loop after the close began', async (count) => {
    const made = await serving()
    const client = await made.connect()
    client.send(HALF)
    await turns(20)
    made.traffic.completeNotifying()
    const closing = closeListener(made, 300)
    await turns(count)
    client.socket.write('\r\n')
    await closing
    const drained = made.traffic.drains.requests()
    expect((await client.response()).status).toBe(200)
    await drained
  })

  test('is answered by a step that takes its time', async () => {
    const latch = new Latch()
    const answers = ({ response }: ExchangeView): false => {
      void latch.promise.then(() => response?.end('step'))
      return false
    }
    const steps = [{ name: 'slow', before: 'count', admit: answers }]
    const { client, drained, traffic } = await halfSent({ steps }, 300)
    client.send('\r\n')
    await expect.poll(() => traffic.counts().connections.idle).toBe(0)
    expect(await hasSettled(drained)).toBe(false)
    expect(traffic.snapshot.blocking(10).blocking.requests).toMatchObject([{ name: `127.0.0.1:${client.socket.localPort} GET /half` }])
    latch.resolve()
    expect(await client.response()).toMatchObject({ status: 200, body: 'step' })
    await drained
  })

  test('is looked for once more when its time is over and the event loop was busy', async () => {
    const timers: (() => void)[] = []
    const clock: Clock = { ...systemClock, now: () => 0, setTimeout: (callback) => timers.push(callback), clearTimeout: () => undefined }
    const { client, drained } = await halfSent({ clock }, 300)
    // In one step, so that the timer is due before the loop has polled.
    client.socket.write('\r\n')
    for (const due of timers) due()
    expect((await client.response()).status).toBe(200)
    await drained
  })

  test('is waited for no longer than it has for its rest', async () => {
    const { clock, client, drained } = await halfSent({}, 300)
    await clock.advance(999)
    expect(await hasSettled(drained)).toBe(false)
    await clock.advance(1)
    await drained
    expect(await client.closed()).toBe('ended')
  })

  test('is waited for no longer when its client does not end its side then', async () => {
    const { clock, traffic, client, drained } = await halfSent({}, 300)
    client.socket.end = () => client.socket
    await clock.advance(1_000)
    await drained
    expect(traffic.counts().connections.open).toBe(1)
  })

  test('is waited for no longer than its answer, although its client does not end its side', async () => {
    const { traffic, client, drained } = await halfSent({}, 300)
    client.socket.end = () => client.socket
    client.send('\r\n')
    expect(await client.response()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await drained
    expect(traffic.counts().connections).toMatchObject({ open: 1, notified: 1 })
  })

  test('is not waited for once its client has left', async () => {
    const { client, drained } = await halfSent({}, 300)
    client.abort()
    await drained
  })

  test.each([
    ['when there is no last call', {}, 0, undefined],
    ['where everything is sent away', { mode: 'retry-after' }, 300, undefined],
    ['when the drain may be cut before it is answered', {}, 300, 2_000],
  ] as const)('is refused %s', async (_when, options, lastCallMs, answersMs) => {
    const { client, drained } = await halfSent(options, lastCallMs, answersMs)
    await drained
    client.send('\r\n')
    expect((await client.response()).status).toBe('mode' in options ? 429 : 503)
  })

  test('is refused when the drain was cut meanwhile', async () => {
    const { traffic, client } = await halfSent({}, 300)
    expect(traffic.drains.cutRequests()).toEqual([])
    client.send('\r\n')
    expect((await client.response()).status).toBe(503)
  })
})

describe('half a request', () => {
  const HALF = 'GET /half HTTP/1.1\r\nHost: a\r\n'

  test('as the first on its connection may be completed within a second, and is answered', async () => {
    const made = await serving()
    const client = await made.connect()
    client.send(HALF)
    await made.settle()
    await closeListener(made)
    expect(client.state).toBe('open')
    client.send('\r\n')
    expect(await client.response()).toMatchObject({ status: 503, headers: { connection: 'close' } })
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ notified: 1, forced: 0 })
  })

  test('as the first on its connection has a second from its beginning, not more', async () => {
    const clock = new VirtualClock()
    const made = await serving({ clock })
    const client = await made.connect()
    client.send(HALF)
    await made.settle()
    await clock.advance(400)
    await closeListener(made)
    await clock.advance(599)
    expect(client.state).toBe('open')
    await clock.advance(1)
    expect(await client.closed()).toBe('ended')
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ idleUnnotified: 1, forced: 0 })
  })

  test('as a later one on its connection is given up with what is idle', async () => {
    const made = await serving()
    const client = await made.connect()
    await client.ask('GET', '/')
    client.send(HALF)
    await made.settle()
    await closeListener(made)
    expect(await client.closed()).toBe('ended')
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ idleUnnotified: 1, forced: 0 })
  })

  test('is not the rest of a body whose request was answered before', async () => {
    const made = await rig((_request, response) => void response.end('early'))
    const client = await made.connect()
    client.request('POST', '/upload', { headers: { 'Content-Length': '10' } })
    client.send('half ')
    expect(await client.response()).toMatchObject({ body: 'early' })
    made.traffic.initiateShutdown()
    client.send('of')
    await made.settle()
    void closeListener(made)
    expect(await client.closed()).toBe('ended')
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ idleUnnotified: 1, forced: 0 })
  })

  test('is not a request that node has answered by itself', async () => {
    const made = await serving()
    const client = await made.connect()
    expect(await client.ask('GET', '/', { headers: { Expect: 'something' } })).toMatchObject({ status: 417 })
    made.traffic.initiateShutdown()
    void closeListener(made)
    expect(await client.closed()).toBe('ended')
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ idleUnnotified: 1, forced: 0 })
  })

  test('body: its request is in flight, is cut by name, and its connection destroyed with it, which holds nothing up any more', async () => {
    const clock = new VirtualClock()
    const made = await rig((request, response) => void request.resume().on('end', () => response.end('all of it')), { clock })
    made.traffic.initiateShutdown()
    const client = await made.connect()
    client.request('POST', '/upload', { headers: { 'Content-Length': '10' } })
    client.send('half ')
    await expect.poll(() => made.traffic.counts().requests).toBe(1)
    void closeListener(made)
    expect(made.traffic.drains.cutRequests()).toMatchObject([{ name: 'POST /upload' }])
    expect(made.traffic.destroyConnections()).toMatchObject({
      forced: [{ name: `127.0.0.1:${client.socket.localPort} POST /upload` }],
      lost: 1,
    })
    await made.traffic.connectionsClosed()
    await client.closed()
    await expect.poll(() => made.traffic.counts().requests).toBe(0)
    await turns(5)
    expect(clock.pending).toBe(0)
  })
})

test('a client that never reads is destroyed by name, and its request ends with it', async () => {
  const made = await rig((_request, response) => void response.end(Buffer.alloc(50_000_000)))
  made.traffic.initiateShutdown()
  const stalled = connectSocket(made.port, '127.0.0.1').pause()
  stalled.on('error', () => undefined)
  onTestFinished(() => void stalled.destroy())
  stalled.write('GET /big HTTP/1.1\r\nHost: a\r\n\r\n')
  await expect.poll(() => made.traffic.counts().requests).toBe(1)
  made.traffic.completeNotifying()
  void closeListener(made)
  await turns(20)
  expect(made.traffic.counts()).toMatchObject({ requests: 1, connections: { open: 1 } })
  const drained = made.traffic.drains.requests()
  expect(made.traffic.destroyConnections()).toMatchObject({ forced: [{ name: `127.0.0.1:${stalled.localPort} GET /big` }], lost: 1 })
  await drained
})

row('GT-27', 'an upgraded connection survives the closing of idle ones, and is bounded by the watch drain', async () => {
  const clock = new VirtualClock()
  const made = await serving({ clock })
  made.server.on('upgrade', (request, socket) => {
    shutdownSignalOf(request)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  const client = await made.connect()
  expect((await client.ask('GET', '/socket?token=1', { headers: { Connection: 'Upgrade', Upgrade: 'echo' } })).status).toBe(101)
  void closeListener(made)
  await turns(10)
  client.send('still here')
  await client.until('the echo', () => client.received === 'still here')
  const drained = made.traffic.drains.watches(1000)
  await clock.advance(1000)
  expect(await drained).toMatchObject({ before: 1, after: 1 })
  expect(made.traffic.drains.terminateWatches()).toMatchObject({ watches: [{ name: 'GET /socket' }], requests: [] })
  await client.closed()
  await made.traffic.connectionsClosed()
  await expect.poll(() => made.traffic.counts().watches).toBe(0)
})

describe('the fates of connections', () => {
  test('are counted from ShutdownInitiated on', async () => {
    const made = await rig((_request, response) => void response.end('ok'))
    const before = await made.connect()
    await before.ask('GET', '/')
    before.end()
    await made.traffic.connectionsClosed()
    made.traffic.initiateShutdown()
    expect(made.traffic.snapshot.connectionFates()).toEqual({ notified: 0, idleUnnotified: 0, ended: 0, forced: 0, forcedNames: [] })
  })

  test('a connection that its client closes has ended', async () => {
    const made = await serving()
    const client = await made.connect()
    await client.ask('GET', '/')
    client.end()
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ ended: 1, notified: 0 })
  })

  test('one that node closes by itself, after its keep-alive time, has ended', async () => {
    const made = await serving()
    made.server.keepAliveTimeout = 1
    const client = await made.connect()
    await client.ask('GET', '/')
    await client.closed()
    await made.traffic.connectionsClosed()
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ ended: 1, idleUnnotified: 0 })
  })

  test('a client that resets in the middle of a request leaves nothing behind', async () => {
    const latch = new Latch()
    const made = await rig(async (_request, response) => {
      await latch.promise
      response.end('too late')
    })
    made.traffic.initiateShutdown()
    const client = await made.connect()
    client.request('GET', '/')
    await expect.poll(() => made.traffic.counts().requests).toBe(1)
    client.socket.resetAndDestroy()
    await made.traffic.connectionsClosed()
    expect(made.traffic.counts()).toMatchObject({ requests: 0, connections: { open: 0 } })
    expect(made.traffic.snapshot.connectionFates()).toMatchObject({ ended: 1 })
    expect(made.traffic.runningHandlers()).toMatchObject([{ name: 'GET /' }])
    latch.resolve()
    await made.traffic.handlersDone()
    expect(made.facts).toEqual([])
  })
})

test('what the client sends is its own business: a malformed request goes to clientError', async () => {
  const made = await serving()
  const client = await made.connect()
  client.send('nonsense\r\n\r\n')
  expect(await client.response()).toMatchObject({ status: 400, headers: { connection: 'close' } })
  const mine = once(made.server, 'clientError')
  const other = await made.connect()
  other.send('nonsense\r\n\r\n')
  const [error, socket] = await mine
  expect(error).toMatchObject({ code: expect.stringMatching(/^HPE_/) })
  ;(socket as { destroy(): void }).destroy()
  await made.traffic.connectionsClosed()
})

test('an IPv6 client is named in brackets', async () => {
  const made = await serving()
  made.server.close()
  made.server.listen(0, '::1')
  await once(made.server, 'listening')
  const socket = connectSocket({ host: '::1', port: (made.server.address() as { port: number }).port })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  await expect.poll(() => made.traffic.counts().connections.open).toBe(1)
  expect(made.traffic.destroyConnections()).toMatchObject({ forced: [{ name: `[::1]:${socket.localPort}` }], lost: 0 })
})
