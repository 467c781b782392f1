import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { markRequest, markWatch, shutdownSignalOf } from '#src/http/shutdown-signal.ts'
import { type Exchange, exchangeOf } from '#src/http/traffic/exchange.ts'
import { hasSettled, Latch, rig, turns } from './rig.ts'

const PLAIN = { protocol: 'HTTP/1.1', tls: 'none' }

/** Keeps every response open; tests answer by path. */
class Pending {
  readonly #all = new Map<string, { readonly request: IncomingMessage; readonly response: ServerResponse }>()

  readonly listener = (request: IncomingMessage, response: ServerResponse): void => {
    this.#all.set(request.url as string, { request, response })
  }

  async response(path: string): Promise<ServerResponse> {
    return (await this.#get(path)).response
  }

  async request(path: string): Promise<IncomingMessage> {
    return (await this.#get(path)).request
  }

  async #get(path: string) {
    await expect.poll(() => this.#all.has(path)).toBe(true)
    return this.#all.get(path) as { readonly request: IncomingMessage; readonly response: ServerResponse }
  }
}

describe('a request is in flight', () => {
  test('until its response has left, not until its handler has returned', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(async (...args) => pending.listener(...args))
    const client = await connect()
    client.request('GET', '/a')
    const response = await pending.response('/a')
    response.write('part')
    await client.until('a part', () => client.received.includes('part'))
    expect(traffic.counts().requests).toBe(1)
    response.end()
    await client.response()
    await expect.poll(() => traffic.counts().requests).toBe(0)
  })

  test.each([
    ['has answered on the socket itself', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')],
    ['has hung up', (socket: Socket) => socket.end()],
  ])('until its handler %s, whether its client ends or not', async (_, ends) => {
    const { traffic, connect } = await rig((request) => void ends(request.socket))
    for (const endsToo of [false, true]) {
      const client = await connect()
      client.request('GET', '/a')
      await client.until('the end', () => client.state === 'ended')
      if (endsToo) client.end()
      await expect.poll(() => traffic.counts().requests).toBe(0)
      if (endsToo) await expect.poll(() => client.socket.closed).toBe(true)
      expect(await hasSettled(traffic.handlersDone())).toBe(true)
    }
  })

  test('whose client has sent garbage behind it, and was told so: its handler is waited for', async () => {
    const pending = new Pending()
    const { server, traffic, connect } = await rig(pending.listener)
    server.on('clientError', (_error, socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const client = await connect()
    client.request('GET', '/a')
    const response = await pending.response('/a')
    client.send('garbage\r\n\r\n')
    await client.until('the end', () => client.state === 'ended')
    client.end()
    await expect.poll(() => client.socket.closed).toBe(true)
    await expect.poll(() => traffic.counts().requests).toBe(0)
    const done = traffic.handlersDone()
    expect(await hasSettled(done)).toBe(false)
    response.end()
    await done
  })

  test('until it is answered, also when its handler still runs then', async () => {
    const work = new Latch()
    const { traffic, connect } = await rig(async (_request, response) => {
      response.end('answered')
      await work.promise
    })
    const client = await connect()
    await client.ask('GET', '/a?secret=1')
    await expect.poll(() => traffic.counts().requests).toBe(0)
    expect(traffic.runningHandlers()).toEqual([{ name: 'GET /a', ageMs: expect.any(Number), ...PLAIN }])
    const done = traffic.handlersDone()
    expect(await hasSettled(done)).toBe(false)
    work.resolve()
    await done
    expect(traffic.runningHandlers()).toEqual([])
  })

  test('until its client has gone', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener)
    const client = await connect()
    client.request('GET', '/a')
    await pending.response('/a')
    client.abort()
    await expect.poll(() => traffic.counts()).toMatchObject({ requests: 0, connections: { open: 0 } })
  })

  test('with those that were pipelined behind it, until their client has gone: node never closes their responses', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener)
    const client = await connect()
    for (const path of ['/1', '/2', '/3']) client.request('GET', path)
    const second = await pending.response('/2')
    await pending.response('/3')
    second.end('waits for the first')
    expect(traffic.counts().requests).toBe(3)
    client.abort()
    await expect.poll(() => traffic.counts().requests).toBe(0)
    await turns(3)
    expect(traffic.counts().requests).toBe(0)
  })

  test('until all of a large response is with the kernel', async () => {
    const { traffic, port } = await rig((_request, response) => {
      response.end(Buffer.alloc(50_000_000))
    })
    const client = connect(port, '127.0.0.1').pause()
    onTestFinished(() => void client.destroy())
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await expect.poll(() => traffic.counts().requests).toBe(1)
    await turns(20)
    expect(traffic.counts().requests).toBe(1)
    client.resume()
    await expect.poll(() => traffic.counts().requests).toBe(0)
  })

  test('under its name and age, without its query', async () => {
    const clock = new VirtualClock()
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener, { clock })
    const client = await connect()
    client.request('POST', '/pay?card=4711')
    await pending.response('/pay?card=4711')
    const proxied = await connect()
    proxied.request('GET', 'http://example.com/through?x=1')
    await pending.response('http://example.com/through?x=1')
    await clock.advance(1500)
    expect(traffic.drains.requestStragglers()).toEqual([
      { name: 'POST /pay', ageMs: 1500, ...PLAIN },
      { name: 'GET /through', ageMs: 1500, ...PLAIN },
    ])
  })
})

describe('the request drain', () => {
  test('resolves when the last request is over, and at once when there is none', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener)
    const client = await connect()
    client.request('GET', '/a')
    const response = await pending.response('/a')
    traffic.stopAccepting()
    const drained = traffic.drains.requests()
    expect(await hasSettled(drained)).toBe(false)
    response.end()
    await drained
    await traffic.drains.requests()
  })

  test('either waits for a request or refuses it, however they race', async () => {
    const { traffic, connect } = await rig(async (_request, response) => {
      await turns(2)
      response.end('served')
    })
    const clients = await Promise.all(Array.from({ length: 30 }, connect))
    let isDrained = false
    const answers = clients.map(async (client, index) => {
      await turns(index % 7)
      const { status } = await client.ask('GET', '/')
      return { status, drained: isDrained }
    })
    await turns(3)
    traffic.stopAccepting()
    await traffic.drains.requests()
    expect(traffic.counts().requests).toBe(0)
    isDrained = true
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    expect(statuses.filter((status) => status === 503)).toHaveLength(traffic.counts().rejected['not-accepting'])
  })

  test('counts exempt requests while its group is open, and lets them pass uncounted then', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener)
    const before = await connect()
    before.request('GET', '/metrics')
    const scrape = await pending.response('/metrics')
    expect(traffic.counts().requests).toBe(1)
    traffic.stopAccepting()
    const drained = traffic.drains.requests()
    const after = await connect()
    after.request('GET', '/livez?verbose')
    const probe = await pending.response('/livez?verbose')
    expect(traffic.counts().requests).toBe(1)
    scrape.end()
    await drained
    probe.end('ok')
    expect((await after.response()).status).toBe(200)
  })

  test('cut, tells handlers that ask for their signal, early or late', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener)
    const client = await connect()
    client.request('GET', '/early')
    client.request('GET', '/late')
    const early = shutdownSignalOf(await pending.request('/early'))
    traffic.stopAccepting()
    const drained = traffic.drains.requests()
    expect(early.aborted).toBe(false)
    expect(traffic.drains.cutRequests().map(({ name }) => name)).toEqual(['GET /early', 'GET /late'])
    expect(early.reason).toMatchObject({ code: 'ERR_ABORTED' })
    expect(shutdownSignalOf(await pending.request('/late')).aborted).toBe(true)
    for (const path of ['/early', '/late']) (await pending.response(path)).writeHead(503).end()
    await drained
    expect((await client.response()).status).toBe(503)
  })
})

describe('hold', () => {
  test('joins the request drain until its work has settled', async () => {
    const work = new Latch<string>()
    const { traffic } = await rig(undefined)
    const held = traffic.holds.run('job 1', () => work.promise)
    const failing = traffic.holds.run('job 2', () => Promise.reject(new Error('job')))
    await expect(failing).rejects.toThrow('job')
    traffic.stopAccepting()
    const drained = traffic.drains.requests()
    expect(traffic.counts()).toMatchObject({ holds: 1, requests: 0 })
    expect(traffic.drains.requestStragglers()).toEqual([{ name: 'job 1', ageMs: expect.any(Number) }])
    expect(await hasSettled(drained)).toBe(false)
    work.resolve('result')
    expect(await held).toBe('result')
    await drained
  })

  test('with a name alone lasts until disposed of, once', async () => {
    const { traffic } = await rig(undefined)
    const hold = traffic.holds.take('lock')
    const drained = traffic.drains.requests()
    expect(await hasSettled(drained)).toBe(false)
    hold[Symbol.dispose]()
    hold[Symbol.dispose]()
    await drained
  })

  test('is refused once the drain has begun, and its work is not called', async () => {
    const { traffic } = await rig(undefined)
    void traffic.drains.requests()
    let called = false
    const held = traffic.holds.run('late', () => {
      called = true
    })
    await expect(held).rejects.toMatchObject({ code: 'ERR_NOT_ACCEPTING', details: { name: 'late' } })
    expect(called).toBe(false)
    expect(() => traffic.holds.take('late')).toThrow(expect.objectContaining({ code: 'ERR_NOT_ACCEPTING' }))
  })

  test('needs a name', async () => {
    const { traffic } = await rig(undefined)
    expect(() => traffic.holds.take('')).toThrow(expect.objectContaining({ code: 'ERR_NAME_MISSING' }))
  })

  test('is told when the drain is cut', async () => {
    const { traffic } = await rig(undefined)
    const held = traffic.holds.run(
      'job',
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    const drained = traffic.drains.requests()
    traffic.drains.cutRequests()
    await expect(held).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    await drained
  })
})

describe('a watch', () => {
  test('is what the rule says, is told at its turn, and ends cleanly', async () => {
    const clock = new VirtualClock()
    const { traffic, connect } = await rig(
      (request, response) => {
        response.write('first ')
        shutdownSignalOf(request).addEventListener('abort', () => response.end('last'))
      },
      { clock },
    )
    const clients = await Promise.all(Array.from({ length: 5 }, connect))
    for (const client of clients) {
      client.request('GET', '/watch')
      await client.until('the first frame', () => client.received.includes('first'))
    }
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 5 })
    traffic.stopAccepting()
    const drained = traffic.drains.watches(10_000)
    // One token is there at once, the next ones follow every 5 ms: 200 per second.
    await expect.poll(() => traffic.counts().watches).toBe(4)
    await turns(3)
    expect(traffic.counts().watches).toBe(4)
    for (const left of [3, 2, 1, 0]) {
      await clock.advance(5)
      await expect.poll(() => traffic.counts().watches).toBe(left)
    }
    expect(await drained).toEqual({ before: 5, after: 0 })
    for (const client of clients) expect(await client.response()).toMatchObject({ status: 200, framing: 'chunked', body: 'first last' })
  })

  test('that ignores its goodbye is named and terminated', async () => {
    const clock = new VirtualClock()
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener, { clock })
    traffic.initiateShutdown()
    const client = await connect()
    client.request('GET', '/watch/pods?watch=1')
    const response = await pending.response('/watch/pods?watch=1')
    response.write('frame')
    await client.until('a frame', () => client.received.includes('frame'))
    const drained = traffic.drains.watches(2000)
    await clock.advance(2000)
    expect(await drained).toMatchObject({ before: 1, after: 1, error: { code: 'ERR_TIMEOUT' } })
    expect(traffic.drains.terminateWatches()).toEqual({
      watches: [{ name: 'GET /watch/pods', ageMs: 2000, ...PLAIN }],
      requests: [],
      lost: 0,
    })
    expect(await client.closed()).not.toBe('open')
    await expect.poll(() => traffic.counts().watches).toBe(0)
    expect(traffic.snapshot.connectionFates()).toMatchObject({
      forced: 1,
      forcedNames: [{ name: expect.stringMatching(/^127\.0\.0\.1:\d+ GET \/watch\/pods$/) }],
    })
  })

  test('is told, and not waited for, when there is no grace', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener)
    const client = await connect()
    client.request('GET', '/watch/1')
    client.request('GET', '/watch/2')
    const signals = [shutdownSignalOf(await pending.request('/watch/1')), shutdownSignalOf(await pending.request('/watch/2'))]
    expect(await traffic.drains.watches(0)).toMatchObject({ before: 2, after: 2 })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  test('may be what a handler says, in one step', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener)
    const client = await connect()
    client.request('GET', '/a')
    const request = await pending.request('/a')
    expect(traffic.counts()).toMatchObject({ requests: 1, watches: 0 })
    const signal = markWatch(request)
    expect(markWatch(request)).toBe(signal)
    expect(shutdownSignalOf(request)).toBe(signal)
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 1 })
    traffic.stopAccepting()
    await traffic.drains.requests()
    const drained = traffic.drains.watches(60_000)
    await expect.poll(() => signal.aborted).toBe(true)
    ;(await pending.response('/a')).end()
    expect(await drained).toMatchObject({ before: 1, after: 0 })
  })

  test('may be what a handler says while both drains are under way: its turn comes, and the watch drain waits', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener)
    const client = await connect()
    client.request('GET', '/watch')
    client.request('GET', '/a')
    const request = await pending.request('/a')
    traffic.stopAccepting()
    const requestsDrained = traffic.drains.requests()
    const watchesDrained = traffic.drains.watches(60_000)
    const signal = markWatch(request)
    await requestsDrained
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 2 })
    await expect.poll(() => signal.aborted).toBe(true)
    ;(await pending.response('/watch')).end()
    await client.response()
    expect(await hasSettled(watchesDrained)).toBe(false)
    ;(await pending.response('/a')).end()
    expect(await watchesDrained).toMatchObject({ after: 0 })
  })

  test('may be what a handler says during the watch drain, bounded by its grace', async () => {
    const clock = new VirtualClock()
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener, { clock })
    const client = await connect()
    client.request('GET', '/watch')
    client.request('GET', '/a')
    const request = await pending.request('/a')
    const drained = traffic.drains.watches(1000)
    markWatch(request)
    ;(await pending.response('/watch')).end()
    await client.response()
    await clock.advance(1000)
    expect(await drained).toMatchObject({ before: 1, after: 1 })
    expect(traffic.drains.terminateWatches()).toMatchObject({ watches: [{ name: 'GET /a' }], requests: [] })
  })

  test('comes too late when the watch drain is over: it is told, and the request drain still waits for it', async () => {
    const pending = new Pending()
    const { traffic, connect } = await rig(pending.listener)
    const client = await connect()
    client.request('GET', '/a')
    const request = await pending.request('/a')
    await traffic.drains.watches(60_000)
    const drained = traffic.drains.requests()
    const signal = markWatch(request)
    await expect.poll(() => signal.aborted).toBe(true)
    expect(await hasSettled(drained)).toBe(false)
    ;(await pending.response('/a')).end()
    await drained
  })
})

test('a request of another server has no exchange, and no signal', () => {
  const stranger = { method: 'GET', url: '/' } as IncomingMessage
  expect(exchangeOf(stranger)).toBeUndefined()
  for (const ask of [shutdownSignalOf, markWatch, markRequest]) {
    expect(() => ask(stranger)).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_REFERENCE' }))
  }
})

describe('with Hono', () => {
  test('a handler gets its signal and its watch through c.env.incoming', async () => {
    const app = new Hono<{ Bindings: HttpBindings }>()
    app.get('/events', (context) => {
      const signal = markWatch(context.env.incoming)
      return streamSSE(context, async (stream) => {
        await stream.writeSSE({ data: 'first' })
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await stream.writeSSE({ data: 'last' })
      })
    })
    const { traffic, connect } = await rig(getRequestListener(app.fetch))
    const client = await connect()
    client.request('GET', '/events')
    await client.until('the first event', () => client.received.includes('first'))
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 1 })
    expect(await traffic.drains.watches(60_000)).toEqual({ before: 1, after: 0 })
    expect((await client.response()).body).toBe('data: first\n\ndata: last\n\n')
  })

  test('a stream counts until it has been sent, although its handler returned long before', async () => {
    const app = new Hono<{ Bindings: HttpBindings }>()
    const end = new Latch()
    let exchange: Exchange | undefined
    app.get('/stream', (context) => {
      exchange = exchangeOf(context.env.incoming)
      return streamSSE(context, async (stream) => {
        await stream.writeSSE({ data: 'x' })
        await end.promise
      })
    })
    const { traffic, connect } = await rig(getRequestListener(app.fetch))
    const client = await connect()
    client.request('GET', '/stream')
    await client.until('an event', () => client.received.includes('data: x'))
    expect(exchange).toMatchObject({ countedAs: 'request', name: 'GET /stream' })
    expect(traffic.counts().requests).toBe(1)
    end.resolve()
    await client.response()
    await expect.poll(() => traffic.counts().requests).toBe(0)
    await traffic.handlersDone()
  })
})
