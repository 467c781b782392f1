import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Agent, request as undiciRequest } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Listener } from '#src/actors/listener.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { loopbackHeaders } from '#src/http/traffic/exempt.ts'
import { row } from '../support/row.ts'
import { Latch, type Rig, type RigOptions, rig, turns } from './rig.ts'

const STATUS_503 =
  '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"apiserver is shutting down","reason":"ServiceUnavailable","code":503}\n\n'
const TEXT_429 = 'The apiserver is shutting down, please try again later.\n'

/**
 * A server that serves everything, and at once accepts nothing new; `handled` are the URLs that
 * reached its handler.
 */
async function refusing(options: RigOptions = {}): Promise<Rig & { readonly handled: string[] }> {
  const handled: string[] = []
  const made = await rig((request, response) => {
    handled.push(request.url as string)
    response.end('served')
  }, options)
  made.traffic.initiateShutdown()
  made.traffic.stopAccepting()
  return { ...made, handled }
}

const retryAfter: RigOptions = { mode: 'retry-after' }
const UPGRADE = { headers: { Connection: 'Upgrade', Upgrade: 'echo' } }

row('RA-17', 'retry-after mode: a new request is answered 429, byte for byte as upstream, and its connection closed', async () => {
  const { traffic, connect, handled } = await refusing(retryAfter)
  const client = await connect()
  client.request('GET', '/api/v1/namespaces')
  await client.until('the whole answer', () => client.received.endsWith(TEXT_429))
  const { date, ...headers } = (await client.response()).headers
  expect(date).toBeDefined()
  expect(headers).toEqual({
    connection: 'close',
    'retry-after': '5',
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-length': String(TEXT_429.length),
  })
  expect(await client.closed()).toBe('ended')
  expect(handled).toEqual([])
  expect(traffic.counts().rejected).toMatchObject({ 'retry-after': 1, 'not-accepting': 0 })
  expect(traffic.counts().requests).toBe(0)
})

row('GT-24', 'plain mode: a late request on a live connection is answered 503, and its connection closed', async () => {
  const { traffic, connect, server } = await rig((_request, response) => response.end('served'))
  const client = await connect()
  expect((await client.ask('GET', '/before')).status).toBe(200)
  traffic.stopAccepting()
  new Listener(server, undefined).close()
  client.request('GET', '/late')
  const { status, body, headers } = await client.response()
  expect({ status, body }).toEqual({ status: 503, body: STATUS_503 })
  expect(headers).toMatchObject({
    connection: 'close',
    'retry-after': '1',
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
  })
  expect(await client.closed()).toBe('ended')
})

row('RA-09', 'health and metrics paths are served, by exact segment and whatever their query', async () => {
  const { traffic, connect, handled } = await refusing(retryAfter)
  const exempt = ['/readyz', '/livez?verbose', '/healthz', '/metrics', '/metrics/slis', '/readyz/etcd', '/readyz?a=/b', '/readyz/']
  for (const path of exempt) expect(await (await connect()).ask('GET', path)).toMatchObject({ status: 200, body: 'served' })
  const refused = ['/readyzanything', '/api/v1/readyz', '/', '/?x=/readyz', '/metricsx/slis', '/READYZ', '/a/../readyz', '//readyz']
  for (const path of refused) expect(await (await connect()).ask('GET', path)).toMatchObject({ status: 429 })
  expect(await (await connect()).ask('GET', 'http://host/livez?x')).toMatchObject({ status: 200 })
  expect(await (await connect()).ask('GET', 'http://host/livezx')).toMatchObject({ status: 429 })
  expect(await (await connect()).ask('GET', 'http://readyz')).toMatchObject({ status: 429 })
  expect(handled).toEqual([...exempt, 'http://host/livez?x'])
  expect(traffic.counts().requests).toBe(0)
})

describe("the server's own client", () => {
  test('is let in by its token', async () => {
    const { connect } = await refusing(retryAfter)
    const client = await connect()
    expect(await client.ask('GET', '/api', { headers: loopbackHeaders() })).toMatchObject({ status: 200 })
  })

  test('is no client that guesses, nor one that claims a name', async () => {
    const { connect } = await refusing(retryAfter)
    const [[name, token]] = Object.entries(loopbackHeaders()) as [[string, string]]
    const guesses = ['', 'x', 'A'.repeat(token.length), `${token}x`, token.slice(1), `${token}, ${token}`]
    for (const guess of guesses) {
      expect(await (await connect()).ask('GET', '/api', { headers: { [name]: guess } })).toMatchObject({ status: 429 })
    }
    expect(await (await connect()).ask('GET', '/api', { headers: { 'User-Agent': 'kube-apiserver/v1.30' } })).toMatchObject({ status: 429 })
    // As many characters as the token, but more bytes.
    const client = await connect()
    client.send(Buffer.from(`GET / HTTP/1.1\r\nHost: a\r\n${name}: ${token.slice(0, -1)}\u00e9\r\n\r\n`, 'latin1'))
    expect((await client.response()).status).toBe(429)
  })
})

describe('a new watch is refused', () => {
  row('RA-11', 'with 429 in retry-after mode, not with 503', async () => {
    const { traffic, connect, handled } = await refusing(retryAfter)
    expect((await (await connect()).ask('GET', '/watch')).status).toBe(429)
    expect(handled).toEqual([])
    expect(traffic.counts().rejected).toMatchObject({ 'retry-after': 1, watch: 0 })
  })

  test('with 503 in plain mode', async () => {
    const { traffic, connect } = await refusing()
    expect(await (await connect()).ask('GET', '/watch')).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: STATUS_503 })
    expect(traffic.counts().rejected).toMatchObject({ watch: 1 })
  })

  test.each(['refuse', 'retry-after'] as const)(
    'with 503 in %s mode once the watch drain has begun, even from our own client',
    async (mode) => {
      const { traffic, connect } = await refusing({ mode })
      await traffic.drains.watches(1000)
      const client = await connect()
      expect(await client.ask('GET', '/watch', { headers: loopbackHeaders() })).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
      })
    },
  )
})

describe('a refusal', () => {
  test('of HEAD has the headers and no body', async () => {
    const { connect } = await refusing(retryAfter)
    const client = await connect()
    expect(await client.ask('HEAD', '/')).toMatchObject({ status: 429, body: '', headers: { 'content-length': String(TEXT_429.length) } })
    expect(await client.closed()).toBe('ended')
  })

  test('of Expect: 100-continue says no 100', async () => {
    const { connect } = await refusing(retryAfter)
    const client = await connect()
    client.request('POST', '/', { headers: { Expect: '100-continue', 'Content-Length': '5000' } })
    expect(await client.response()).toMatchObject({ status: 429, body: TEXT_429 })
    expect(await client.closed()).toBe('ended')
  })

  test('of pipelined requests answers them all, and closes after the last', async () => {
    const { traffic, connect } = await refusing(retryAfter)
    traffic.beginNotifying({ how: 'at-once', delayMs: 0 })
    const client = await connect()
    for (const path of ['/1', '/2', '/3']) client.request('GET', path)
    const answers = [await client.response(), await client.response(), await client.response()]
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 429])
    expect(answers.map(({ headers }) => headers['connection'])).toEqual(['keep-alive', 'keep-alive', 'close'])
    expect(await client.closed()).toBe('ended')
  })

  test.each(['refuse', 'retry-after'] as const)('of an upgrade is a whole response on the bare socket (%s)', async (mode) => {
    const clock = new VirtualClock()
    const { server, traffic, connect } = await refusing({ mode, clock })
    server.on('upgrade', (_request, socket) => socket.destroy())
    const client = await connect()
    client.request('GET', '/', UPGRADE)
    client.send(Buffer.alloc(500_000))
    const answer = await client.response()
    expect(answer).toMatchObject(mode === 'refuse' ? { status: 503, body: STATUS_503 } : { status: 429, body: TEXT_429 })
    expect(answer.headers['connection']).toBe('close')
    expect(await client.closed()).toBe('ended')
    // Without the clock moving: the client's own end was noticed.
    await traffic.connectionsClosed()
    expect(traffic.snapshot.connectionFates()).toMatchObject({ notified: 1, forced: 0 })
  })

  test('of a CONNECT is one, too', async () => {
    const { server, connect } = await refusing(retryAfter)
    server.on('connect', (_request, socket) => socket.destroy())
    const client = await connect()
    client.send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
    await client.until('the answer', () => client.received.includes(TEXT_429))
    expect(await client.closed()).toBe('ended')
  })

  test('of an upgrade whose client has broken off harms no other', async () => {
    const { server, traffic, connect } = await refusing()
    server.on('upgrade', (_request, socket) => socket.destroy())
    for (let round = 0; round < 20; round++) {
      const client = await connect()
      client.request('GET', '/', UPGRADE)
      client.socket.resetAndDestroy()
    }
    await expect.poll(() => traffic.counts().connections.open).toBe(0)
  })
})

describe('a client that still sends its body reads the refusal (V16)', () => {
  const SIZE = 5_000_000

  test('with node:http, 5 MB', async () => {
    const { port } = await refusing(retryAfter)
    for (let round = 0; round < 5; round++) {
      const upload = httpRequest({ port, host: '127.0.0.1', method: 'POST', path: '/upload', headers: { 'Content-Length': SIZE } })
      const sent = once(upload.end(Buffer.alloc(SIZE)), 'finish')
      const [response] = (await once(upload, 'response')) as [IncomingMessage]
      let body = ''
      for await (const bytes of response.setEncoding('utf8')) body += bytes
      expect({ status: response.statusCode, body }).toEqual({ status: 429, body: TEXT_429 })
      await sent
    }
  })

  test('with undici, 5 MB in chunks of unknown length', async () => {
    const { port } = await refusing()
    const dispatcher = new Agent({ connect: { timeout: 1000 } })
    onTestFinished(() => dispatcher.destroy())
    async function* chunks() {
      for (let sent = 0; sent < SIZE; sent += 50_000) yield Buffer.alloc(50_000)
    }
    const { statusCode, body } = await undiciRequest(`http://127.0.0.1:${port}/upload`, {
      method: 'POST',
      body: Readable.from(chunks()),
      dispatcher,
    })
    expect({ statusCode, body: await body.text() }).toEqual({ statusCode: 503, body: STATUS_503 })
  })

  test('with a client that reads only after it has sent everything, and closes as soon as it has', async () => {
    const clock = new VirtualClock()
    const { connect } = await refusing({ ...retryAfter, clock })
    const client = await connect()
    client.socket.pause()
    client.request('POST', '/upload', { body: Buffer.alloc(SIZE) })
    if (client.socket.writableLength > 0) await once(client.socket, 'drain')
    await turns(10)
    client.socket.resume()
    expect(await client.response()).toMatchObject({ status: 429, body: TEXT_429 })
    expect(await client.closed()).toBe('ended')
  })

  test('at once, and for a second at most: then the connection is closed', async () => {
    const { traffic, connect } = await refusing(retryAfter)
    const client = await connect()
    const begin = performance.now()
    client.request('POST', '/upload', { headers: { 'Content-Length': '1000000' } })
    client.send('the beginning, and never more')
    expect(await client.response()).toMatchObject({ status: 429, body: TEXT_429 })
    expect(performance.now() - begin).toBeLessThan(900)
    expect(client.state).toBe('open')
    await client.closed()
    expect(performance.now() - begin).toBeGreaterThan(950)
    await expect.poll(() => traffic.counts().connections.open).toBe(0)
    expect(performance.now() - begin).toBeLessThan(2500)
    expect(traffic.snapshot.connectionFates()).toMatchObject({ notified: 1, forced: 0 })
  })
})

describe('steps of the chain', () => {
  test('that answer later are waited for, if they began before the drain', async () => {
    const latch = new Latch()
    const { traffic, connect } = await rig(undefined, {
      steps: [
        {
          name: 'later',
          before: 'count',
          admit: ({ response }) => {
            void latch.promise.then(() => response?.end('ok'))
            return false
          },
        },
      ],
    })
    const client = await connect()
    client.request('GET', '/readyz')
    await expect.poll(() => traffic.counts().requests).toBe(1)
    traffic.stopAccepting()
    const drained = traffic.drains.requests()
    latch.resolve()
    expect((await client.response()).body).toBe('ok')
    await drained
  })

  test('come first, may answer what would be refused, and count while the drain is open', async () => {
    const seen: string[] = []
    const { traffic, connect } = await refusing({
      mode: 'retry-after',
      steps: [
        {
          name: 'see',
          before: 'count',
          admit: ({ name }) => {
            seen.push(name)
            return true
          },
        },
        {
          name: 'status',
          before: 'count',
          admit: ({ request, response }) => {
            if (request.url !== '/status') return true
            expect(traffic.counts().requests).toBe(0)
            response?.end('from the step')
            return false
          },
        },
      ],
    })
    const client = await connect()
    expect(await client.ask('GET', '/status')).toMatchObject({ status: 200, body: 'from the step' })
    expect(await client.ask('GET', '/other')).toMatchObject({ status: 429 })
    expect(seen).toEqual(['GET /status', 'GET /other'])
  })

  test('that throw are answered for like handlers', async () => {
    const { connect, facts } = await rig((_request, response) => response.end(), {
      steps: [
        {
          name: 'broken',
          before: 'count',
          admit: () => {
            throw new Error('broken step')
          },
        },
      ],
    })
    const client = await connect()
    expect((await client.ask('GET', '/')).status).toBe(500)
    expect(facts).toMatchObject([{ type: 'error', where: 'handler GET /', error: { message: 'broken step' } }])
  })
})

test('an admin server refuses nothing, counts nothing and tells no client; steps that are for it apply', async () => {
  const { traffic, server, connect } = await rig((_request, response) => response.end('handler'), {
    takenOver: false,
    mode: 'retry-after',
    steps: [
      {
        name: 'health',
        onAdmin: true,
        admit: ({ request, response }) => {
          if (request.url !== '/readyz') return true
          response?.writeHead(500).end('red')
          return false
        },
      },
      { name: 'not for it', admit: () => false },
    ],
  })
  traffic.takeOver(server, { admin: true })
  traffic.initiateShutdown()
  traffic.completeNotifying()
  traffic.stopAccepting()
  await traffic.drains.requests()
  await traffic.lastCall.closeIdleConnections()
  const client = await connect()
  expect(await client.ask('GET', '/readyz')).toMatchObject({ status: 500, body: 'red', headers: { connection: 'keep-alive' } })
  expect(await client.ask('GET', '/watch')).toMatchObject({ status: 200, body: 'handler', headers: { connection: 'keep-alive' } })
  expect(traffic.counts()).toMatchObject({ requests: 0, watches: 0, connections: { open: 0 } })
  await traffic.connectionsClosed()
  expect(client.state).toBe('open')
  traffic.destroyAdminConnections()
  await client.closed()
  expect(traffic.snapshot.connectionFates()).toMatchObject({ notified: 0, idleUnnotified: 0, ended: 0, forced: 0 })
})
