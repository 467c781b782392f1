import { describe, expect, test } from 'vitest'
import type { Straggler } from '#src/index.ts'
import { type ServerPlan, startServer } from '../support/process.ts'
import type { RawClient } from '../support/raw-client.ts'

/**
 * What becomes of the traffic of a process that is told to end, as its clients and its exit code
 * tell. Node without quiesce dies of the signal in the middle of everything.
 */

/** Far above what a step takes on a loaded machine, far below the deadlines of these lives. */
const PROMPT_MS = 10_000
const DEADLINE = '40s'

describe.each(['refuse', 'retry-after'] as const)('%s:', (whileDraining) => {
  test.each([false, true])(
    'a request under way is answered with Connection: close, and then the process ends (attached: %s)',
    async (attached) => {
      const program = startServer({ attached, options: { whileDraining, deadline: DEADLINE } })
      const client = await program.connect()
      const first = await client.ask('GET', '/hello')
      expect(first).toMatchObject({ status: 200, body: 'hello' })
      expect(first.headers['connection']).toBe('keep-alive')

      client.request('GET', '/under-way?ms=500')
      await program.said('arrived GET /under-way')
      program.signal('SIGTERM')
      const response = await client.response()
      const answeredAt = performance.now()
      expect(response).toMatchObject({ status: 200, body: 'done', headers: { connection: 'close' } })
      expect(await client.closed()).toBe('ended')

      const { code, at } = await program.ended()
      expect(code).toBe(0)
      expect(at - answeredAt).toBeLessThan(PROMPT_MS)
      expect(program.report()).toMatchObject({
        exitCode: 0,
        reason: { kind: 'os-signal', signal: 'SIGTERM' },
        requests: { before: 1, after: 0, cut: [] },
        connections: { notified: 1, idleUnnotified: 0, ended: 0, forced: 0, forcedNames: [] },
        errors: [],
      })
    },
  )
})

describe('a connection that nobody ends', () => {
  const named = (client: RawClient, request = ''): Straggler => ({
    name: `127.0.0.1:${client.socket.localPort}${request}`,
    ageMs: expect.any(Number),
  })

  test('and that was never used is closed with the listener', async () => {
    const program = startServer({ options: { deadline: DEADLINE, connectionTimeout: DEADLINE } })
    const client = await program.connect()
    // A request on another connection has been through the server's loop, and so has the first
    // connection.
    await (await program.connect()).ask('GET', '/hello')
    const toldAt = program.signal('SIGTERM')
    expect(await client.closed()).toBe('ended')
    const { code, at } = await program.ended()
    expect(code).toBe(0)
    expect(at - toldAt).toBeLessThan(PROMPT_MS)
    expect(program.report().connections).toMatchObject({ notified: 0, idleUnnotified: 2, ended: 0, forced: 0, forcedNames: [] })
  })

  const HALF_HEAD = 'GET /slow HTTP/1.1\r\nHost: localhost\r\n'

  describe('in the middle of a request’s head', () => {
    test.each(['3s', DEADLINE])('is soon given up, which is no failure, with a deadline of %s', async (deadline) => {
      const program = startServer({ options: { deadline, connectionTimeout: DEADLINE } })
      const client = await program.connect()
      client.send(HALF_HEAD)
      // It has arrived with everything that was sent before this answer came.
      await (await program.connect()).ask('GET', '/hello')
      const toldAt = program.signal('SIGTERM')
      expect(await client.closed()).toBe('ended')
      const { code, at } = await program.ended()
      expect(code).toBe(0)
      expect(at - toldAt).toBeLessThan(PROMPT_MS)
      expect(program.report().connections).toMatchObject({ notified: 0, idleUnnotified: 2, ended: 0, forced: 0, forcedNames: [] })
    })

    test('of a second request is told with the answer to the first', async () => {
      const program = startServer({ options: { deadline: DEADLINE, connectionTimeout: DEADLINE } })
      const client = await program.connect()
      client.send(`GET /under-way?ms=500 HTTP/1.1\r\nHost: localhost\r\n\r\n${HALF_HEAD}`)
      await program.said('arrived GET /under-way')
      program.signal('SIGTERM')
      expect(await client.response()).toMatchObject({ body: 'done', headers: { connection: 'close' } })
      const toldAt = performance.now()
      expect(await client.closed()).toBe('ended')
      const { code, at } = await program.ended()
      expect(code).toBe(0)
      expect(at - toldAt).toBeLessThan(PROMPT_MS)
      expect(program.report().connections).toMatchObject({ notified: 1, forced: 0 })
    })
  })

  test('with half a body is a request that the deadline cuts', async () => {
    const program = startServer({ options: { deadline: '1500ms' } })
    const client = await program.requested('POST', '/upload', { headers: { 'Content-Length': '10' } })
    client.send('half')
    const straggler = named(client, ' POST /upload')
    const toldAt = program.signal('SIGTERM')
    await expect(client.response()).rejects.toThrow('the connection is over')
    const { code, at } = await program.ended()
    expect(code).toBe(5)
    expect(at - toldAt).toBeLessThan(PROMPT_MS)
    expect(program.report()).toMatchObject({
      exitCode: 5,
      requests: { before: 1, after: 1, cut: [{ name: 'POST /upload' }] },
      connections: { forced: 1, forcedNames: [straggler] },
    })
  })

  test('whose client does not read its response is a request that the deadline cuts', async () => {
    const program = startServer({ options: { deadline: '1500ms' } })
    const client = await program.connect()
    client.socket.pause()
    client.request('GET', '/large')
    await program.said('arrived GET /large')
    const straggler = named(client, ' GET /large')
    program.signal('SIGTERM')
    const { code } = await program.ended()
    expect(code).toBe(5)
    expect(program.report()).toMatchObject({
      requests: { before: 1, after: 1, cut: [{ name: 'GET /large' }] },
      connections: { forced: 1, forcedNames: [straggler] },
    })
    client.socket.resume()
    await expect(client.response()).rejects.toThrow('the connection is over')
  })
})

describe('a deadline', () => {
  const ends = (deadline: string): ServerPlan => ({
    options: { deadline, hookTimeout: DEADLINE, watchGrace: '200ms', connectionTimeout: DEADLINE },
    hold: 'import',
    hooks: [
      { kind: 'post-start', name: 'informer', does: 'hangs' },
      { kind: 'pre-shutdown', name: 'leave', does: 'hangs' },
      { kind: 'pre-shutdown', name: 'flush', does: 'ends' },
      { kind: 'destroy', name: 'pool', does: 'hangs' },
      { kind: 'destroy', name: 'cache', does: 'ends' },
    ],
  })

  test('ends a process in which everything hangs, and names all of it', async () => {
    const program = startServer(ends('3s'))
    await program.requested('GET', '/hang')
    await program.requested('GET', '/stubborn-watch')
    const answered = await program.connect()
    expect(await answered.ask('GET', '/outlive')).toMatchObject({ body: 'answered' })
    await answered.ask('GET', '/hello')

    const toldAt = program.signal('SIGTERM')
    const { code, at } = await program.ended()
    expect(code).toBe(5)
    expect(at - toldAt).toBeLessThan(PROMPT_MS)

    const report = program.report()
    expect(report).toMatchObject({
      exitCode: 5,
      requests: { before: 2, after: 2 },
      watches: { before: 1, after: 1, cut: [{ name: 'GET /stubborn-watch' }] },
    })
    expect(report.requests.cut.map(({ name }) => name).sort()).toEqual(['GET /hang', 'import'])
    expect(report.handlers.map(({ name }) => name).sort()).toEqual(['GET /hang', 'GET /outlive'])
    expect(report.connections.forcedNames.map(({ name }) => name.replace(/^127\.0\.0\.1:\d+ ?/, '')).sort()).toEqual([
      'GET /hang',
      'GET /stubborn-watch',
    ])
    expect(Object.fromEntries(report.hooks.map(({ name, outcome }) => [name, outcome]))).toEqual({
      informer: 'cut',
      leave: 'cut',
      flush: 'skipped',
      pool: 'cut',
      cache: 'cut',
    })
    // Destroy functions are called in any case, also when there is no time left to wait for them.
    expect(program.lines).toContain('began cache')
    expect(report.phases.filter(({ outcome }) => outcome === 'cut').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['pre-shutdown-hooks', 'request-drain', 'close-connections', 'handlers', 'destroy']),
    )
  })

  test('costs no phase its turn when a hook blocks the event loop for longer than it', async () => {
    const program = startServer({
      options: { deadline: '5s' },
      hooks: [
        { kind: 'pre-shutdown', name: 'leave', does: 'blocks', ms: 5_500 },
        { kind: 'destroy', name: 'pool', does: 'ends', ms: 100 },
      ],
    })
    const client = await program.requested('GET', '/under-way?ms=100')
    program.signal('SIGTERM')
    expect(await client.response()).toMatchObject({ body: 'done', headers: { connection: 'close' } })
    // Everything was due at once then, and done in order: nothing was left to cut.
    expect((await program.ended()).code).toBe(0)
    const { hooks } = program.report()
    expect(hooks[0]?.durationMs).toBeGreaterThan(5_490)
    expect(hooks).toMatchObject([
      { name: 'leave', outcome: 'ok' },
      { name: 'pool', outcome: 'ok' },
    ])
  })
})
