import type { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type ApiServer, apiExchangeOf, completeConfig, createApiServer, type UserFilter } from '#apiserver/index.ts'
import { respond } from '#src/http/respond.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import type { RawClient } from '../support/raw-client.ts'

const UPGRADE = { Connection: 'Upgrade', Upgrade: 'echo', 'Audit-ID': 'of mine' }

/** Speaks a protocol of its own: what it hears, it says. */
function echo(_request: unknown, socket: Duplex, head: Buffer): void {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  socket.write(head)
  socket.pipe(socket)
}

const setUp = (server: ApiServer): void => {
  server.handleUpgrade('/echo', echo)
  server.handleUpgradePrefix('/below/', echo)
  server.handleUpgrade('/fails', () => {
    throw new Error('a mistake')
  })
  server.handle('/plain', (request, response) => response.end(`plain ${apiExchangeOf(request)?.auditId}`))
}

async function asked(
  served: ServedApi,
  path: string,
  headers: Record<string, string> = {},
): Promise<[RawClient, Awaited<ReturnType<RawClient['response']>>]> {
  const client = await served.connect()
  return [client, await client.ask('GET', path, { headers: { ...UPGRADE, ...headers } })]
}

/** Later than at once, to be refused where filters may take time. */
const doorkeeper = (after?: string): UserFilter => ({
  name: 'doorkeeper',
  ...(after && { after }),
  admit: ({ request, response }) => {
    if (request.headers['x-pass'] === 'yes') return true
    const refuse = (): false => {
      respond(response, { status: 403, headers: { 'Content-Type': 'text/plain' }, body: 'no\n' })
      return false
    }
    return after === undefined ? new Promise((resolve) => setImmediate(() => resolve(refuse()))) : refuse()
  },
})

describe('an upgrade', () => {
  test('is taken over by the handler of its path, and is a watch from then on, without a deadline or a seat', async () => {
    const served = await serveApi({ config: { requestTimeout: '100ms', maxRequestsInFlight: 1 }, setUp })
    for (const path of ['/echo', '/below/here']) {
      const [client, { status, headers }] = await asked(served, path)
      expect([status, headers['upgrade'], headers['audit-id']]).toEqual([101, 'echo', undefined])
      client.send('hello')
      await client.until('an echo', () => client.received === 'hello')
    }
    expect(served.life.counts()).toMatchObject({ requests: 0, watches: 2 })
    expect((await served.ask('/plain')).status).toBe(200)
    // Longer than its time would have been.
    const late = await served.connect()
    expect((await late.ask('GET', '/plain?timeout=1s')).status).toBe(200)
    await expect.poll(() => served.lines.filter(({ fields }) => fields['hijacked'] === true).length).toBe(0)
    const { exitCode } = await served.life.stop()
    expect(exitCode).toBe(0)
    await expect.poll(() => served.lines.filter(({ fields }) => fields['hijacked'] === true).length).toBe(2)
  })

  test.each([
    ['behind the count', undefined],
    ['between the refusals', 'cache-control'],
    ['before them', 'audit-init'],
  ])('that a filter %s refuses is answered on its socket, which its handler never sees', async (_where, after) => {
    const served = await serveApi({ config: { filters: [doorkeeper(after)] }, setUp })
    for (const path of ['/echo', '/plain', '/nothing']) {
      const [client, { status, headers, body }] = await asked(served, path)
      expect([status, body.toString(), headers['audit-id'], headers['connection']]).toEqual([403, 'no\n', 'of mine', 'close'])
      expect(await client.closed()).toBe('ended')
    }
    const [, { status }] = await asked(served, '/echo', { 'X-Pass': 'yes' })
    expect(status).toBe(101)
    await expect.poll(() => served.life.counts().watches).toBe(1)
  })

  test('to a path that takes none is answered like any other request, and then its connection closes', async () => {
    const served = await serveApi({ setUp })
    for (const [path, expected] of [
      ['/plain', [200, 'plain of mine']],
      ['/nothing', [404, '404 page not found\n']],
      ['/readyz', [200, 'ok']],
    ] as const) {
      const [client, { status, headers, body }] = await asked(served, path)
      expect([status, body.toString()]).toEqual(expected)
      expect([headers['connection'], headers['cache-control']]).toEqual(['close', 'no-cache, private'])
      expect(await client.closed()).toBe('ended')
    }
    const [, { status, body }] = await asked(served, '/plain', { 'Content-Length': '4' })
    expect([status, body.toString()]).toEqual([400, 'this path accepts no upgrade, and no body together with one\n'])
    const [, timed] = await asked(served, '/echo?timeout=foo')
    expect(timed.status).toBe(400)
  })

  test('whose handler fails is answered 500', async () => {
    const served = await serveApi({ setUp })
    const [client, { status, body }] = await asked(served, '/fails')
    expect([status, body.toString()]).toEqual([500, 'This request caused apiserver to panic. Look in the logs for details.\n'])
    await client.closed()
  })

  test('is none where no server of the chain takes any: node answers it as a request', async () => {
    const served = await serveApi({ setUp: (server) => server.handle('/plain', (_request, response) => response.end('plain')) })
    const [client, { status, headers }] = await asked(served, '/plain')
    expect([status, headers['connection']]).toEqual([200, 'keep-alive'])
    expect((await client.ask('GET', '/plain')).status).toBe(200)
  })

  test('comes to a delegate, and what that does not take to the whole chain', async () => {
    const config = completeConfig({ port: 0, host: '127.0.0.1' })
    const delegate = createApiServer(config, { name: 'inner' })
    delegate.handleUpgrade('/echo', echo)
    const served = await serveApi({ delegate, setUp: (server) => server.handle('/outer', (_request, response) => response.end('outer')) })
    expect((await asked(served, '/echo'))[1].status).toBe(101)
    expect((await asked(served, '/outer'))[1].body.toString()).toBe('outer')
    expect(() => delegate.handleUpgrade('/late', echo)).toThrow(expect.objectContaining({ code: 'ERR_TOO_LATE' }))
  })

  test('while the server drains is refused with the headers that filters have set', async () => {
    const served = await serveApi({ config: { whileDraining: 'retry-after', deadline: '10m' }, setUp })
    served.life.hold('the test')
    void served.life.stop()
    await expect.poll(() => served.life.signal('NotAcceptingNewRequest').aborted).toBe(true)
    const [client, { status, headers, body }] = await asked(served, '/echo')
    expect([status, body.toString()]).toEqual([429, 'The apiserver is shutting down, please try again later.\n'])
    expect(headers).toMatchObject({ 'audit-id': 'of mine', 'retry-after': '5', connection: 'close' })
    expect(headers).not.toHaveProperty('cache-control')
    expect(await client.closed()).toBe('ended')
  })

  test('over HTTP/2, a CONNECT, is refused', async () => {
    const served = await serveApi({ config: { http2: true }, setUp })
    const client = await served.connectH2()
    const stream = client.stream({ ':method': 'CONNECT', ':authority': 'localhost:1' })
    const status = await new Promise((resolve) => stream.on('response', (headers) => resolve(headers[':status'])))
    expect(status).toBe(501)
    expect((await client.get('/plain')).status).toBe(200)
  })

  test('cannot go around the filters by an option of the engine', () => {
    expect(() => completeConfig({ websocket: { server: {} } } as object)).toThrow(/websocket: unknown/)
  })
})
