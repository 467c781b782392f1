import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { connectTo } from '../support/raw-client.ts'
import { Gate } from './stage.ts'
import { attachedSubjects, fired, type Served, type Subject, subjects } from './subjects.ts'

/**
 * What is still open after this long was not closed because of the stop: keep-alive connections
 * live for 5 s and more.
 */
const PROMPTLY_MS = 1000

/** Resolves when node has read the head of a request for this path, whatever becomes of it then. */
function arrivedAtNode(path: string): Promise<void> {
  const name = 'http.server.request.start'
  return new Promise((resolve) => {
    const onStart = (message: unknown): void => {
      if ((message as { request: IncomingMessage }).request.url !== path) return
      unsubscribe(name, onStart)
      resolve()
    }
    subscribe(name, onStart)
  })
}

/**
 * A server that has been told to stop and goes on serving until the test lets it go: a pre-shutdown
 * hook holds it.
 */
async function serveStopping(serve: Subject['serve'], options: Parameters<Subject['serve']>[0] = {}) {
  const served = await serve({ notifyClients: 'gradual', ...options })
  const hook = new Gate()
  served.life.addPreShutdownHook('wait-for-test', () => hook.pass())
  return {
    ...served,
    /** Resolves to the report; the server still serves when this has returned. */
    stop: async (): Promise<{ stopped: ReturnType<Served['life']['stop']>; letGo: () => Promise<unknown> }> => {
      const stopped = served.life.stop('told by the test')
      await fired(served.life, 'ShutdownInitiated')
      await hook.reached
      return {
        stopped,
        letGo: () => {
          hook.open()
          return fired(served.life, 'NotAcceptingNewRequest')
        },
      }
    },
  }
}

describe.each(subjects)('$name', ({ serve }) => {
  test('finishes a request that is under way, says that the connection closes, and closes it', async () => {
    const { port, life, stage } = await serve()
    const client = await connectTo(port)
    client.request('GET', '/slow')
    await stage.slow.reached
    const stopped = life.stop()
    await fired(life, 'HTTPServerStoppedListening')
    expect(client.received).toBe('')
    stage.slow.open()
    const response = await client.response()
    const answeredAt = performance.now()
    expect(response).toMatchObject({ status: 200, body: 'done\n', headers: { connection: 'close' } })
    expect(await client.closed()).toBe('ended')
    expect(performance.now() - answeredAt).toBeLessThan(PROMPTLY_MS)
    expect(await stopped).toMatchObject({
      exitCode: 0,
      requests: { before: 1, after: 0, cut: [] },
      connections: { notified: 1, forced: 0 },
      errors: [],
    })
    await expect(connectTo(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('finishes a stream whose head is out, to its last chunk', async () => {
    const { port, life, stage } = await serve()
    const client = await connectTo(port)
    client.request('GET', '/stream')
    await client.until('the first chunk', () => client.received.includes('one\n'))
    const stopped = life.stop()
    await fired(life, 'HTTPServerStoppedListening')
    stage.stream.open()
    expect(await client.response()).toMatchObject({ status: 200, body: 'one\ntwo\n', framing: 'chunked' })
    expect(await client.closed()).toBe('ended')
    expect(await stopped).toMatchObject({ exitCode: 0, requests: { after: 0 }, connections: { forced: 0 } })
  })

  test('takes the rest of a body that is arriving', async () => {
    const { port, life } = await serve()
    const client = await connectTo(port)
    const body = Buffer.alloc(2 ** 20, 'x')
    const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': String(body.length), Expect: '100-continue' }
    client.request('POST', '/upload', { headers })
    expect(await client.response()).toMatchObject({ status: 100 })
    client.send(body.subarray(0, 1000))
    const stopped = life.stop()
    await fired(life, 'HTTPServerStoppedListening')
    client.send(body.subarray(1000))
    expect(await client.response()).toMatchObject({ status: 200, body: `${body.length}\n`, headers: { connection: 'close' } })
    expect(await stopped).toMatchObject({ exitCode: 0, requests: { after: 0 } })
  })

  test('closes idle connections, and those that never had a request', async () => {
    const { port, life } = await serve()
    const [used, unused] = [await connectTo(port), await connectTo(port)]
    await used.ask('GET', '/hello')
    const stopped = life.stop()
    expect(await used.closed()).toBe('ended')
    expect(await unused.closed()).toBe('ended')
    expect(await stopped).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 2, notified: 0, forced: 0 } })
  })

  test('tells a keep-alive client to leave while the server still accepts', async () => {
    const { port, life, stop } = await serveStopping(serve)
    const [first, second] = [await connectTo(port), await connectTo(port)]
    await first.ask('GET', '/hello')
    const { stopped, letGo } = await stop()
    expect(await first.ask('GET', '/hello')).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(await first.closed()).toBe('ended')
    expect(await second.ask('GET', '/hello')).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(life.signal('NotAcceptingNewRequest').aborted).toBe(false)
    await letGo()
    expect(await stopped).toMatchObject({ exitCode: 0, connections: { notified: 2, idleUnnotified: 0 } })
  })

  test('is alive and not ready while it stops', async () => {
    const { port, stop } = await serveStopping(serve, { health: true })
    const { stopped, letGo } = await stop()
    expect(await (await connectTo(port)).ask('GET', '/livez')).toMatchObject({ status: 200 })
    expect(await (await connectTo(port)).ask('GET', '/readyz')).toMatchObject({ status: 500 })
    await letGo()
    expect(await stopped).toMatchObject({ exitCode: 0 })
  })

  test.each([
    ['an event stream, whatever its client accepts', '/watch'],
    ['what its handler marks', '/marked'],
    ['what the option longRunning says', '/endless'],
  ])('ends a watch with its last chunk: %s', async (_, path) => {
    const { port, life } = await serve()
    const client = await connectTo(port)
    client.request('GET', path)
    await client.until('the first chunk', () => client.received.includes('begun'))
    const stopped = life.stop()
    expect(await client.response()).toMatchObject({ status: 200, body: 'data: begun\n\ndata: last\n\n', framing: 'chunked' })
    expect(await client.closed()).toBe('ended')
    expect(await stopped).toMatchObject({ exitCode: 0, watches: { before: 1, after: 0, cut: [] }, requests: { before: 0 } })
  })

  test('answers 503 to a request that comes too late on a live connection', async () => {
    const { port, life, stage } = await serve()
    const [late, slow] = [await connectTo(port), await connectTo(port)]
    late.send('GET /hello HTTP/1.1\r\nHost: localhost\r\n')
    slow.request('GET', '/slow')
    await stage.slow.reached
    const stopped = life.stop()
    await fired(life, 'HTTPServerStoppedListening')
    late.send('\r\n')
    const refused = await late.response()
    expect(refused).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1', connection: 'close', 'content-type': 'text/plain; charset=utf-8' },
    })
    expect(refused.body).toBe('The server is shutting down, please try again later.\n')
    expect(await late.closed()).toBe('ended')
    stage.slow.open()
    expect(await slow.response()).toMatchObject({ status: 200 })
    expect(await stopped).toMatchObject({ exitCode: 0, rejections: { 'not-accepting': 1 }, connections: { notified: 2 } })
    expect(stage.begun).toEqual({ '/slow': 1 })
  })

  test('tells on the last of several answers that are due, not before', async () => {
    const { port, life, stage } = await serve()
    const client = await connectTo(port)
    client.request('GET', '/slow')
    await stage.slow.reached
    const stopped = life.stop()
    await fired(life, 'HTTPServerStoppedListening')
    client.request('GET', '/hello')
    await arrivedAtNode('/hello')
    stage.slow.open()
    const first = await client.response()
    expect(first).toMatchObject({ status: 200, body: 'done\n' })
    expect(first.headers['connection']).not.toBe('close')
    expect(await client.response()).toMatchObject({ status: 503, headers: { connection: 'close' } })
    expect(await client.closed()).toBe('ended')
    expect(await stopped).toMatchObject({ exitCode: 0, connections: { notified: 1 } })
  })

  test('in retry-after mode, answers 429 on new connections until everything has drained', async () => {
    const { port, life, stage } = await serve({ whileDraining: 'retry-after' })
    const client = await connectTo(port)
    client.request('GET', '/slow')
    await stage.slow.reached
    const stopped = life.stop()
    await fired(life, 'NotAcceptingNewRequest')
    const refused = await connectTo(port)
    expect(await refused.ask('GET', '/hello')).toMatchObject({
      status: 429,
      headers: { 'retry-after': '5', connection: 'close', 'content-type': 'text/plain; charset=utf-8' },
      body: 'The server is shutting down, please try again later.\n',
    })
    expect(await refused.closed()).toBe('ended')
    stage.slow.open()
    expect(await client.response()).toMatchObject({ status: 200, body: 'done\n', headers: { connection: 'close' } })
    expect(await stopped).toMatchObject({ exitCode: 0, rejections: { 'retry-after': 1 }, requests: { after: 0 } })
    expect(stage.begun).toEqual({ '/slow': 1 })
  })

  test('refuses a client that waits for "100 Continue" without saying it', async () => {
    const { port, life, stage } = await serve({ whileDraining: 'retry-after' })
    const slow = await connectTo(port)
    slow.request('GET', '/slow')
    await stage.slow.reached
    const stopped = life.stop()
    await fired(life, 'NotAcceptingNewRequest')
    const client = await connectTo(port)
    client.request('POST', '/upload', { headers: { 'Content-Length': '5', Expect: '100-continue' } })
    expect(await client.response()).toMatchObject({ status: 429, headers: { connection: 'close' } })
    client.end()
    stage.slow.open()
    expect(await stopped).toMatchObject({ exitCode: 0 })
  })
})

describe.each(attachedSubjects)('$name', ({ serve }) => {
  test('counts an upgraded connection as a watch, and ends it in its turn when no bytes move', async () => {
    const { port, life } = await serve({ watchGrace: '10s' })
    const client = await connectTo(port)
    client.request('GET', '/echo', { headers: { Connection: 'Upgrade', Upgrade: 'echo' } })
    expect(await client.response()).toMatchObject({ status: 101 })
    const stopped = life.stop()
    expect(await client.closed()).toBe('ended')
    expect(await stopped).toMatchObject({
      exitCode: 0,
      watches: { before: 1, after: 0, cut: [] },
      connections: { forced: 0, forcedNames: [], idleUnnotified: 1 },
    })
  })

  test("makes its framework's own way to close a stop", async () => {
    const { port, life, stage, close } = await serve()
    const client = await connectTo(port)
    client.request('GET', '/slow')
    await stage.slow.reached
    const closed = close()
    await fired(life, 'HTTPServerStoppedListening')
    stage.slow.open()
    expect(await client.response()).toMatchObject({ status: 200, body: 'done\n', headers: { connection: 'close' } })
    await closed
    expect(await life.stop()).toMatchObject({ exitCode: 0, reason: { kind: 'server-closed' }, requests: { before: 1, after: 0 } })
  })

  test('is closed already when its framework is destroyed with the rest, which is no error', async () => {
    const { port, life, close } = await serve()
    life.addDestroy('framework', () => close())
    const client = await connectTo(port)
    await client.ask('GET', '/hello')
    expect(await life.stop()).toMatchObject({ exitCode: 0, errors: [], hooks: [{ name: 'framework', outcome: 'ok' }] })
    expect(await client.closed()).toBe('ended')
  })
})
