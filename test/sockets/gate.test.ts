import { EventEmitter, once } from 'node:events'
import { Agent, request as clientRequest, createServer, type IncomingMessage, Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { newAttachedLife } from '../support/life.ts'
import { rig } from './rig.ts'

const ok = (_request: IncomingMessage, response: ServerResponse): void => {
  response.end('ok')
}

const UPGRADE = { headers: { Connection: 'Upgrade', Upgrade: 'echo' } }

/** Answers an upgrade and echoes. */
function echo(_request: IncomingMessage, socket: Socket): void {
  socket.on('error', () => undefined)
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  socket.pipe(socket)
}

describe('a listener behind the gate', () => {
  test('gets what node gives it: the server as this, and two arguments', async () => {
    const seen: unknown[] = []
    const { server, connect } = await rig(undefined)
    server.on('request', function (this: unknown, ...args: unknown[]) {
      seen.push(this, args.length)
      ;(args[1] as ServerResponse).end()
    })
    const client = await connect()
    await client.ask('GET', '/')
    expect(seen).toEqual([server, 2])
  })

  test('may be added late, run once, and be taken off', async () => {
    const { server, connect } = await rig(undefined)
    const ran: string[] = []
    const always = (): void => void ran.push('always')
    server.on('request', always)
    server.once('request', () => ran.push('once'))
    server.on('request', ok)
    const client = await connect()
    await client.ask('GET', '/1')
    await client.ask('GET', '/2')
    server.off('request', always)
    await client.ask('GET', '/3')
    expect(ran).toEqual(['always', 'once', 'always'])
  })

  test('that throws keeps those after it from running, as with node', async () => {
    const { server, connect } = await rig(() => {
      throw new Error('first')
    })
    let ran = false
    server.on('request', () => {
      ran = true
    })
    const client = await connect()
    expect((await client.ask('GET', '/')).status).toBe(500)
    expect(ran).toBe(false)
  })

  test('does not see events that are not about requests any differently', async () => {
    const { server } = await rig(ok)
    const heard: unknown[][] = []
    server.on('mine', (...args: unknown[]) => heard.push(args))
    expect(server.emit('mine')).toBe(true)
    expect(server.emit('mine', 1, 2, 3, 4, 5)).toBe(true)
    expect(server.emit('without a listener')).toBe(false)
    expect(heard).toEqual([[], [1, 2, 3, 4, 5]])
  })
})

test('trailers of a request and of its answer arrive, and end neither the count nor the connection early', async () => {
  const { traffic, connect, server } = await rig((request, response) => {
    response.writeHead(200, { Trailer: 'Sum' })
    response.write('begun')
    request.resume().on('end', () => {
      response.addTrailers({ Sum: `of ${request.trailers['x-last']}, ${traffic.counts().requests} counted` })
      response.end()
    })
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const { port } = server.address() as AddressInfo
  const ask = (): Promise<readonly [isReused: boolean, trailers: IncomingMessage['trailers']]> =>
    new Promise((resolve, reject) => {
      const asked = clientRequest({ port, host: '127.0.0.1', method: 'POST', agent, headers: { Trailer: 'X-Last' } }, (answer) => {
        answer.on('end', () => resolve([asked.reusedSocket, answer.trailers])).resume()
        // The answer has begun, and the request is at its last chunk only now.
        asked.addTrailers({ 'X-Last': 'mine' })
        asked.end()
      })
      asked.on('error', reject).write('body')
    })
  expect(await ask()).toEqual([false, { sum: 'of mine, 1 counted' }])
  await expect.poll(() => traffic.counts().requests).toBe(0)
  expect(await ask()).toEqual([true, { sum: 'of mine, 1 counted' }])
  const client = await connect()
  client.request('POST', '/', { headers: { 'Transfer-Encoding': 'chunked' } })
  client.send('4\r\nbody\r\n0\r\nX-Last: half')
  await expect.poll(() => traffic.counts().requests).toBe(1)
  client.abort()
  await expect.poll(() => traffic.counts().requests).toBe(0)
})

describe('Expect', () => {
  const EXPECT = { headers: { Expect: '100-continue' }, body: 'abc' }

  test('100-continue without a listener is answered with 100 and then served', async () => {
    const { connect } = await rig((request, response) => {
      request.on('data', (bytes) => response.write(bytes))
      request.on('end', () => response.end())
    })
    const client = await connect()
    client.request('POST', '/', EXPECT)
    expect((await client.response()).status).toBe(100)
    expect(await client.response()).toMatchObject({ status: 200, body: 'abc' })
  })

  test('100-continue goes to a checkContinue listener, which may decline', async () => {
    const { server, connect } = await rig(ok)
    server.on('checkContinue', (_request, response) => response.writeHead(403, { 'Content-Length': 0 }).end())
    const client = await connect()
    client.request('POST', '/', { headers: { Expect: '100-continue', 'Content-Length': '3' } })
    expect(await client.response()).toMatchObject({ status: 403, headers: { connection: 'close' } })
  })

  test('a checkContinue listener that hands its request on is counted once', async () => {
    let counted = -1
    const { server, traffic, connect } = await rig((request, response) => {
      counted = traffic.counts().requests
      request.resume().on('end', () => response.end('done'))
    })
    server.on('checkContinue', (request, response) => {
      response.writeContinue()
      server.emit('request', request, response)
    })
    const client = await connect()
    client.request('POST', '/', EXPECT)
    expect((await client.response()).status).toBe(100)
    expect(await client.response()).toMatchObject({ status: 200, body: 'done' })
    expect(counted).toBe(1)
    await expect.poll(() => traffic.counts().requests).toBe(0)
  })

  test('of something else is 417 without a listener, and goes to checkExpectation with one', async () => {
    const { server, traffic, connect } = await rig(ok)
    const client = await connect()
    expect((await client.ask('GET', '/', { headers: { Expect: 'miracle' } })).status).toBe(417)
    let counted = 0
    server.on('checkExpectation', (_request, response) => {
      counted = traffic.counts().requests
      response.end('a miracle')
    })
    const other = await connect()
    expect((await other.ask('GET', '/', { headers: { Expect: 'miracle' } })).body).toBe('a miracle')
    expect(counted).toBe(1)
  })
})

describe('a request that the program makes up', () => {
  test.each([
    ['with a socket that is none', { socket: new EventEmitter() }],
    ['without a socket', {}],
  ])('%s, is its listeners’ alone: nothing is counted, started or waited for', async (_, made) => {
    const request = { method: 'GET', url: '/', headers: {}, ...made }
    const seen: unknown[] = []
    const server = createServer((...args) => seen.push(args))
    server.on('upgrade', (...args) => seen.push(args))
    const t = newAttachedLife(server, { clock: new VirtualClock() })
    const response = { end: () => undefined }
    expect(server.emit('request', request, response)).toBe(true)
    expect(t.life.counts()).toMatchObject({ requests: 0, connections: { open: 0 } })
    server.listen(0, '127.0.0.1')
    await t.life.start()
    server.emit('request', request, response)
    server.emit('upgrade', request, {}, Buffer.alloc(0))
    expect(seen).toEqual([
      [request, response],
      [request, response],
      [request, {}, Buffer.alloc(0)],
    ])
    expect(t.life.counts()).toMatchObject({ requests: 0, watches: 0, connections: { open: 0 } })
    expect(await t.end()).toMatchObject({ exitCode: 0, connections: { forced: 0 }, errors: [], warnings: [] })
    expect(t.sinceStop('ConnectionsClosed')).toBeLessThan(1_000)
  })
})

describe('an upgrade', () => {
  test('without a listener is an ordinary request', async () => {
    const { connect } = await rig(ok)
    const client = await connect()
    expect(await client.ask('GET', '/', UPGRADE)).toMatchObject({ status: 200, body: 'ok' })
  })

  test('goes to its listener, with what was sent after it, and is a watch until its socket closes', async () => {
    const { server, traffic, connect } = await rig(ok)
    server.on('upgrade', (request, socket: Socket, head: Buffer) => {
      echo(request, socket)
      socket.write(head)
    })
    const client = await connect()
    client.request('GET', '/', UPGRADE)
    client.send('early ')
    expect((await client.response()).status).toBe(101)
    client.send('late')
    await client.until('the echo', () => client.received === 'early late')
    expect(traffic.counts()).toMatchObject({ requests: 0, watches: 1 })
    client.abort()
    await expect.poll(() => traffic.counts()).toMatchObject({ watches: 0, connections: { open: 0 } })
  })

  test('a CONNECT goes to its listener and is a watch', async () => {
    const { server, traffic, connect } = await rig(ok)
    server.on('connect', (_request, socket: Socket) => {
      socket.on('error', () => undefined)
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.on('data', (bytes) => socket.end(bytes))
    })
    const client = await connect()
    client.send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
    await client.until('the answer', () => client.received.startsWith('HTTP/1.1 200'))
    expect(traffic.counts().watches).toBe(1)
    client.send('bye')
    expect(await client.closed()).toBe('ended')
    await expect.poll(() => traffic.counts().watches).toBe(0)
  })
})

describe('taking over', () => {
  test('twice is an error, by whichever traffic', async () => {
    const { server, traffic } = await rig(ok)
    const { traffic: another } = await rig(ok)
    expect(() => traffic.takeOver(server)).toThrow(expect.objectContaining({ code: 'ERR_ALREADY_ATTACHED' }))
    expect(() => another.takeOver(server)).toThrow(expect.objectContaining({ code: 'ERR_ALREADY_ATTACHED' }))
  })

  test('leaves the handlers where they are, and nothing behind when disposed of', async () => {
    const { server, traffic, connect } = await rig(ok, { takenOver: false })
    const names = server.eventNames()
    const gate = traffic.takeOver(server)
    expect(server.listeners('request')).toEqual([ok])
    expect(server.listenerCount('upgrade')).toBe(0)
    gate[Symbol.dispose]()
    gate[Symbol.dispose]()
    expect(Object.hasOwn(server, 'emit')).toBe(false)
    expect(Object.getOwnPropertySymbols(server).map(String)).not.toContain('Symbol(quiesce.gate)')
    expect(server.eventNames()).toEqual(names)
    traffic.stopAccepting()
    const client = await connect()
    expect((await client.ask('GET', '/')).status).toBe(200)
    traffic.takeOver(server)
    expect((await client.ask('GET', '/')).status).toBe(503)
  })

  test('a request under way when disposed of stays counted until it is over', async () => {
    const { server, traffic, connect } = await rig(undefined, { takenOver: false })
    const gate = traffic.takeOver(server)
    let pending: ServerResponse | undefined
    server.on('request', (_request, response) => {
      pending = response
    })
    const client = await connect()
    client.request('GET', '/')
    await expect.poll(() => pending).toBeDefined()
    gate[Symbol.dispose]()
    expect(traffic.counts().requests).toBe(1)
    pending?.end()
    await client.response()
    await expect.poll(() => traffic.counts().requests).toBe(0)
  })

  test('finds a connection that was there before at once, and one with a request under way by its next one', async () => {
    const first = deferred<void>()
    const { server, traffic, connect } = await rig(
      async (request, response) => {
        if (request.url === '/first') await first.promise
        response.end('ok')
      },
      { takenOver: false },
    )
    const [idle, busy] = [await connect(), await connect()]
    await idle.ask('GET', '/')
    const arrived = once(server, 'request')
    busy.request('GET', '/first')
    await arrived
    traffic.takeOver(server)
    expect(traffic.counts().connections).toMatchObject({ open: 1, idle: 1 })
    first.resolve()
    await busy.response()
    await Promise.all([idle.ask('GET', '/'), busy.ask('GET', '/')])
    expect(traffic.counts().connections.open).toBe(2)
  })
})

describe('other code that overrides emit', () => {
  test('on the prototype, as instrumentation does, sees requests that are let in, and its wrapping reaches handlers', async () => {
    const inherited = Object.getOwnPropertyDescriptor(Server.prototype, 'emit')
    const plain = Server.prototype.emit
    onTestFinished(() => {
      if (inherited) Object.defineProperty(Server.prototype, 'emit', inherited)
      else delete (Server.prototype as Partial<Server>).emit
    })
    const log: string[] = []
    Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
      if (event !== 'request') return Reflect.apply(plain, this, [event, ...args])
      log.push('span begins')
      const heard = Reflect.apply(plain, this, [event, ...args])
      log.push('span ends')
      return heard
    } as Server['emit']

    const { traffic, connect, facts } = await rig(async (request, response) => {
      log.push(`handler of ${request.url}`)
      response.end()
      if (request.url === '/reject') throw new Error('late')
    })
    const client = await connect()
    await client.ask('GET', '/a')
    expect(log).toEqual(['span begins', 'handler of /a', 'span ends'])
    await client.ask('GET', '/reject')
    await expect.poll(() => facts).toMatchObject([{ type: 'error', where: 'handler GET /reject' }])
    traffic.stopAccepting()
    log.length = 0
    expect((await client.ask('GET', '/b')).status).toBe(503)
    expect(log).toEqual([])
  })

  test('on the server before us is kept, and gets the server back', async () => {
    const server = createServer(ok)
    const seen: unknown[] = []
    const plain = server.emit
    const theirs = function (this: Server, event: string, ...args: unknown[]): boolean {
      seen.push(event)
      return Reflect.apply(plain, this, [event, ...args])
    } as Server['emit']
    server.emit = theirs
    const { traffic } = await rig(ok, { takenOver: false })
    const gate = traffic.takeOver(server)
    server.emit('mine')
    expect(seen).toContain('mine')
    gate[Symbol.dispose]()
    expect(server.emit).toBe(theirs)
  })

  test('on the server after us keeps working when we leave', async () => {
    const { server, traffic, connect } = await rig(ok, { takenOver: false })
    const gate = traffic.takeOver(server)
    const ours = server.emit
    let requests = 0
    server.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
      if (event === 'request') requests++
      return Reflect.apply(ours, this, [event, ...args])
    } as Server['emit']
    gate[Symbol.dispose]()
    traffic.stopAccepting()
    const client = await connect()
    expect((await client.ask('GET', '/')).status).toBe(200)
    expect(requests).toBe(1)
  })
})
