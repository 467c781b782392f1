// The last call, on real sockets: what the kernel has accepted is accepted before the listener
// closes, and idle connections are held for what is on its way. Fails when: a connection in the
// accept queue is reset, a held connection's request is refused or not told, also when nothing else
// is waited for, something idle closes too early or stays for ever, or half a request, or a
// handshake that never ends, holds the end.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { attachLifecycle, type LifecycleEvent, shutdownSignalOf } from '#src/index.ts'
import { Dam } from '../conformance/transports.ts'
import { type LifeRig, newAttachedLife, newLife } from '../support/life.ts'
import { connectTo, RawClient } from '../support/raw-client.ts'
import { POLL } from '../support/upstream-client.ts'

const file = (name: string): Buffer => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url))
const pair = { key: file('key.pem'), cert: file('cert.pem') }

/** Blocks the event loop. */
function block(ms: number): void {
  const end = process.hrtime.bigint() + BigInt(ms) * 1_000_000n
  while (process.hrtime.bigint() < end);
}

/**
 * A life whose time is virtual, with as many connections as asked for that have had a response each
 * and are idle.
 */
async function idle(connections: number, options: object = {}) {
  const t = newLife({ clock: new VirtualClock(), options, listener: (_, response) => void response.end('ok') })
  await t.life.start()
  const clients = await Promise.all(Array.from({ length: connections }, () => connectTo(t.port)))
  for (const client of clients) expect(await client.ask('GET', '/')).toMatchObject({ status: 200 })
  return { t, clients }
}

describe('connections in the accept queue when the stop comes', () => {
  test.each([
    ['refuse', [200]],
    // The first may come before NotAcceptingNewRequest: the loop polls on the way there.
    ['retry-after', [200, 429]],
  ] as const)('are accepted and answered: %s', async (whileDraining, statuses) => {
    const t = newLife({ options: { whileDraining }, listener: (_, response) => void response.end('ok') })
    await t.life.start()
    const { port } = t
    const asking = Array.from({ length: 30 }, () => RawClient.open({ port }).then((client) => client.ask('GET', '/queued')))
    // The clients are on their way, and the kernel accepts them while the loop sees nothing of it.
    await new Promise<void>((resolve) => setImmediate(resolve))
    block(50)
    const report = await t.life.stop()
    for (const answer of await Promise.all(asking))
      expect(answer).toMatchObject({ status: expect.toBeOneOf([...statuses]), headers: { connection: 'close' } })
    expect(report).toMatchObject({ exitCode: 0, connections: { forced: 0 } })
    expect(report.lastCall?.accepted).toBeGreaterThan(0)
  })
})

test('a client that was answered and does not close its side by the cut of connections has lost nothing', async () => {
  const answered = deferred<void>()
  const listener: RequestListener = (_, response) => void answered.promise.then(() => response.end('ok'))
  const t = newLife({ clock: new VirtualClock(), options: { deadline: '5s' }, listener })
  await t.life.start()
  const socket = connect({ port: t.port, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.setEncoding('latin1').write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await expect.poll(() => t.life.counts().requests, POLL).toBe(1)
  const ended = t.life.stop()
  const left = (): number =>
    t.life.status.progress()?.phases.find(({ name }) => name === 'request-drain')?.leftMs ?? Number.POSITIVE_INFINITY
  while (left() > 100) await t.clock.advance(50)
  answered.resolve()
  expect((await once(socket, 'data'))[0]).toContain('\r\nConnection: close\r\n')
  const report = await t.end(ended)
  expect(report.phases.find(({ name }) => name === 'close-connections')).toMatchObject({ outcome: 'cut' })
  expect(report).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, connections: { notified: 1, forced: 0 } })
})

describe('idle connections', () => {
  test('are held, and what comes on them is served, and told to leave', async () => {
    const { t, clients } = await idle(2)
    const ended = t.life.stop()
    await t.clock.advance(0)
    await t.fired('HTTPServerStoppedListening')
    await t.clock.advance(299)
    expect(await clients[0]?.ask('GET', '/late')).toMatchObject({ status: 200, body: 'ok', headers: { connection: 'close' } })
    expect(clients[1]?.state).toBe('open')
    const report = await t.end(ended)
    expect(await clients[1]?.closed()).toBe('ended')
    expect(report).toMatchObject({
      exitCode: 0,
      lastCall: { accepted: 0, answered: 1 },
      connections: { notified: 1, idleUnnotified: 1, forced: 0 },
    })
    expect(report.requests).toMatchObject({ before: 1, after: 0 })
  })

  test('that become idle late in it have the time of a whole one', async () => {
    const rest = deferred<void>()
    const t = newLife({
      clock: new VirtualClock(),
      listener: async ({ url }, response) => {
        if (url === '/stream') {
          response.flushHeaders()
          await rest.promise
        }
        response.end('ok')
      },
    })
    await t.life.start()
    const [client, silent] = [await connectTo(t.port), await connectTo(t.port)]
    await silent.ask('GET', '/')
    client.request('GET', '/stream')
    await client.until('the head', () => client.received.includes('200 OK'))
    const ended = t.life.stop()
    await t.clock.advance(0)
    await t.fired('HTTPServerStoppedListening')
    await t.clock.advance(290)
    rest.resolve()
    await client.response()
    await expect.poll(() => t.life.counts().connections.idle, POLL).toBe(2)
    await t.clock.advance(10)
    await t.fired('LastCallComplete')
    expect(await silent.closed()).toBe('ended')
    await t.clock.advance(280)
    expect(await client.ask('GET', '/next')).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, connections: { notified: 1, idleUnnotified: 1 } })
  })

  test('hold nothing up once all have been told: the last call ends early', async () => {
    const { t, clients } = await idle(1)
    const ended = t.life.stop()
    await t.clock.advance(0)
    await t.fired('HTTPServerStoppedListening')
    expect((await clients[0]?.ask('GET', '/late'))?.status).toBe(200)
    await t.clock.advance(0)
    await t.fired('LastCallComplete')
    await t.end(ended)
  })

  test('are closed at once when no last call is asked for', async () => {
    const { t, clients } = await idle(1, { lastCall: 0 })
    const ended = t.life.stop()
    await t.clock.advance(0)
    expect(await clients[0]?.closed()).toBe('ended')
    expect((await t.end(ended)).lastCall).toBeNull()
  })

  test('that become idle later without having been told have a last call of their own, while others are waited for', async () => {
    const slow = deferred<void>()
    const stream = deferred<void>()
    const t = newLife({
      clock: new VirtualClock(),
      listener: async ({ url }, response) => {
        // The head is out before anybody can be told.
        if (url === '/stream') response.flushHeaders()
        await (url === '/stream' ? stream.promise : url === '/slow' ? slow.promise : undefined)
        response.end('ok')
      },
    })
    await t.life.start()
    const [client, other] = [await connectTo(t.port), await connectTo(t.port)]
    client.request('GET', '/stream')
    await client.until('the head', () => client.received.includes('200 OK'))
    other.request('GET', '/slow')
    await expect.poll(() => t.life.counts().requests, POLL).toBe(2)
    const ended = t.life.stop()
    await t.clock.advance(300)
    await t.fired('LastCallComplete')
    stream.resolve()
    expect((await client.response()).status).toBe(200)
    expect(await client.ask('GET', '/next')).toMatchObject({ status: 200, headers: { connection: 'close' } })
    slow.resolve()
    expect((await other.response()).status).toBe(200)
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, rejections: { 'not-accepting': 0 } })
  })
})

/**
 * A stop of a life whose time is virtual, with one request under way whose head was out before
 * anybody could be told, and nothing else.
 */
async function stoppedInTheMiddle() {
  const rest = deferred<void>()
  const t = newLife({
    clock: new VirtualClock(),
    listener: async ({ url }, response) => {
      response.flushHeaders()
      if (url === '/stream') await rest.promise
      response.end('ok')
    },
  })
  await t.life.start()
  const client = await connectTo(t.port)
  client.request('GET', '/stream')
  await client.until('the head', () => client.received.includes('200 OK'))
  const ended = t.life.stop()
  await t.clock.advance(0)
  // Nobody is idle, so that it is over at once.
  await t.fired('LastCallComplete')
  rest.resolve()
  expect(await client.response()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
  await expect.poll(() => t.life.counts().connections.idle, POLL).toBe(1)
  return { t, client, ended }
}

describe('the last connection, whose response began before the stop', () => {
  test('has its next request served, and is told by that', async () => {
    const { t, client, ended } = await stoppedInTheMiddle()
    await t.clock.advance(299)
    expect(await client.ask('GET', '/next')).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(await t.end(ended)).toMatchObject({
      exitCode: 0,
      requests: { before: 2, after: 0 },
      rejections: { 'not-accepting': 0, late: 0 },
      connections: { notified: 1 },
    })
  })

  test('holds the drain no longer than a last call, and not at all once its client has left', async () => {
    const waiting = await stoppedInTheMiddle()
    await waiting.t.clock.advance(299)
    expect(waiting.t.life.signal('RequestsDrained').aborted).toBe(false)
    await waiting.t.clock.advance(1)
    await waiting.t.fired('RequestsDrained')
    expect(await waiting.t.end(waiting.ended)).toMatchObject({
      exitCode: 0,
      requests: { before: 1, after: 0 },
      connections: { idleUnnotified: 1 },
    })

    const left = await stoppedInTheMiddle()
    left.client.abort()
    await left.t.fired('RequestsDrained')
    expect(await left.t.end(left.ended)).toMatchObject({ exitCode: 0, connections: { ended: 1 } })
  })
})

type Rig = LifeRig<VirtualClock>

/**
 * A stop of a life whose time is virtual, with nothing but a watch under way whose head was out
 * before anybody could be told; it has ended, after the drain of requests.
 */
async function stoppedInAWatch(
  options: object = {},
  { prepare, beforeEnd }: { prepare?: (t: Rig, called: string[]) => void; beforeEnd?: (t: Rig) => Promise<void> } = {},
) {
  const rest = deferred<void>()
  const order = deferred<void>()
  const called: string[] = []
  const serveWatch = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n')
    const signal = shutdownSignalOf(request)
    if (!signal.aborted) await once(signal, 'abort')
    await rest.promise
    response.end('data: last\n\n')
  }
  const t = newLife({
    clock: new VirtualClock(),
    options,
    // None but that of the watch returns a promise: the end of its response says that it is over.
    listener: (request, response) => {
      const { url } = request
      if (url === '/watch') return serveWatch(request, response)
      if (url === '/hang') shutdownSignalOf(request).addEventListener('abort', () => void called.push('abort'))
      else if (url === '/order') {
        response.flushHeaders()
        void order.promise.then(() => called.push('order') && response.end())
      } else response.end('ok')
      return undefined
    },
  })
  prepare?.(t, called)
  await t.life.start()
  const client = await connectTo(t.port)
  client.request('GET', '/watch')
  await client.until('the first event', () => client.received.includes('data: first'))
  const ended = t.life.stop()
  while (!t.hasFired('RequestsDrained')) await t.clock.advance(1)
  await beforeEnd?.(t)
  rest.resolve()
  expect(await client.response()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
  await expect.poll(() => t.life.counts().connections.idle, POLL).toBe(1)
  return { t, client, ended, order, called }
}

describe('the last connection, which a watch was on', () => {
  test('has its next request served, and is told by that, although the drain of requests is over', async () => {
    const { t, client, ended } = await stoppedInAWatch()
    await t.clock.advance(290)
    expect(t.life.signal('WatchesDrained').aborted).toBe(false)
    expect(t.life.counts()).toMatchObject({ requests: 0, watches: 0 })
    expect(await client.ask('POST', '/next')).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await t.fired('WatchesDrained')
    expect(await t.end(ended)).toMatchObject({
      exitCode: 0,
      watches: { before: 1, after: 0 },
      rejections: { 'not-accepting': 0, late: 0 },
      connections: { notified: 1 },
    })
  })

  test('holds the watch drain no longer than a last call', async () => {
    const { t, ended } = await stoppedInAWatch()
    await t.clock.advance(300)
    await t.fired('WatchesDrained')
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, watches: { before: 1, after: 0 }, connections: { idleUnnotified: 1 } })
  })

  test('is refused its next request when the grace leaves no time to answer it', async () => {
    const { t, client, ended } = await stoppedInAWatch({ watchGrace: '500ms' })
    await t.fired('WatchesDrained')
    expect(await client.ask('POST', '/next')).toMatchObject({ status: 503, headers: { connection: 'close' } })
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, rejections: { 'not-accepting': 1 } })
  })

  test('is cut when that request outlasts the grace, its signal aborted, and named', async () => {
    const { t, client, ended, called } = await stoppedInAWatch({ watchGrace: '2s' })
    client.request('GET', '/hang')
    await expect.poll(() => t.life.counts(), POLL).toMatchObject({ requests: 1, watches: 0 })
    expect(t.life.status.gauges().blocking).toMatchObject({ requests: [], watches: [{ name: 'GET /hang' }] })
    expect(called).toEqual([])
    const report = await t.end(ended)
    expect(called).toEqual(['abort'])
    expect(report).toMatchObject({ exitCode: 5, watches: { before: 1, after: 1 } })
    expect(report.watches.cut.map(({ name }) => name)).toEqual(['GET /hang'])
  })

  test('has the handler of that request waited for when its client leaves', async () => {
    const { t, client, ended, order, called } = await stoppedInAWatch(
      {},
      { prepare: ({ life }, names) => life.addDestroy('pool', () => void names.push('pool')) },
    )
    client.request('POST', '/order')
    await client.until('its head', () => client.received.includes('200 OK'))
    client.abort()
    await t.fired('WatchesDrained')
    await expect.poll(() => t.life.counts().connections.open, POLL).toBe(0)
    expect(called).toEqual([])
    order.resolve()
    expect(await t.end(ended)).toMatchObject({ exitCode: 0 })
    expect(called).toEqual(['order', 'pool'])
  })

  test('is not waited for when everything is cut before that', async () => {
    const { t, ended } = await stoppedInAWatch(
      { deadline: '8s', watchGrace: '4s' },
      {
        // With these the cut comes before the end of the grace.
        prepare: ({ life, clock }) => {
          life.addPreShutdownHook('slow', () => new Promise<void>((resolve) => clock.setTimeout(resolve, 2_000)))
          life.addDestroy('pool', () => {})
        },
        beforeEnd: async ({ life, clock }) => {
          const left = (): number => life.status.progress()?.phases.find(({ name }) => name === 'watch-drain')?.leftMs ?? 0
          expect(left()).toBeLessThan(3_900)
          while (left() > 250) await clock.advance(50)
        },
      },
    )
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 1, forced: 0 } })
  })

  test('has no request served that comes too late for the grace, also when others go on', async () => {
    const other = deferred<void>()
    const first = deferred<void>()
    const t = newLife({
      clock: new VirtualClock(),
      options: { watchGrace: '2s', longRunning: ({ url }) => url !== '/next' },
      listener: async ({ url }, response) => {
        response.flushHeaders()
        await (url === '/first' ? first.promise : url === '/other' ? other.promise : undefined)
        response.end('ok')
      },
    })
    await t.life.start()
    const [client, beside] = [await connectTo(t.port), await connectTo(t.port)]
    client.request('GET', '/first')
    beside.request('GET', '/other')
    await expect.poll(() => t.life.counts().watches, POLL).toBe(2)
    const ended = t.life.stop()
    await t.clock.advance(1800)
    await t.fired('RequestsDrained')
    first.resolve()
    await client.response()
    expect(await client.ask('POST', '/next')).toMatchObject({ status: 503, headers: { connection: 'close' } })
    other.resolve()
    await beside.response()
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, rejections: { 'not-accepting': 1 } })
  })

  test('may have a stream as its next request, which is told at once', async () => {
    const { t, client, ended } = await stoppedInAWatch()
    expect(await client.ask('GET', '/watch')).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, watches: { after: 0 } })
  })
})

describe('what never becomes a request', () => {
  test('half a head on a connection that was used is given up with the idle ones', async () => {
    const { t, clients } = await idle(1)
    clients[0]?.send('GET / HTTP/1.1\r\n')
    const report = await t.end()
    expect([report.exitCode, report.connections.forced]).toEqual([0, 0])
    expect(Date.parse(report.endedAt) - Date.parse(report.stopRequestedAt as string)).toBeLessThanOrEqual(300)
  })

  test('half a first head holds the end for a second at most, and costs nothing', async () => {
    const t = newLife({ clock: new VirtualClock() })
    await t.life.start()
    const client = await connectTo(t.port)
    client.send('GET / HTTP/1.1\r\nHos')
    await expect.poll(() => t.life.counts().connections.open, POLL).toBe(1)
    const report = await t.end()
    expect(report).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 1, forced: 0 } })
    expect(Date.parse(report.endedAt) - Date.parse(report.stopRequestedAt as string)).toBeLessThanOrEqual(1_000)
  })

  test('half a first head from before attachLifecycle() holds it no longer', async () => {
    const server = createHttpServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const client = await connectTo(port)
    client.send('GET / HTTP/1.1\r\nHos')
    const [socket] = await accepted
    await expect.poll(() => socket.bytesRead, POLL).toBeGreaterThan(0)
    const t = newAttachedLife(server, { clock: new VirtualClock() })
    await t.life.start()
    const report = await t.end()
    expect(report).toMatchObject({ exitCode: 0, warnings: [], connections: { idleUnnotified: 1, forced: 0 } })
    expect(Date.parse(report.endedAt) - Date.parse(report.stopRequestedAt as string)).toBeLessThanOrEqual(1_000)
  })

  test('a TLS handshake from before attachLifecycle() holds it no longer', async () => {
    const server = createHttpsServer(pair)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const accepted = once(server, 'connection')
    const client = await connectTo(port)
    await accepted
    const t = newAttachedLife(server, { clock: new VirtualClock() })
    await t.life.start()
    const report = await t.end()
    expect(report).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 1, forced: 0 } })
    expect(await client.closed()).toBe('ended')
  })

  test('a TLS handshake that never ends is a connection from the accept on, and holds the end no longer', async () => {
    const server = createHttpsServer(pair, (_, response) => void response.end('ok'))
    const life = attachLifecycle(server, { logger: false, deadline: '60s' })
    server.listen(0, '127.0.0.1')
    await life.start()
    const { port } = server.address() as { port: number }
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.resume()
    await expect.poll(() => life.counts().connections.open, POLL).toBe(1)
    const report = await life.stop()
    await closed
    expect(report).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 1, forced: 0 } })
  })

  test('one that ends when its connection is closing is not named as one that has not', async () => {
    const server = createHttpsServer(pair, (_, response) => void response.end('ok'))
    const life = attachLifecycle(server, { logger: false, deadline: '60s', platform: 'unknown' })
    const warned: LifecycleEvent[] = []
    life.events$.subscribe((event) => void (event.type === 'warning' && warned.push(event)))
    server.listen(0, '127.0.0.1')
    await life.start()
    const { port } = server.address() as { port: number }
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    const dam = new Dam(socket, Number.POSITIVE_INFINITY)
    const write = dam._write.bind(dam)
    // What the client says first, and not how it ends its handshake.
    dam._write = (...given) => {
      write(...given)
      dam.hold(0)
    }
    const ended = once(socket, 'end')
    const client = connectSecurely({ socket: dam, rejectUnauthorized: false, minVersion: 'TLSv1.3' }).on('error', () => {})
    onTestFinished(() => void client.destroy())
    await expect.poll(() => socket.bytesRead, POLL).toBeGreaterThan(0)
    const report = life.stop()
    await ended
    const finished = once(server, 'secureConnection')
    dam.open()
    await finished
    expect(await report).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 1, forced: 0 } })
    expect(warned).toEqual([])
  })
})
