import { describe, expect, test } from 'vitest'
import { shutdownSignalOf } from '#src/http/shutdown-signal.ts'
import { Latch, rig, turns } from './rig.ts'

const BODY = 'Internal Server Error\n'

describe('a handler that fails before it has sent anything', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
    [
      'rejects later',
      () =>
        turns(2).then(() => {
          throw new Error('broken')
        }),
    ],
    [
      'returns a foreign promise that rejects',
      // biome-ignore lint/suspicious/noThenProperty: promises of other makers are the subject
      () => ({ then: (_: unknown, reject: (reason: unknown) => void) => reject(new Error('broken')) }),
    ],
  ])('and %s is answered for with 500, reported, and its connection lives', async (_, fail) => {
    const { traffic, connect, facts } = await rig((request, response) => {
      if (request.url === '/ok') return void response.end('ok')
      response.setHeader('Content-Type', 'application/json')
      response.setHeader('Content-Length', '1000')
      response.setHeader('Set-Cookie', 'secret=1')
      response.statusMessage = 'Fine'
      return fail() as unknown as undefined
    })
    const client = await connect()
    const { headers, ...answer } = await client.ask('GET', '/path?query')
    expect(answer).toMatchObject({ status: 500, body: BODY })
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-length': String(BODY.length),
      connection: 'keep-alive',
    })
    expect(headers['set-cookie']).toBeUndefined()
    expect(facts).toMatchObject([{ type: 'error', where: 'handler GET /path', error: { name: 'Error', message: 'broken' } }])
    expect((await client.ask('GET', '/ok')).status).toBe(200)
    await traffic.handlersDone()
    expect(traffic.counts().requests).toBe(0)
  })

  test.each<[string, () => unknown]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a string', () => 'text'],
    ['a symbol', () => Symbol('s')],
    ['an object without a prototype', () => Object.create(null)],
    [
      'an error whose message throws',
      () =>
        Object.defineProperty(new Error('x'), 'message', {
          get: () => {
            throw new Error('trap')
          },
        }),
    ],
    [
      'an object that throws when named',
      () => ({
        get [Symbol.toStringTag]() {
          throw new Error('trap')
        },
        toJSON() {
          throw new Error('trap')
        },
      }),
    ],
    [
      'a proxy that throws at every look',
      () =>
        new Proxy(
          {},
          new Proxy(
            {},
            {
              get: () => () => {
                throw new Error('trap')
              },
            },
          ),
        ),
    ],
    [
      'a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        return proxy
      },
    ],
  ])('may throw %s', async (_, thrown) => {
    const { connect, facts } = await rig(() => {
      throw thrown()
    })
    const client = await connect()
    expect((await client.ask('GET', '/')).body).toBe(BODY)
    expect((await client.ask('GET', '/')).body).toBe(BODY)
    expect(facts).toMatchObject([{ type: 'error' }, { type: 'error' }])
  })

  test('may leave a half-sent body behind', async () => {
    const { connect } = await rig(() => {
      throw new Error('broken')
    })
    const client = await connect()
    client.request('POST', '/', { headers: { 'Content-Length': '10' } })
    client.send('12345')
    expect((await client.response()).status).toBe(500)
    client.send('67890')
    expect((await client.ask('GET', '/')).status).toBe(500)
  })
})

describe('a handler that fails after its head is out', () => {
  test('breaks the connection, so that no client takes a part for the whole', async () => {
    const { connect, facts } = await rig(async (_request, response) => {
      response.write('part')
      await turns(3)
      throw new Error('broken')
    })
    const client = await connect()
    client.request('GET', '/')
    await expect(client.response()).rejects.toThrow('without a complete response')
    expect(facts).toMatchObject([{ type: 'error', error: { message: 'broken' } }])
  })

  test('does not break the answers that are still to be sent before its own', async () => {
    const latch = new Latch()
    const { connect, facts } = await rig(async (request, response) => {
      if (request.url === '/first') await latch.promise
      response.write('part ')
      if (request.url === '/second') throw new Error('broken')
      response.end('whole')
    })
    const client = await connect()
    client.request('GET', '/first')
    client.request('GET', '/second')
    await expect.poll(() => facts.length).toBe(1)
    latch.resolve()
    expect((await client.response()).body).toBe('part whole')
    await client.closed()
  })

  test('and after its end has done no harm: the answer stands', async () => {
    const whole = 'x'.repeat(10_000_000)
    const { connect, facts } = await rig(async (_request, response) => {
      response.end(whole)
      throw new Error('afterwards')
    })
    const client = await connect()
    client.socket.pause()
    client.request('GET', '/')
    await expect.poll(() => facts).toMatchObject([{ type: 'error', error: { message: 'afterwards' } }])
    client.socket.resume()
    expect((await client.response()).body === whole).toBe(true)
  })
})

describe('a failing upgrade', () => {
  const UPGRADE = { headers: { Connection: 'Upgrade', Upgrade: 'echo' } }

  test('is answered with 500 while nothing has been sent', async () => {
    const { server, traffic, connect, facts } = await rig((_request, response) => void response.end('ok'))
    server.on('upgrade', () => {
      throw new Error('no socket for you')
    })
    const client = await connect()
    await client.ask('GET', '/')
    expect(await client.ask('GET', '/', UPGRADE)).toMatchObject({ status: 500, body: BODY, headers: { connection: 'close' } })
    expect(await client.closed()).toBe('ended')
    expect(facts).toMatchObject([{ type: 'error', where: 'handler GET /' }])
    await expect.poll(() => traffic.counts().watches).toBe(0)
  })

  test('is broken off when something has', async () => {
    const { server, traffic, connect } = await rig(undefined)
    server.on('upgrade', async (_request, socket) => {
      socket.on('error', () => undefined)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
      await turns(3)
      throw new Error('broken')
    })
    const client = await connect()
    await client.ask('GET', '/', UPGRADE)
    await client.closed()
    await expect.poll(() => traffic.counts().watches).toBe(0)
  })
})

test('a handler that only passes on the abort by which it was told to end is not reported', async () => {
  const { traffic, connect, facts } = await rig(async (request) => {
    const signal = shutdownSignalOf(request)
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const client = await connect()
  client.request('GET', '/')
  await expect.poll(() => traffic.counts().requests).toBe(1)
  traffic.drains.cutRequests()
  expect((await client.response()).status).toBe(500)
  expect(facts).toEqual([])
})

test('a handler whose client has left is reported when it fails, and harms no other', async () => {
  const latch = new Latch()
  const { traffic, connect, facts } = await rig(async () => {
    await latch.promise
    throw new Error('broken')
  })
  const client = await connect()
  client.request('GET', '/gone')
  await expect.poll(() => traffic.counts().requests).toBe(1)
  client.abort()
  await expect.poll(() => traffic.counts().requests).toBe(0)
  expect(traffic.runningHandlers()).toMatchObject([{ name: 'GET /gone' }])
  latch.resolve()
  await traffic.handlersDone()
  expect(facts).toMatchObject([{ type: 'error', where: 'handler GET /gone' }])
})

describe('a handler that was cut is late', () => {
  test.each<[string, (exit: Latch, reason: unknown) => void, object]>([
    ['and resolves', (exit) => exit.resolve(), { answer: 'resolved' }],
    [
      'and rejects',
      (exit) => exit.reject(new Error('broken')),
      { answer: 'rejected', error: expect.objectContaining({ message: 'broken' }) },
    ],
    ['and passes on the abort', (exit, reason) => exit.reject(reason), { answer: 'rejected' }],
  ])('with its connection, %s', async (_, answer, said) => {
    const exit = new Latch()
    let signal: AbortSignal | undefined
    const { traffic, connect, facts } = await rig(async (request, response) => {
      signal = shutdownSignalOf(request)
      response.write('part')
      await exit.promise
    })
    const client = await connect()
    client.request('GET', '/watch')
    await expect.poll(() => traffic.counts().watches).toBe(1)
    await traffic.drains.watches(0)
    traffic.drains.terminateWatches()
    answer(exit, signal?.reason)
    await traffic.handlersDone()
    expect(facts).toEqual([{ type: 'late', what: 'handler GET /watch', lateMs: expect.any(Number), ...said }])
  })

  test('once, also with several handlers', async () => {
    const [one, two] = [new Latch(), new Latch()]
    const { server, traffic, connect, facts } = await rig(() => one.promise)
    server.on('request', () => two.promise)
    const client = await connect()
    client.request('GET', '/')
    await expect.poll(() => traffic.counts().requests).toBe(1)
    traffic.destroyConnections()
    expect(traffic.cutHandlers()).toMatchObject({ pending: [{ name: 'GET /' }], unended: [] })
    one.reject(new Error('broken'))
    two.resolve()
    await traffic.handlersDone()
    expect(facts).toMatchObject([{ type: 'late', answer: 'rejected', error: { message: 'broken' } }])
  })
})

test('handlers are counted apart, also several for one request', async () => {
  const [one, two] = [new Latch(), new Latch()]
  const { server, traffic, connect } = await rig(async (_request, response) => {
    response.end()
    await one.promise
  })
  server.on('request', () => two.promise)
  const client = await connect()
  await client.ask('GET', '/')
  let done = false
  const allDone = traffic.handlersDone().then(() => {
    done = true
  })
  one.resolve()
  await turns(3)
  expect(done).toBe(false)
  expect(traffic.runningHandlers()).toHaveLength(1)
  two.resolve()
  await allDone
  expect(traffic.runningHandlers()).toEqual([])
})
