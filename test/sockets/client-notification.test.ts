import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { row } from '../support/row.ts'
import { Latch, rig, turns } from './rig.ts'

const AT_ONCE = { how: 'at-once', delayMs: 0 } as const
const ok: RequestListener = (_request, response) => void response.end('ok')

describe('the share of responses that tell', () => {
  async function notified(random: number, plan: Parameters<Awaited<ReturnType<typeof rig>>['traffic']['beginNotifying']>[0]) {
    const clock = new VirtualClock()
    const { traffic, connect } = await rig(ok, { clock, random: () => random })
    traffic.beginNotifying(plan)
    return {
      clock,
      traffic,
      ask: async () => (await (await connect()).ask('GET', '/')).headers['connection'],
    }
  }

  test('gradual: grows to all of them in half of the delay', async () => {
    for (const [random, atMs] of [
      [0, 1],
      [0.25, 130],
      [0.5, 255],
      [0.999, 500],
    ] as const) {
      const { clock, ask } = await notified(random, { how: 'gradual', delayMs: 1000 })
      expect(await ask()).toBe('keep-alive')
      await clock.advance(atMs - 5 > 0 ? atMs - 5 : 0)
      if (random > 0) expect(await ask()).toBe('keep-alive')
      await clock.advance(10)
      expect(await ask()).toBe('close')
    }
  })

  test('gradual: without a delay it is all of them', async () => {
    const { ask } = await notified(0.999, { how: 'gradual', delayMs: 0 })
    expect(await ask()).toBe('close')
  })

  test('at once: all of them', async () => {
    const { ask } = await notified(0.999, { how: 'at-once', delayMs: 60_000 })
    expect(await ask()).toBe('close')
  })

  test('after the delay: none before it is complete, then all of them', async () => {
    const { clock, traffic, ask } = await notified(0, { how: 'after-delay', delayMs: 1000 })
    await clock.advance(5000)
    expect(await ask()).toBe('keep-alive')
    traffic.completeNotifying()
    expect(await ask()).toBe('close')
  })

  test('complete: all of them, however it began, and also when it never did', async () => {
    const { traffic, ask } = await notified(0.999, { how: 'gradual', delayMs: 60_000 })
    traffic.completeNotifying()
    expect(await ask()).toBe('close')
    const other = await rig(ok)
    other.traffic.completeNotifying()
    expect((await (await other.connect()).ask('GET', '/')).headers['connection']).toBe('close')
  })

  test('begins once: a second beginning changes nothing', async () => {
    const { traffic, ask } = await notified(0.999, { how: 'after-delay', delayMs: 1000 })
    traffic.beginNotifying(AT_ONCE)
    expect(await ask()).toBe('keep-alive')
  })
})

row('GT-22', 'an in-flight response says Connection: close, and its connection is closed right after it', async () => {
  const latch = new Latch()
  const { traffic, connect } = await rig(async (_request, response) => {
    await latch.promise
    response.end('in flight')
  })
  const client = await connect()
  client.request('GET', '/')
  await expect.poll(() => traffic.counts().requests).toBe(1)
  traffic.initiateShutdown()
  traffic.beginNotifying(AT_ONCE)
  latch.resolve()
  expect(await client.response()).toMatchObject({ status: 200, body: 'in flight', headers: { connection: 'close' } })
  expect(await client.closed()).toBe('ended')
  await traffic.connectionsClosed()
  expect(traffic.snapshot.connectionFates()).toMatchObject({ notified: 1, idleUnnotified: 0, ended: 0, forced: 0 })
})

test('a client with a keep-alive agent moves to a new connection by itself, and loses nothing', async () => {
  const { traffic, port } = await rig((_request, response) => void setImmediate(() => response.end('ok')))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ask = async (): Promise<{ status: number | undefined; reused: boolean }> => {
    const request = httpRequest({ port, host: '127.0.0.1', agent })
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    await once(response.resume(), 'end')
    return { status: response.statusCode, reused: request.reusedSocket }
  }
  await ask()
  expect(await ask()).toEqual({ status: 200, reused: true })
  traffic.beginNotifying(AT_ONCE)
  expect(await ask()).toEqual({ status: 200, reused: true })
  expect(await ask()).toEqual({ status: 200, reused: false })
  expect(await ask()).toEqual({ status: 200, reused: false })
})

describe('whatever a handler does with its headers, the client is told', () => {
  const handlers: Record<string, RequestListener> = {
    nothing: (_, response) => response.end('body'),
    'writes in parts': (_, response) => {
      response.write('bo')
      response.end('dy')
    },
    'flushes them first': (_, response) => {
      response.flushHeaders()
      response.end('body')
    },
    'sets Connection: keep-alive': (_, response) => response.setHeader('Connection', 'keep-alive').end('body'),
    'removes Connection': (_, response) => {
      response.removeHeader('Connection')
      response.end('body')
    },
    'writes an object': (_, response) => response.writeHead(200, { 'Content-Type': 'text/plain' }).end('body'),
    'writes an object with keep-alive': (_, response) =>
      response.writeHead(200, { 'X-A': '1', connection: 'Keep-Alive', 'Keep-Alive': 'timeout=5' }).end('body'),
    'writes a reason and an object': (_, response) => response.writeHead(200, 'Fine', { Connection: 'keep-alive' }).end('body'),
    'writes a reason alone': (_, response) => response.writeHead(200, 'Fine').end('body'),
    'writes undefined and an object': (_, response) =>
      response.writeHead(200, undefined as unknown as string, { Connection: 'keep-alive' }).end('body'),
    'writes a list with keep-alive': (_, response) => response.writeHead(200, ['Connection', 'keep-alive', 'X-A', '1']).end('body'),
    'writes a list with duplicates': (_, response) => response.writeHead(200, ['X-A', '1', 'X-A', '2']).end('body'),
    'sets one and writes others': (_, response) => {
      response.setHeader('Connection', 'keep-alive')
      response.writeHead(200, { 'X-A': '1' }).end('body')
    },
    'closes by itself': (_, response) => response.setHeader('Connection', 'close').setHeader('Keep-Alive', 'timeout=600').end('body'),
    'sets how long it keeps alive': (_, response) => response.setHeader('Keep-Alive', 'timeout=600').end('body'),
    'appends it': (_, response) => {
      response.appendHeader('KEEP-ALIVE', ['timeout=600', 'max=9'])
      response.write('body')
      response.end()
    },
    'sets it, and writes an object': (_, response) =>
      response.setHeader('Keep-Alive', 'timeout=600').writeHead(200, { 'X-A': '1' }).end('body'),
    'writes it in an object': (_, response) => response.writeHead(200, 'Fine', { 'KEEP-alive': 'timeout=600' }).end('body'),
    'sets it, and writes it in a list': (_, response) =>
      response.setHeader('keep-alive', 'timeout=1').writeHead(200, ['keep-alive', 'timeout=600', 'X-A', '1']).end('body'),
    'writes it in pairs': (_, response) =>
      response
        .writeHead(200, [
          ['Keep-Alive', 'timeout=600'],
          ['X-A', '1'],
        ] as unknown as string[])
        .end('body'),
  }

  test.each(Object.entries(handlers))('%s', async (_, handler) => {
    const { traffic, connect } = await rig(handler)
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    const { headers, body } = await client.ask('GET', '/')
    expect({ connection: headers['connection'], keepAlive: headers['keep-alive'], body }).toEqual({ connection: 'close', body: 'body' })
    expect(await client.closed()).toBe('ended')
  })

  test('and keeps its other headers', async () => {
    const { traffic, connect } = await rig((_, response) => response.writeHead(200, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']).end())
    traffic.beginNotifying(AT_ONCE)
    expect((await (await connect()).ask('GET', '/')).headers['set-cookie']).toBe('a=1, b=2')
  })

  test('and what else its Connection says', async () => {
    const { traffic, connect } = await rig((_, response) =>
      response.writeHead(426, { Connection: 'keep-alive, Upgrade', Upgrade: 'h2c' }).end(),
    )
    traffic.beginNotifying(AT_ONCE)
    expect((await (await connect()).ask('GET', '/')).headers).toMatchObject({ connection: 'Upgrade, close', upgrade: 'h2c' })
  })

  test('once: an informational response says nothing', async () => {
    const { traffic, connect } = await rig((_, response) => {
      response.writeProcessing()
      response.end('ok')
    })
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    client.request('GET', '/')
    expect(await client.response()).toMatchObject({ status: 102, headers: {} })
    expect(await client.response()).toMatchObject({ status: 200, headers: { connection: 'close' } })
  })

  test('and a switch of protocols is none of its answers', async () => {
    const { traffic, connect } = await rig((_, response) => response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'h2c' }).end())
    traffic.beginNotifying(AT_ONCE)
    expect((await (await connect()).ask('GET', '/')).headers).toMatchObject({ connection: 'Upgrade' })
  })

  test('also without a body', async () => {
    const { traffic, connect } = await rig((request, response) => {
      response.statusCode = request.method === 'HEAD' ? 200 : 204
      response.end()
    })
    traffic.beginNotifying(AT_ONCE)
    for (const method of ['HEAD', 'DELETE']) {
      const client = await connect()
      expect((await client.ask(method, '/')).headers['connection']).toBe('close')
      expect(await client.closed()).toBe('ended')
    }
  })

  test('also over HTTP/1.0 with keep-alive', async () => {
    const { traffic, connect } = await rig((_, response) =>
      response.writeHead(200, { 'Content-Length': 2, 'Keep-Alive': 'timeout=600' }).end('ok'),
    )
    const client = await connect()
    const ask = () => client.send('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
    ask()
    expect((await client.response()).headers['connection']).toBe('keep-alive')
    traffic.beginNotifying(AT_ONCE)
    ask()
    const { headers } = await client.response()
    expect([headers['connection'], headers['keep-alive']]).toEqual(['close', undefined])
    expect(await client.closed()).toBe('ended')
  })
})

describe('frameworks tell', () => {
  const body = { hello: 'world' }
  const keepAlive = ['Connection', 'keep-alive'] as const

  const frameworks: Record<string, () => Promise<RequestListener>> = {
    'express, and its own keep-alive': async () => {
      const app = express()
      app.get('/', (_request, response) => {
        response.set(...keepAlive).json(body)
      })
      return app
    },
    koa: async () => {
      const app = new Koa()
      app.use((context) => {
        context.set(...keepAlive)
        context.body = body
      })
      return app.callback() as RequestListener
    },
    fastify: async () => {
      const app = Fastify()
      app.get('/', (_request, reply) => reply.header(...keepAlive).send(body))
      await app.ready()
      return app.routing as RequestListener
    },
    hono: async () => {
      const app = new Hono()
      app.get('/', (context) => context.json(body))
      return getRequestListener(app.fetch)
    },
    'hono, later': async () => {
      const app = new Hono()
      app.get('/', async (context) => {
        await turns(1)
        return context.json(body, 200, { Connection: 'keep-alive' })
      })
      return getRequestListener(app.fetch)
    },
  }

  test.each(Object.entries(frameworks))('%s', async (_, make) => {
    const { traffic, connect } = await rig(await make())
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    const answer = await client.ask('GET', '/')
    expect({ ...answer, body: JSON.parse(answer.body) as unknown }).toMatchObject({ status: 200, headers: { connection: 'close' }, body })
    expect(await client.closed()).toBe('ended')
  })
})

describe('with pipelining, only the last response tells', () => {
  test('when requests come in one piece and handlers answer at once', async () => {
    const { traffic, connect } = await rig((request, response) => void response.end(request.url))
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    client.send(['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
    const answers = [await client.response(), await client.response(), await client.response()]
    expect(answers.map(({ body, headers }) => [body, headers['connection']])).toEqual([
      ['/1', 'keep-alive'],
      ['/2', 'keep-alive'],
      ['/3', 'close'],
    ])
    expect(await client.closed()).toBe('ended')
  })

  test('when one with a body stands between them', async () => {
    const { traffic, connect } = await rig((request, response) => void response.end(request.url))
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    client.send('POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: a\r\n\r\n')
    expect((await client.response()).headers['connection']).toBe('keep-alive')
    expect((await client.response()).headers['connection']).toBe('close')
  })

  test('when the later request comes while the earlier one is being worked on, whichever is answered first', async () => {
    const responses = new Map<string, ServerResponse>()
    const { traffic, connect } = await rig((request, response) => void responses.set(request.url as string, response))
    const client = await connect()
    client.request('GET', '/1')
    await expect.poll(() => responses.size).toBe(1)
    traffic.beginNotifying(AT_ONCE)
    client.request('GET', '/2')
    await expect.poll(() => responses.size).toBe(2)
    responses.get('/2')?.end('second')
    responses.get('/1')?.end('first')
    expect(await client.response()).toMatchObject({ body: 'first', headers: { connection: 'keep-alive' } })
    expect(await client.response()).toMatchObject({ body: 'second', headers: { connection: 'close' } })
  })

  test('and a request that comes after it has told is not handled: its client must ask elsewhere', async () => {
    const handled: string[] = []
    const latch = new Latch()
    const { traffic, connect } = await rig(async (request, response) => {
      handled.push(request.url as string)
      response.write('part ')
      await latch.promise
      response.end('rest')
    })
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    client.request('GET', '/1')
    await client.until('the head', () => client.received.includes('part'))
    client.request('GET', '/2')
    client.request('GET', '/3', { headers: { Connection: 'Upgrade', Upgrade: 'x' } })
    await expect.poll(() => traffic.counts().rejected.late).toBe(2)
    latch.resolve()
    expect(await client.response()).toMatchObject({ body: 'part rest', headers: { connection: 'close' } })
    expect(await client.closed()).toBe('ended')
    expect(client.received).toBe('')
    expect(handled).toEqual(['/1'])
    await expect.poll(() => traffic.counts().requests).toBe(0)
  })

  test('and an upgrade that comes after it has told may break without harm', async () => {
    const { server, traffic, connect } = await rig((_request, response) => void response.write('part'))
    server.on('upgrade', () => undefined)
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    client.request('GET', '/1')
    await client.until('the head', () => client.received.includes('part'))
    client.request('GET', '/2', { headers: { Connection: 'Upgrade', Upgrade: 'x' } })
    await expect.poll(() => traffic.counts().rejected.late).toBe(1)
    client.socket.resetAndDestroy()
    await traffic.connectionsClosed()
    expect(traffic.counts().requests).toBe(0)
  })
})

describe('a response whose head was out before', () => {
  test('stays keep-alive, and the next one on its connection tells for certain', async () => {
    const clock = new VirtualClock()
    const latch = new Latch()
    const { traffic, connect } = await rig(
      async (request, response) => {
        response.write('part ')
        if (request.url === '/watch') await latch.promise
        response.end('rest')
      },
      { clock, random: () => 0.999 },
    )
    const client = await connect()
    client.request('GET', '/watch')
    await client.until('the head', () => client.received.includes('part'))
    traffic.beginNotifying({ how: 'gradual', delayMs: 10_000 })
    await clock.advance(10)
    latch.resolve()
    expect(await client.response()).toMatchObject({ body: 'part rest', headers: { connection: 'keep-alive' } })
    expect(client.state).toBe('open')
    const other = await connect()
    expect((await other.ask('GET', '/')).headers['connection']).toBe('keep-alive')
    expect((await client.ask('GET', '/')).headers['connection']).toBe('close')
  })

  test('stays keep-alive before the delay is over, where only the delay ends the telling of none', async () => {
    const latch = new Latch()
    const { traffic, connect } = await rig(async (request, response) => {
      response.write('part ')
      if (request.url === '/watch') await latch.promise
      response.end('rest')
    })
    const client = await connect()
    client.request('GET', '/watch')
    await client.until('the head', () => client.received.includes('part'))
    traffic.beginNotifying({ how: 'after-delay', delayMs: 10_000 })
    latch.resolve()
    await client.response()
    expect((await client.ask('GET', '/')).headers['connection']).toBe('keep-alive')
    traffic.completeNotifying()
    expect((await client.ask('GET', '/')).headers['connection']).toBe('close')
  })
})

describe('a told connection', () => {
  test('lets a client finish its upload that was answered early', async () => {
    const { traffic, connect } = await rig((_request, response) => void response.writeHead(401).end('who are you?'))
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    client.socket.pause()
    client.request('PUT', '/', { body: Buffer.alloc(5_000_000) })
    if (client.socket.writableLength > 0) await once(client.socket, 'drain')
    await turns(10)
    client.socket.resume()
    expect(await client.response()).toMatchObject({ status: 401, body: 'who are you?', headers: { connection: 'close' } })
    expect(await client.closed()).toBe('ended')
  })

  test('is closed for good a second later when its client does not close', async () => {
    const clock = new VirtualClock()
    const { traffic, connect } = await rig(ok, { clock })
    traffic.initiateShutdown()
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    client.socket.removeAllListeners('end')
    await client.ask('GET', '/')
    await expect.poll(() => clock.pending).toBe(1)
    expect(traffic.counts().connections).toMatchObject({ open: 1, notified: 1, idle: 1 })
    await clock.advance(999)
    expect(traffic.counts().connections.open).toBe(1)
    await clock.advance(1)
    await traffic.connectionsClosed()
    expect(traffic.snapshot.connectionFates()).toMatchObject({ notified: 1, forced: 0 })
    expect(clock.pending).toBe(0)
  })

  test('without anything outstanding is told, not forced, when it is destroyed', async () => {
    const { traffic, connect } = await rig(ok)
    traffic.initiateShutdown()
    traffic.beginNotifying(AT_ONCE)
    const client = await connect()
    client.socket.removeAllListeners('end')
    await client.ask('GET', '/')
    await expect.poll(() => traffic.counts().connections).toMatchObject({ open: 1, notified: 1, idle: 1 })
    expect(traffic.destroyConnections()).toEqual({ forced: [], lost: 0 })
    expect(traffic.snapshot.connectionFates()).toMatchObject({ notified: 1, forced: 0 })
  })
})

test('a head that cannot be written is not a told one', async () => {
  const { traffic, connect } = await rig((request, response) => {
    if (request.url === '/bad') response.writeHead(200, { 'X-Bad': 'a\nb' })
    response.end('ok')
  })
  traffic.beginNotifying(AT_ONCE)
  const client = await connect()
  expect(await client.ask('GET', '/bad')).toMatchObject({ status: 500, headers: { connection: 'close' } })
})

test('a connection whose head could not be written, and that is broken off then, does not count as told', async () => {
  const { traffic, connect } = await rig((request, response) => {
    try {
      response.writeHead(200, { 'X-Bad': 'a\nb' })
    } catch {
      request.socket.destroy()
    }
  })
  traffic.initiateShutdown()
  traffic.beginNotifying(AT_ONCE)
  const client = await connect()
  client.request('GET', '/')
  await client.closed()
  await traffic.connectionsClosed()
  expect(traffic.snapshot.connectionFates()).toMatchObject({ notified: 0 })
})
