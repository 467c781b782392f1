// Fails when: a life in memory behaves otherwise than on sockets, or its kit moves time by itself,
// loses bytes, hides how a connection ended or leaves a life running.
import { createServer, type RequestListener } from 'node:http'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Life } from '#src/lifecycle/life.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { type TestLife, type TestServerOptions, testAttached, testLife, testServer } from '#src/testing/test-life.ts'

const hello: RequestListener = (_, response) => void response.end('hello')

async function served(listener: RequestListener = hello, options: TestServerOptions = {}): Promise<TestLife> {
  const t = await testServer({ listener }, { deadline: '20s', ...options })
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

describe('the options of the kit', () => {
  const none = () => new Response('')

  test.each<[string, object]>([
    ['process of testServer(): got {}, allowed: a FakeProcess', { process: {} }],
    ['process of testServer(): got null, allowed: a FakeProcess', { process: null }],
    ['random of testServer(): got 0.5, allowed: a function', { random: 0.5 }],
    ['run of testServer(): got "no", allowed: true or false', { run: 'no' }],
    ['setUp of testServer(): got true, allowed: a function', { setUp: true }],
    ['clock of testServer(): got 5, allowed: an object', { clock: 5 }],
    ['wall of VirtualClock: got "2026-01-01", allowed: a number', { clock: { wall: '2026-01-01' } }],
    ['wal of VirtualClock: unknown option (did you mean "wall"?)', { clock: { wal: 5 } }],
  ])('that cannot be used are refused: %s', async (message, options) => {
    await expect(testServer(none, options)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID', message })
  })

  test('are refused by testAttached, testLife and FakeProcess as well', async () => {
    await expect(testAttached(createServer(hello), { setUp: 5 } as object)).rejects.toThrow('setUp of testAttached(): got 5')
    await expect(testLife(({ createServer: make }) => make(none), { proces: 5 } as object)).rejects.toThrow(
      'proces of testLife(): unknown option',
    )
    expect(() => new FakeProcess({ terminal: 'yes' } as object)).toThrow('terminal of FakeProcess: got "yes", allowed: true or false')
    expect(() => new FakeProcess({ enviroment: {} } as object)).toThrow('enviroment of FakeProcess: unknown option')
  })

  test('wait for a setUp that is async, before anything begins, and fail as it fails', async () => {
    const order: string[] = []
    const setUp = async (life: Life): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve))
      life.addPostStartHook('seen', () => void order.push('hook'))
      order.push('set up')
    }
    await using server = await testServer(none, { setUp })
    await using attached = await testAttached(createServer(hello), { setUp })
    await Promise.all([server.clock.advance(0), attached.clock.advance(0)])
    expect(order).toEqual(['set up', 'hook', 'set up', 'hook'])
    await expect(testServer(none, { setUp: () => Promise.reject(new Error('no fixture')) })).rejects.toThrow('no fixture')
  })
})

describe('testServer', () => {
  test('serves a fetch handler, tells its clients, ends on SIGTERM and reports, all on virtual time', async () => {
    await using t = await testServer(() => new Response('hello'), { shutdownDelay: '2s', deadline: '20s' })
    const a = await t.connect()
    expect(await a.get('/')).toMatchObject({ status: 200, body: 'hello', hasClose: false })
    t.process.signal('SIGTERM')
    await t.clock.advance('1.5s')
    expect(await a.get('/')).toMatchObject({ status: 200, hasClose: true })
    expect(await a.closed).toBe('ended')
    expect(t.report).toBeUndefined()
    const report = await t.end()
    expect(report).toMatchObject({ exitCode: 0, connections: { notified: 1 } })
    expect(t.process.exitCode).toBe(0)
    expect(t.clock.now()).toBe(2_000)
  })

  test('a request that is under way is waited for, at its own virtual time', async () => {
    const t = await served((_, response) => void t.clock.sleep('3s').then(() => response.end('done')))
    const a = await t.connect()
    const slow = a.request('/slow')
    await t.clock.advance(0)
    t.process.signal('SIGTERM')
    await t.clock.advance('2.9s')
    expect(t.hasFired('RequestsDrained')).toBe(false)
    await t.clock.advance('100ms')
    expect((await slow.response).body).toBe('done')
    expect(t.report).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 } })
  })

  test('a streaming response is seen while it grows', async () => {
    const t = await served((_, response) => {
      response.write('one ')
      void t.clock.sleep('1s').then(() => response.end('two'))
    })
    const a = await t.connect()
    const stream = a.request('/stream')
    expect(await stream.head).toMatchObject({ status: 200, isComplete: false })
    await t.clock.advance(0)
    expect(stream.received).toMatchObject({ body: 'one ', isComplete: false })
    await t.clock.advance('1s')
    expect(await stream.response).toMatchObject({ body: 'one two', isComplete: true })
    expect(stream.received?.body).toBe('one two')
  })

  test('a response that breaks off is an error that says how far it came', async () => {
    const t = await served((request, response) => response.write('half', () => request.socket.destroy()))
    const a = await t.connect()
    const broken = a.request('/broken')
    await expect(broken.response).rejects.toMatchObject({ code: 'ERR_ABORTED', message: expect.stringContaining('4 characters') })
    expect(broken.received).toMatchObject({ status: 200, body: 'half', isComplete: false })
    expect(() => a.request('/next')).toThrowError(expect.objectContaining({ code: 'ERR_ABORTED' }))
  })

  test('half a request, then its rest', async () => {
    const t = await served()
    const a = await t.connect()
    a.send('GET /late HTTP/1.1\r\nHo')
    const late = a.expect('GET', '/late')
    await t.clock.advance('1s')
    expect(late.received).toBeUndefined()
    a.send('st: test\r\n\r\n')
    expect(await late.response).toMatchObject({ status: 200, body: 'hello' })
  })

  test('pipelined requests are answered in order, HEAD and bodies with any framing among them', async () => {
    const t = await served(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      if (request.url === '/chunked') response.write('chunk,')
      response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
    })
    const a = await t.connect()
    const requests = [
      a.request('/chunked'),
      a.request({ method: 'HEAD', path: '/head' }),
      a.request({ method: 'POST', path: '/post', body: 'payload' }),
    ]
    const answers = await Promise.all(requests.map(({ response }) => response))
    expect(answers.map(({ body }) => body)).toEqual(['chunk,GET /chunked ', '', 'POST /post payload'])
    expect(a.outstanding).toEqual([])
  })

  test('more than the window in either direction arrives whole', async () => {
    const size = 300_000
    const t = await served(async (request, response) => {
      let received = 0
      for await (const chunk of request) received += (chunk as Buffer).length
      response.end('x'.repeat(received))
    })
    const a = await t.connect()
    const { body } = await a.request({ method: 'POST', path: '/', body: 'y'.repeat(size) }).response
    expect(body.length).toBe(size)
  })

  test('a client that leaves is noticed by its handler', async () => {
    const gone: string[] = []
    const t = await served((request, response) => void response.on('close', () => gone.push(request.url ?? '')))
    const a = await t.connect()
    a.request('/slow')
    await t.clock.advance(0)
    a.destroy()
    await t.clock.advance(0)
    expect(gone).toEqual(['/slow'])
    expect(a.state).toBe('left')
  })

  test('an idle connection is closed after the keep-alive timeout, in virtual time', async () => {
    const t = await served(hello, { keepAliveTimeout: '5s' })
    const a = await t.connect()
    await a.get('/')
    await t.clock.advance('4s')
    expect(a.state).toBe('open')
    // Node adds a second of its own, so that the client's timeout comes first.
    await t.clock.advance('2s')
    expect(a.state).toBe('ended')
  })

  test('an upgrade gets the bare socket', async () => {
    const t = await testAttached(
      createServer().on('upgrade', (_, socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhi'),
      ),
      { deadline: '20s' },
    )
    onTestFinished(() => t[Symbol.asyncDispose]())
    const a = await t.connect()
    const upgrade = a.request({ path: '/', headers: { Connection: 'Upgrade', Upgrade: 'echo' } })
    expect(await upgrade.response).toMatchObject({ status: 101 })
    expect(a.unread.toString()).toBe('hi')
  })

  test('the admin listener has a port of its own', async () => {
    const t = await served(hello, { port: 80, admin: { port: 81 } })
    const admin = await t.connect(81)
    expect(await admin.get('/readyz')).toMatchObject({ status: 200 })
    expect(await admin.get('/')).toMatchObject({ status: 404 })
  })

  test('a Unix socket', async () => {
    const t = await served(hello, { listeners: [{ path: '/run/app.sock' }] })
    expect(await t.request('/')).toMatchObject({ body: 'hello' })
  })

  test('nobody listens any more after the end', async () => {
    const t = await served()
    const report = await t.stop('enough')
    expect(report.reason).toEqual({ kind: 'stop', reason: 'enough' })
    expect(await t.stop()).toBe(report)
    await expect(t.connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('a second signal ends process, clock and connections', async () => {
    const t = await served(() => undefined)
    const a = await t.connect()
    const slow = a.request('/slow')
    await t.clock.advance(0)
    t.process.signal('SIGTERM')
    await t.clock.advance('1s')
    t.process.signal('SIGTERM')
    await expect(slow.response).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    expect(t.process.exits).toEqual([1])
    expect(t.clock.pending).toBe(0)
    expect(await t.end()).toMatchObject({ exitCode: 1, forced: 'second-signal' })
    expect(() => t.process.signal('SIGTERM')).toThrowError(/the process is over/)
  })

  test('a start that fails is a report, not a rejection', async () => {
    const t = await served(hello, {
      setUp: (server) => void server.addDestroy('pool', () => undefined),
      audit: { run: () => Promise.reject(new Error('no disk')), shutdown: () => undefined },
    })
    expect(await t.end()).toMatchObject({ exitCode: 3, reason: { kind: 'start-failed', phase: 'audit-run' } })
  })

  test('an end that no time brings says what it waits for', async () => {
    const t = await served(hello)
    await expect(t.end()).rejects.toMatchObject({ code: 'ERR_TIMEOUT', message: expect.stringContaining('no timer is left') })
  })

  test('nothing depends on the machine: platform, terminal, log', async () => {
    const t = await served(hello, { platform: 'auto', process: new FakeProcess({ terminal: true }) })
    t.process.signal('SIGINT')
    expect(await t.end()).toMatchObject({ platform: { name: 'unknown' } })
    // The first stop that a person waits for.
    expect(t.events.find((event) => event.type === 'signal' && event.name === 'StopRequested')).toMatchObject({
      reason: { kind: 'os-signal', signal: 'SIGINT' },
    })
    expect(t.log.map(({ message }) => message)).toContain('the server is exiting')
  })
})

describe('testAttached', () => {
  test('a server of Express', async () => {
    const app = express().get('/', (_, response) => void response.send('express'))
    await using t = await testAttached(createServer(app), { deadline: '20s', health: true })
    expect(await t.request('/')).toMatchObject({ status: 200, body: 'express' })
    expect(await t.request('/readyz')).toMatchObject({ status: 200 })
    t.process.signal('SIGTERM')
    expect(await t.end()).toMatchObject({ exitCode: 0 })
  })

  test("the owner's own close() is a stop, and calls back when the last connection is closed", async () => {
    const server = createServer(hello)
    await using t = await testAttached(server, { deadline: '20s' })
    const a = await t.connect()
    await a.get('/')
    const closed = new Promise<unknown>((resolve) => server.close(resolve))
    await t.end()
    expect(await closed).toBeUndefined()
    expect(t.report).toMatchObject({ exitCode: 0, reason: { kind: 'server-closed' } })
    expect(server.listening).toBe(false)
  })

  test('a server that listens on the machine already is refused', async () => {
    const server = createServer(hello).listen(0)
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    await expect(testAttached(server)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
  })
})

describe('testLife', () => {
  test('a start that needs time to pass', async () => {
    const t = await testLife(
      ({ createServer: create, clock }) =>
        create({ listener: hello }, { deadline: '20s', audit: { run: () => clock.sleep('2s'), shutdown: () => undefined } }),
      { run: false },
    )
    onTestFinished(() => t[Symbol.asyncDispose]())
    const running = t.run()
    await t.clock.advance('1s')
    expect(t.hasFired('Serving')).toBe(false)
    await t.clock.advance('1s')
    await running
    expect(await t.request('/')).toMatchObject({ body: 'hello' })
  })

  test('a stop before the start', async () => {
    const t = await testLife(({ createServer: create }) => create({ listener: hello }, { deadline: '20s' }), { run: false })
    expect(await t.stop('never mind')).toMatchObject({ exitCode: 0, listeners: [] })
  })

  test('make() has to make one life', async () => {
    await expect(
      testLife((world) =>
        new (world.constructor as typeof import('#src/testing/test-world.ts').TestWorld)().createServer({ listener: hello }),
      ),
    ).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
    })
  })
})
