// HTTP/2 inside a life, as its handlers and its clients see it. Fails when: a header that HTTP/2
// forbids ends the process or the answer; `Connection: close` does not become a GOAWAY; a GOAWAY
// takes an answer with it, or has another number than the last stream; a stream that comes too late
// cannot be asked for again; a refusal costs other streams; or what belongs to one stream (its
// signal, its watch, its body, its trailers) is lost between node's two APIs.
import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { streamSSE, streamText } from 'hono/streaming'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AttachableServer } from '#src/attach.ts'
import { systemClock } from '#src/base/clock.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type LifecycleOptions, markRequest, markWatch, shutdownSignalOf } from '#src/index.ts'
import { Gate } from '../conformance/stage.ts'
import { answerOf, H2Client } from '../support/h2-client.ts'
import { FRAME, frame, RawH2Client } from '../support/h2-frames.ts'
import { newAttachedLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { row } from '../support/row.ts'
import { POLL } from '../support/upstream-client.ts'

type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => unknown

async function serve(server: AttachableServer, options: LifecycleOptions = {}, clock?: VirtualClock) {
  const t = newAttachedLife(server, { options: { lastCall: 0, ...options }, ...(clock && { clock }) })
  server.listen(0, '127.0.0.1')
  await t.life.start()
  const { port } = server.address() as AddressInfo
  const client = (): Promise<H2Client> => H2Client.open(`http://127.0.0.1:${port}`)
  return { t, port, client }
}

const listening = (listener: Listener, options?: LifecycleOptions, clock?: VirtualClock) => serve(createServer(listener), options, clock)

/** On the server's side, for the core API. */
const streaming = (listener: (stream: ServerHttp2Stream, path: string) => unknown, options?: LifecycleOptions) => {
  const server = createServer()
  server.on('stream', (stream, headers) => listener(stream, headers[':path'] ?? ''))
  return serve(server, options)
}

const respond = (stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void => {
  stream.respond({ ':status': 200, ...headers })
  stream.end('ok')
}

const endAfter = (response: Http2ServerResponse, _done: unknown): void => void response.end('ok')

const ok: Listener = (_, response) => void response.end('ok')

/** What node says about a process by its warnings. */
function warnings(): string[] {
  const said: string[] = []
  const onWarning = ({ message }: Error): void => void said.push(message)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  return said
}

describe('headers about the connection', () => {
  const ALL = {
    Connection: 'keep-alive',
    'Keep-Alive': 'timeout=5',
    'Proxy-Connection': 'keep-alive',
    'Transfer-Encoding': 'chunked',
    Upgrade: 'h2c',
  }
  const pairs = Object.entries(ALL)
  const eachSet =
    (set: (response: Http2ServerResponse, name: string, value: string) => void): Listener =>
    (_, response) => {
      for (const [name, value] of pairs) set(response, name, value)
      response.end('ok')
    }

  test.each<[string, Listener]>([
    ['setHeader', eachSet((response, name, value) => void response.setHeader(name, value))],
    ['appendHeader', eachSet((response, name, value) => response.appendHeader(name, value))],
    ['writeHead with an object', (_, response) => response.writeHead(200, { ...ALL, 'X-Kept': '1' }).end('ok')],
    ['writeHead with a phrase', (_, response) => response.writeHead(200, 'Fine', { ...ALL, 'X-Kept': '1' }).end('ok')],
    ['respond of the core API', ({ stream }) => respond(stream, ALL)],
  ])('are left out: %s', async (_, listener) => {
    const said = warnings()
    const { client } = await listening(listener)
    const { status, headers, body } = await (await client()).get('/')
    expect({ status, body }).toEqual({ status: 200, body: 'ok' })
    for (const name of Object.keys(ALL)) expect(headers).not.toHaveProperty(name.toLowerCase())
    expect(said.filter((message) => message.includes('connection'))).toEqual([])
  })

  test('others stay, in every form that node takes', async () => {
    const { client } = await listening((_, response) => {
      response.setHeader('X-Set', 'a')
      response.writeHead(201, { 'X-Kept': 'b', Connection: 'keep-alive' }).end('ok')
    })
    expect(await (await client()).get('/')).toMatchObject({ status: 201, headers: { 'x-set': 'a', 'x-kept': 'b' }, body: 'ok' })
  })

  test.each(['streamSSE', 'streamText'])('of %s of Hono end no process', async (kind) => {
    const app = new Hono()
    app.get('/streamSSE', (c) => streamSSE(c, async (stream) => void (await stream.writeSSE({ data: 'one' }))))
    app.get('/streamText', (c) => streamText(c, async (stream) => void (await stream.write('one'))))
    const { client } = await listening(getRequestListener(app.fetch) as unknown as Listener)
    const answer = await (await client()).get(`/${kind}`)
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('one'), code: 0 })
  })
})

describe('Connection: close of a handler', () => {
  test.each<[string, Listener]>([
    ['set', (_, response) => void endAfter(response, response.setHeader('Connection', 'close'))],
    ['appended', (_, response) => void endAfter(response, response.appendHeader('connection', 'close'))],
    ['in the head', (_, response) => response.writeHead(200, { connection: 'Close' }).end('ok')],
    ['of the core API', ({ stream }) => respond(stream, { connection: 'close' })],
  ])('becomes a GOAWAY after the answer, and the others finish: %s', async (_, closing) => {
    const slow = new Gate()
    const { t, client } = await listening(async (request, response) => {
      if (request.url === '/close') return closing(request, response)
      await slow.pass()
      response.end('slow')
    })
    const one = await client()
    const other = one.get('/slow')
    await slow.reached
    expect(await one.get('/close')).toMatchObject({ status: 200, body: 'ok', code: 0 })
    // Node may say the same again when its client answers.
    await expect.poll(() => one.goaways[0], POLL).toEqual({ code: 0, lastStream: 3 })
    slow.open()
    expect(await other).toMatchObject({ status: 200, body: 'slow', code: 0 })
    await one.closed
    await expect.poll(() => t.life.counts(), POLL).toMatchObject({ requests: 0, connections: { open: 0 } })
  })

  test('keep-alive is no close', async () => {
    const { client } = await listening((_, response) => void response.writeHead(200, { connection: 'keep-alive' }).end('ok'))
    const one = await client()
    await one.get('/')
    await one.get('/')
    expect(one.goaways).toEqual([])
  })
})

describe('a stop', () => {
  row('GT-25', 'streams that have arrived are all answered over HTTP/2 (V6)', async () => {
    const slow = new Gate()
    let arrived = 0
    const { t, client } = await listening(async (_, response) => {
      arrived++
      await slow.pass()
      response.end('ok')
    })
    const one = await client()
    const answers = Array.from({ length: 25 }, () => one.get('/'))
    await expect.poll(() => arrived, POLL).toBe(25)
    const ended = t.life.stop()
    await expect.poll(() => one.goaways[0], POLL).toEqual({ code: 0, lastStream: 49 })
    slow.open()
    for (const { status, body, code } of await Promise.all(answers))
      expect({ status, body, code }).toEqual({ status: 200, body: 'ok', code: 0 })
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, requests: { before: 25, after: 0 }, connections: { notified: 1, forced: 0 } })
  })

  row('RA-16', 'a 429 has no Connection header, tells its client by GOAWAY, and other streams finish', async () => {
    const slow = new Gate()
    // No time passes: a client that asks nothing is told by itself a little later.
    const clock = new VirtualClock()
    const { t, client } = await listening(
      async (_, response) => {
        await slow.pass()
        response.end('ok')
      },
      { whileDraining: 'retry-after', exempt: ['/exempt'] },
      clock,
    )
    const before = await client()
    const one = await client()
    const last = before.get('/slow')
    await slow.reached
    const ended = t.life.stop()
    while (!t.hasFired('NotAcceptingNewRequest')) await clock.advance(1)
    const other = one.get('/exempt')
    const { status, headers, code } = await one.get('/late')
    expect({ status, code, 'retry-after': headers['retry-after'] }).toEqual({ status: 429, code: 0, 'retry-after': '5' })
    expect(headers).not.toHaveProperty('connection')
    await expect.poll(() => one.goaways[0], POLL).toEqual({ code: 0, lastStream: 3 })
    slow.open()
    expect(await other).toMatchObject({ status: 200, body: 'ok', code: 0 })
    expect(await last).toMatchObject({ status: 200, body: 'ok', code: 0 })
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, connections: { notified: 2, forced: 0 } })
  })

  test('a client that closes its connection when it was told is not waited for', async () => {
    const server = createServer((_, response) => {
      response.setHeader('Connection', 'close')
      response.end('ok')
    })
    // No time passes: the second that others have is never over.
    const t = newAttachedLife(server, { clock: new VirtualClock() })
    server.listen(0, '127.0.0.1')
    await t.life.start()
    const raw = await RawClient.open(server.address() as AddressInfo)
    const client = await RawH2Client.on(raw)
    client.request(1)
    await client.answer(1)
    await client.until('GOAWAY', ({ type }) => type === FRAME.goaway)
    // Node has stopped to read by then, if it does.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    raw.end()
    await expect.poll(() => t.life.counts().connections.open, POLL).toBe(0)
    expect(await raw.closed()).toBe('ended')
  })

  test('no timer is left of a connection that was broken off with a request on it', async () => {
    const clock = new VirtualClock()
    const { t, port } = await listening(() => undefined, { deadline: '4s' }, clock)
    const client = await RawH2Client.open(port)
    client.request(1, { ':method': 'POST' }, { endStream: false })
    await expect.poll(() => t.life.counts().requests, POLL).toBe(1)
    expect(await t.end(t.life.stop())).toMatchObject({ exitCode: 5, connections: { forced: 1 } })
    await client.closed()
    // Node closes what was on it behind it.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(clock.pending).toBe(0)
  })

  test('half a head that never becomes a request is not among what was done', async () => {
    const server = createServer(ok)
    let session: ServerHttp2Session | undefined
    server.once('session', (one: ServerHttp2Session) => (session = one))
    const { t, port } = await serve(server)
    const client = await RawH2Client.open(port)
    client.request(1)
    await client.answer(1)
    client.send(frame(FRAME.headers, { stream: 3, payload: Buffer.alloc(20) }).subarray(0, 9))
    await expect.poll(() => session?.state.lastProcStreamID, POLL).toBe(3)
    const ended = t.life.stop()
    expect(await client.closed()).toBe('ended')
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, connections: { notified: 1 } })
    const numbers = client.frames.filter(({ type }) => type === FRAME.goaway).map(({ payload }) => payload.readUInt32BE(0))
    expect(numbers.filter((number, at) => number !== numbers[at - 1])).toEqual([3, 1])
  })

  test('a stream above the number is refused, and not in the step in which node is reading', async () => {
    const server = createServer((_, response) => {
      response.setHeader('Connection', 'close')
      response.end('ok')
    })
    const seen: [id: number | undefined, isClosed: boolean][] = []
    // After node's own listener, and in the same step.
    server.on('session', (session) => session.on('stream', ({ id, closed }) => seen.push([id, closed])))
    const { t, client } = await serve(server)
    const one = await client()
    // Both are in one chunk: the first is answered, and tells, before the second is read.
    const [first, second] = await Promise.all([one.get('/'), one.get('/')])
    expect(first).toMatchObject({ status: 200, body: 'ok', code: 0 })
    expect(second).toMatchObject({ status: undefined, code: constants.NGHTTP2_REFUSED_STREAM })
    expect(one.goaways[0]).toEqual({ code: 0, lastStream: 1 })
    expect(seen).toEqual([
      [1, false],
      [3, false],
    ])
    expect(t.life.counts()).toMatchObject({ requests: 0 })
  })

  // A proxy has found out by then, so that nothing of its clients crosses the GOAWAY.
  test.each(['refuse', 'retry-after'] as const)('has its turn in the second half of the delay: %s', async (mode) => {
    const clock = new VirtualClock()
    const { t, client } = await serve(createServer(ok), { shutdownDelay: 10_000, whileDraining: mode }, clock)
    const one = await client()
    const ended = t.life.stop()
    await expect.poll(() => t.hasFired('ShutdownInitiated')).toBe(true)
    for (let asked = 0; asked < 4; asked++) {
      await Promise.all([one.get('/'), one.get('/')])
      await clock.advance(1200)
    }
    expect((await one.get('/')).status).toBe(200)
    expect(one.goaways).toEqual([])
    await clock.advance(200 + 300)
    await expect.poll(() => one.goaways, POLL).toHaveLength(1)
    expect(t.hasFired('NotAcceptingNewRequest')).toBe(false)
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, connections: { notified: 1, idleUnnotified: 0 } })
  })

  test('an idle client is told, too, in its turn', async () => {
    const { t, client } = await listening(ok, { shutdownDelay: 2000 })
    const one = await client()
    const ended = t.life.stop()
    await expect.poll(() => one.goaways[0], POLL).toEqual({ code: 0, lastStream: 0 })
    expect(t.hasFired('NotAcceptingNewRequest')).toBe(false)
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, connections: { notified: 1, idleUnnotified: 0 } })
  })

  test('breaks off one stream by RST_STREAM, and the others go on', async () => {
    const slow = new Gate()
    const { t, client } = await listening(
      async (request, response) => {
        if (request.url === '/watch') {
          markWatch(request)
          response.writeHead(200).write('begun')
          return
        }
        await slow.pass()
        response.end('slow')
      },
      { watchGrace: 50 },
    )
    const one = await client()
    const watch = one.get('/watch')
    const other = one.get('/slow')
    await slow.reached
    await expect.poll(() => t.life.counts().watches, POLL).toBe(1)
    const ended = t.life.stop()
    expect(await watch).toMatchObject({ status: 200, body: 'begun', code: 2 })
    slow.open()
    expect(await other).toMatchObject({ status: 200, body: 'slow', code: 0 })
    expect(await t.end(ended)).toMatchObject({
      exitCode: 0,
      watches: { before: 1, after: 1 },
      requests: { after: 0 },
      connections: { forced: 0 },
    })
  })

  test('breaks off a stream whose handler goes on, and no process ends', async () => {
    let ahead = 0
    const clock = { ...systemClock, now: () => systemClock.now() + ahead }
    const over = new Gate()
    const server = createServer(async (request, response) => {
      markWatch(request)
      response.writeHead(200).write('begun')
      await over.pass()
    })
    const t = newAttachedLife(server, { clock, options: { lastCall: 0, watchGrace: 50 } })
    server.listen(0, '127.0.0.1')
    await t.life.start()
    const one = await H2Client.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const watch = one.get('/watch')
    await over.reached
    // So old, a handler is all that is kept of its exchange.
    ahead = 2_000
    const ended = t.life.stop()
    expect(await watch).toMatchObject({ body: 'begun', code: 2 })
    await one.closed
    over.open()
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, watches: { after: 1 }, errors: [] })
  })

  test('tells the handlers of one stream, by any of the objects that node made of it', async () => {
    const asked = (given: object, end: () => void): void => markWatch(given).addEventListener('abort', end)
    const { t, client } = await listening(
      (request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).write('begun ')
        asked(request.url === '/stream' ? request.stream : request, () => void response.end('bye'))
      },
      { watchGrace: 2000 },
    )
    const one = await client()
    const watches = [one.get('/stream'), one.get('/request')]
    await expect.poll(() => t.life.counts().watches, POLL).toBe(2)
    const ended = t.life.stop()
    for (const { body, code } of await Promise.all(watches)) expect({ body, code }).toEqual({ body: 'begun bye', code: 0 })
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, watches: { before: 2, after: 0 } })
  })
})

describe('the core API', () => {
  test('its streams are counted, told and drained like requests', async () => {
    const slow = new Gate()
    const { t, client } = await streaming(async (stream, path) => {
      if (path === '/slow') await slow.pass()
      stream.respond({ ':status': 200 })
      stream.end(path)
    })
    const one = await client()
    expect(await one.get('/hello')).toMatchObject({ status: 200, body: '/hello' })
    const answer = one.get('/slow')
    await slow.reached
    expect(t.life.counts()).toMatchObject({ requests: 1 })
    const ended = t.life.stop()
    await t.fired('NotAcceptingNewRequest')
    slow.open()
    expect(await answer).toMatchObject({ status: 200, body: '/slow', code: 0 })
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 } })
  })

  test('health is answered, and what a listener throws', async () => {
    const { t, client } = await streaming(() => {
      throw new Error('on purpose')
    })
    const one = await client()
    expect(await one.get('/readyz')).toMatchObject({ status: 200, code: 0 })
    expect(await one.get('/')).toMatchObject({ status: 500, body: 'Internal Server Error\n', code: 0 })
    expect(await t.end()).toMatchObject({ exitCode: 0, errors: [{ where: 'handler GET /' }] })
  })

  test.each([
    ['a watch at the end of its grace', 'in its middle', markWatch, { watchGrace: 50 }],
    ['a request at the deadline', 'in its middle', markRequest, { deadline: 300 }],
    ['a request at the deadline', 'before its answer', markRequest, { deadline: 300 }],
  ] as const)('a stream has no end that its client could take for the whole when it is cut: %s, %s', async (_, where, mark, options) => {
    const { t, client } = await streaming((stream) => {
      if (where === 'in its middle') {
        stream.respond({ ':status': 200 })
        stream.write('begun')
      }
      mark(stream)
    }, options)
    const stream = (await client()).stream({ ':path': '/' }, true)
    let hasEnded = false
    stream.on('end', () => (hasEnded = true))
    const answer = answerOf(stream)
    await expect.poll(() => t.life.counts(), POLL).toMatchObject(mark === markWatch ? { watches: 1 } : { requests: 1 })
    expect(await t.end()).toMatchObject({ exitCode: mark === markWatch ? 0 : 5 })
    expect({ hasEnded, code: (await answer).code }).toEqual({ hasEnded: false, code: 2 })
  })

  test('what it throws in the middle breaks the stream off, and no process ends', async () => {
    const { t, client } = await streaming((stream) => {
      stream.respond({ ':status': 200 })
      stream.write('part')
      throw new Error('on purpose')
    })
    const { code } = await (await client()).get('/')
    expect(code).not.toBe(0)
    expect(t.process.exitCode).toBeUndefined()
    expect(t.life.counts()).toMatchObject({ requests: 0 })
  })

  test('a stream may be handed over to a listener beside one for requests, and is one exchange', async () => {
    const server = createServer(() => undefined)
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200 })
      stream.end('core')
    })
    const { t, client } = await serve(server)
    expect(await (await client()).get('/')).toMatchObject({ body: 'core', code: 0 })
    expect(t.life.counts()).toMatchObject({ requests: 0 })
  })

  test('CONNECT is a watch from its beginning to the end of its stream', async () => {
    const { t, client } = await streaming((stream) => {
      stream.respond({ ':status': 200 })
      shutdownSignalOf(stream).addEventListener('abort', () => stream.end('bye'))
      stream.on('data', (chunk) => stream.write(chunk))
      stream.on('end', () => stream.end())
    })
    const tunnel = (await client()).stream({ ':method': 'CONNECT', ':authority': 'there:1' })
    const answer = answerOf(tunnel)
    tunnel.write('ping ')
    await expect.poll(() => t.life.counts(), POLL).toMatchObject({ requests: 0, watches: 1 })
    const ended = t.life.stop()
    tunnel.end()
    expect((await answer).body).toContain('ping ')
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, watches: { after: 0 } })
  })
})

describe('what belongs to a request', () => {
  test('its body and its trailers, both ways', async () => {
    const { t, client } = await listening(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      response.writeHead(200)
      response.addTrailers({ 'x-sum': String(body.length) })
      response.end(`${body} ${String(request.trailers['x-last'])}`)
    })
    const one = await client()
    const stream = one.session.request({ ':path': '/', ':method': 'POST' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-last': 'end' }))
    stream.end('body')
    expect(await answerOf(stream)).toMatchObject({ body: 'body end', trailers: { 'x-sum': '4' } })
    expect(t.life.counts()).toMatchObject({ requests: 0 })
  })

  test.each(['GET', 'HEAD'])('%s is over when it is answered, and not before', async (method) => {
    const slow = new Gate()
    const { t, client } = await listening(async (_, response) => {
      await slow.pass()
      response.end('body')
    })
    const answer = answerOf((await client()).stream({ ':path': '/', ':method': method }, true))
    await slow.reached
    await new Promise((resolve) => setImmediate(resolve))
    expect(t.life.counts().requests).toBe(1)
    slow.open()
    expect(await answer).toMatchObject({ status: 200, body: method === 'HEAD' ? '' : 'body' })
    await expect.poll(() => t.life.counts().requests, POLL).toBe(0)
  })

  test.each(['GET', 'POST'])('a %s that its handler has paused is over when it is answered', async (method) => {
    const { t, client } = await listening((request, response) => {
      request.pause()
      response.end('ok')
    })
    const one = await client()
    const stream = one.stream({ ':path': '/', ':method': method }, method === 'GET')
    const answered = new Promise((resolve) => stream.once('response', resolve))
    if (method === 'POST') stream.write('half a body')
    await answered
    await expect.poll(() => t.life.counts().requests, POLL).toBe(0)
    stream.close()
  })

  test('Expect: 100-continue is said to what is let in, and not to what is refused', async () => {
    const { t, client } = await listening((request, response) => {
      request.resume().on('end', () => response.end('ok'))
    })
    const one = await client()
    const continued = (stream: ReturnType<H2Client['stream']>): Promise<boolean> =>
      new Promise((resolve) => stream.once('continue', () => resolve(true)).once('close', () => resolve(false)))
    const stream = one.stream({ ':path': '/', ':method': 'POST', expect: '100-continue' })
    const answer = answerOf(stream)
    expect(await continued(stream)).toBe(true)
    stream.end('body')
    expect(await answer).toMatchObject({ status: 200, body: 'ok' })
    expect(t.life.counts()).toMatchObject({ requests: 0 })
  })

  test('is found by what its handler was given, also when the stream has closed', async () => {
    const given: { readonly object: object; readonly signal: AbortSignal }[] = []
    const keep = (object: object) => given.push({ object, signal: shutdownSignalOf(object) })
    const ofRequests = await listening((request, response) => {
      keep(request)
      response.end('ok')
    })
    const ofStreams = await streaming((stream) => {
      keep(stream)
      respond(stream, {})
    })
    const both = createServer(ok)
    both.on('stream', keep)
    const besideRequests = await serve(both)
    const onSessions = createServer(ok)
    onSessions.on('session', (session) => session.prependListener('stream', (stream) => setImmediate(() => keep(stream))))
    const ofSessions = await serve(onSessions)
    for (const { t, client } of [ofRequests, ofStreams, besideRequests, ofSessions]) {
      const before = given.length
      await (await client()).get('/')
      await expect.poll(() => given.length, POLL).toBe(before + 1)
      await expect.poll(() => t.life.counts(), POLL).toMatchObject({ requests: 0 })
    }
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(given.map(({ object, signal }) => shutdownSignalOf(object) === signal)).toEqual([true, true, true, true])
  })

  test('is found by the stream of its request until the handler is over, and while that is closed', async () => {
    const slow = new Gate()
    const found: unknown[] = []
    const find = (path: string | undefined, stream: ServerHttp2Stream): void => {
      try {
        found.push([path, shutdownSignalOf(stream).aborted])
      } catch (thrown) {
        found.push([path, (thrown as { readonly code?: string }).code])
      }
    }
    const { t, client } = await listening(async ({ url, stream }, response) => {
      stream.once('close', () => find(url, stream))
      if (url === '/slow') await slow.pass()
      else response.end('ok')
      if (url === '/slow') find(url, stream)
    })
    const one = await client()
    await one.get('/quick')
    const left = one.stream({ ':path': '/slow' }, true)
    await slow.reached
    left.close(constants.NGHTTP2_CANCEL)
    await expect.poll(() => t.life.counts(), POLL).toMatchObject({ requests: 0 })
    // Another stream comes and goes before its handler is over.
    await one.get('/after')
    slow.open()
    const all = [
      ['/quick', false],
      ['/slow', false],
      ['/after', false],
      ['/slow', false],
    ]
    await expect.poll(() => found, POLL).toEqual(all)
  })

  test('that a checkContinue listener hands on when its stream has closed is still its own', async () => {
    const server = createServer(() => Promise.reject(new Error('handed on')))
    server.on('checkContinue', (request: Http2ServerRequest, response: Http2ServerResponse) => {
      request.stream.once('close', () => setImmediate(() => server.emit('request', request, response)))
      response.end('ok')
    })
    const { t, client } = await serve(server)
    const failed: unknown[] = []
    t.life.events$.subscribe((event) => void (event.type === 'error' && failed.push(event.error.message)))
    await answerOf((await client()).stream({ ':path': '/', ':method': 'POST', expect: '100-continue' }, true))
    await expect.poll(() => failed, POLL).toEqual(['handed on'])
  })

  test('a stream that is broken off before it is handed over costs its connection nothing', async () => {
    const server = createServer((_, response) => void response.end('ok'))
    // As node does when GOAWAY is sent while what it has read waits for the handler's step to end.
    server.once('session', (session: ServerHttp2Session) =>
      session.prependOnceListener('stream', (stream: ServerHttp2Stream) => void stream.destroy(new Error('refused'))),
    )
    const { t, client } = await serve(server)
    const one = await client()
    await answerOf(one.stream({ ':path': '/' }, true)).catch(() => undefined)
    expect(await answerOf(one.stream({ ':path': '/' }, true))).toMatchObject({ status: 200, body: 'ok' })
    expect(t.life.counts()).toMatchObject({ requests: 0 })
  })
})
