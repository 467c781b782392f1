// Graceful termination in retry-after mode, row by row of upstream's contract (RA), as clients and
// operators see it.
//
// Each group fails under the faults beside it; all of them were tried:
//   RA-01      those of GT-01..07, in graceful-termination.test.ts
//   RA-02, 03  the listener closes before everything has drained; late requests are served, or
//              reset
//   RA-06, 07  the listener does not wait for the drain; the drain forgets the watches
//   RA-08      the stop signal of the audit backend never comes; destroy functions do not wait for
//              it
//   RA-09      health and metrics paths are not exempt, or whatever begins like them is
//   RA-10, 12  a User-Agent exempts, or any token, or nothing; the watch drain lets in what is
//              exempt
//   RA-11      the watch drain refuses first
//   RA-13..15  the connection timeout is the request timeout, or bounds nothing; it is not logged
//   RA-17      no client is told to leave
//
// Not claimed here: RA-16 is HTTP/2 (test/sockets); RA-04, RA-05 and RA-18 promise something about
// the audit log (test/apiserver/audit/shutdown.test.ts).
import { describe, expect, test } from 'vitest'
import { systemClock } from '#src/base/clock.ts'
import { loopbackHeaders } from '#src/index.ts'
import type { ServerOptions } from '#src/options/options.ts'
import { connectTo } from '../support/raw-client.ts'
import { row } from '../support/row.ts'
import { POLL, REFUSED } from '../support/upstream-client.ts'
import { DELAY_MS, DONE, ECHO, ECHOED, serveUpstream, type UpstreamServer, WATCH } from '../support/upstream-server.ts'

const RETRY_AFTER: ServerOptions = { whileDraining: 'retry-after' }

/** The 429 of this mode. */
const REJECTION = {
  status: 429,
  headers: {
    connection: 'close',
    'retry-after': '5',
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  },
  body: 'The apiserver is shutting down, please try again later.\n',
}

/** What the watch drain answers. */
const WATCH_REJECTION = {
  status: 503,
  headers: { 'retry-after': '1', 'content-type': 'application/json' },
  body: expect.stringContaining('"message":"apiserver is shutting down"') as string,
}

/** As upstream's filter knows its own client; here it is a name like any other (V4). */
const CLAIMS = { 'User-Agent': 'kube-apiserver/v1.37.0 (linux/amd64) kubernetes/0000000' }

/**
 * Not accepting, with a plain request and a watch in flight, and a kept connection that has not
 * been told to leave.
 */
async function rejecting(options: ServerOptions = {}) {
  const metrics = { '/metrics': metric, '/metrics/slis': metric }
  const server = await serveUpstream({ options: { ...RETRY_AFTER, ...options }, routes: metrics })
  const inFlight = await server.inFlight()
  const kept = await connectTo(server.port)
  expect(await kept.ask('GET', ECHO)).toMatchObject(ECHOED)
  server.stop()
  await server.clock.advance(DELAY_MS)
  server.hook.release()
  await server.fired('NotAcceptingNewRequest')
  return { server, kept, ...inFlight }
}

function metric(_: unknown, response: { end(body: string): unknown }): void {
  response.end('up 1\n')
}

row('RA-01', 'until the delay and the hooks are over the server serves as in plain mode', async () => {
  const server = await serveUpstream({ options: RETRY_AFTER })
  const kept = server.client()
  expect(await kept.get('/readyz')).toMatchObject({ status: 200, body: 'ok' })
  server.stop()
  await server.fired('ShutdownInitiated')
  await expect.poll(async () => (await server.fresh('/readyz')).status, POLL).toBe(500)

  await server.clock.advance(DELAY_MS / 4)
  expect(await kept.get(ECHO)).toMatchObject({ ...ECHOED, isReused: true, headers: { connection: 'keep-alive' } })
  expect(await server.fresh(ECHO)).toMatchObject(ECHOED)
  await server.clock.advance(DELAY_MS / 4)
  expect(await kept.get(ECHO)).toMatchObject({ ...ECHOED, isReused: true, headers: { connection: 'close' } })
  expect(server.hasFired('AfterShutdownDelayDuration')).toBe(false)

  await server.clock.advance(DELAY_MS / 2)
  await server.fired('AfterShutdownDelayDuration')
  expect(await server.fresh(ECHO)).toMatchObject(ECHOED)
  expect([(await server.fresh('/readyz')).status, server.hasFired('PreShutdownHooksStopped')]).toEqual([500, false])
  server.hook.release()
  expect(await server.hookAnswer.promise).toMatchObject({ status: 200, body: 'from-the-hook' })
  await server.fired('PreShutdownHooksStopped')
})

describe('while requests are in flight', () => {
  row('RA-02', 'a new connection is accepted, and its request refused with 429', async () => {
    const { server } = await rejecting()
    const client = await connectTo(server.port)
    expect(await client.ask('GET', ECHO)).toMatchObject(REJECTION)
    expect([server.hasFired('InFlightRequestsDrained'), server.hasFired('HTTPServerStoppedListening')]).toEqual([false, false])
  })

  row('RA-03', 'a request on a kept connection is refused with 429 there, and told to go elsewhere (V6)', async () => {
    const { kept } = await rejecting()
    expect(await kept.ask('GET', ECHO)).toMatchObject(REJECTION)
    // Upstream's HTTP/2 connection would be used again; this one is over, as RA-17 has it.
    expect(await kept.closed()).toBe('ended')
  })

  test('a plain request in flight is answered', async () => {
    const { server, plain } = await rejecting()
    expect(await server.fresh(ECHO)).toMatchObject(REJECTION)
    server.plain.release()
    expect(await plain).toMatchObject(DONE)
  })

  test('a watch in flight is told, and ends with its answer', async () => {
    const { server, watch } = await rejecting()
    expect(await server.fresh(ECHO)).toMatchObject(REJECTION)
    server.watch.release()
    expect(await watch).toMatchObject(DONE)
  })

  row('RA-09', 'health and metrics are answered by their handlers, as often as they are asked', async () => {
    const { server } = await rejecting()
    const statusOf = async (path: string): Promise<number> => (await server.fresh(path)).status
    for (let time = 0; time < 3; time++) {
      expect(await server.fresh('/readyz')).toMatchObject({
        status: 500,
        body: expect.stringContaining('[-]shutdown failed: reason withheld\n') as string,
      })
      for (const path of ['/livez', '/healthz']) expect(await server.fresh(path)).toMatchObject({ status: 200, body: 'ok' })
      for (const path of ['/metrics', '/metrics/slis', '/metrics?name=up']) {
        expect(await server.fresh(path)).toMatchObject({ status: 200, body: 'up 1\n' })
      }
      expect(await Promise.all(['/readyz/ping', '/livez/ping', '/readyz/shutdown', '/livez?verbose'].map(statusOf))).toEqual([
        200, 200, 500, 200,
      ])
    }
    // By exact segment: what only begins like them is refused (V4).
    for (const path of ['/readyzanything', '/metricsx', '/livez-internal', '/v1/readyz'])
      expect(await server.fresh(path)).toMatchObject(REJECTION)
    // None of them holds up the drain.
    expect(await server.endNow()).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 } })
  })

  row('RA-10', 'a User-Agent exempts no client, the token of the server’s own client does (V4)', async () => {
    const { server } = await rejecting()
    expect(await server.fresh(ECHO, CLAIMS)).toMatchObject(REJECTION)
    const [[name, token]] = Object.entries(loopbackHeaders()) as [[string, string]]
    expect(await server.fresh(ECHO, { [name]: token })).toMatchObject(ECHOED)
    expect(await server.fresh(ECHO, { [name]: `${token.slice(0, -1)}?` })).toMatchObject(REJECTION)
  })

  row('RA-11', 'a new watch is refused with 429, not with 503', async () => {
    const { server } = await rejecting()
    for (const headers of [{}, { Accept: 'text/event-stream' }]) expect(await server.fresh(WATCH, headers)).toMatchObject(REJECTION)
  })

  row('RA-12', 'a new watch of the server’s own client is refused by the watch drain (V4)', async () => {
    const { server } = await rejecting()
    expect(await server.fresh(WATCH, loopbackHeaders())).toMatchObject(WATCH_REJECTION)
    expect(await server.fresh(WATCH, CLAIMS)).toMatchObject(REJECTION)
  })

  row('RA-17', 'a refusal says that its connection closes, and it does', async () => {
    const { server } = await rejecting()
    const client = await connectTo(server.port)
    client.request('GET', ECHO, { headers: { Connection: 'keep-alive' } })
    expect((await client.response()).headers['connection']).toBe('close')
    expect(await client.closed()).toBe('ended')
    expect(client.received).toBe('')
  })
})

describe('the end', () => {
  row('RA-06', 'the listener closes when both requests are over, and not before', async () => {
    const { server, plain, watch } = await rejecting()
    server.plain.release()
    expect(await plain).toMatchObject(DONE)
    await server.fired('RequestsDrained')
    expect(await server.fresh(ECHO)).toMatchObject(REJECTION)
    expect([server.hasFired('InFlightRequestsDrained'), server.hasFired('HTTPServerStoppedListening')]).toEqual([false, false])
    server.watch.release()
    expect(await watch).toMatchObject(DONE)
    await server.fired('HTTPServerStoppedListening')
    expect(server.stopSignals.slice(-2)).toEqual(['InFlightRequestsDrained', 'HTTPServerStoppedListening'])
    await expect(server.fresh(ECHO)).rejects.toEqual(REFUSED)
  })

  row('RA-07', 'signals fire in upstream’s order, in real time', async () => {
    const server = await serveUpstream({ clock: systemClock, options: RETRY_AFTER })
    const { plain, watch } = await server.inFlight()
    server.stop()
    await server.fired('AfterShutdownDelayDuration')
    server.hook.release()
    await server.fired('NotAcceptingNewRequest')
    expect(await server.fresh(ECHO)).toMatchObject(REJECTION)
    for (const block of [server.plain, server.watch]) block.release()
    expect(await Promise.all([plain, watch])).toMatchObject([DONE, DONE])
    expect((await server.endNow()).exitCode).toBe(0)
    expect(server.stopSignals).toEqual([
      'ShutdownInitiated',
      'AfterShutdownDelayDuration',
      'PreShutdownHooksStopped',
      'NotAcceptingNewRequest',
      'InFlightRequestsDrained',
      'HTTPServerStoppedListening',
    ])
  })

  row('RA-08', 'the audit backend is stopped and shut down, then Run returns without error', async () => {
    const { server } = await rejecting()
    expect(server.audit.isStopped).toBe(false)
    for (const block of [server.plain, server.watch]) block.release()
    await server.audit.shuttingDown.reached
    // The listener does not wait for it.
    await server.fired('HTTPServerStoppedListening')
    await server.clock.advance(1_000)
    expect([server.audit.isShutDown, server.isDestroyed, server.hasEnded]).toEqual([false, false, false])
    server.audit.shuttingDown.release()
    expect(await server.endNow()).toMatchObject({
      exitCode: 0,
      errors: [],
      requests: { before: 1, after: 0 },
      watches: { before: 1, after: 0 },
    })
    expect([server.audit.isShutDown, server.isDestroyed]).toEqual([true, true])
  })

  /**
   * Drained, with a watch still open because it has no grace; in milliseconds of the life's time,
   * how long its connection lasts.
   */
  async function connectionOutlives(ms: number, options: ServerOptions) {
    const server = await serveUpstream({ hook: false, options: { ...RETRY_AFTER, watchGrace: 0, ...options } })
    const client = await connectTo(server.port)
    client.request('GET', WATCH)
    await server.watch.reached
    server.stop()
    await server.clock.advance(DELAY_MS)
    await server.fired('HTTPServerStoppedListening')
    server.audit.shuttingDown.release()
    await server.clock.advance(ms)
    return { server, client }
  }

  row('RA-13', 'a watch without a grace that stays open is closed and named after 2 s, and Run returns without error (V3)', async () => {
    const { server, client } = await connectionOutlives(1_999, {})
    expect([client.state, server.hasEnded]).toEqual(['open', false])
    await server.clock.advance(1)
    await client.closed()
    expect(client.received).toBe('')
    const report = await server.endNow()
    expect(report).toMatchObject({ exitCode: 0, watches: { before: 1, after: 1 }, connections: { forced: 1 } })
    expect(report.connections.forcedNames[0]?.name).toMatch(/ GET \/apis\/watches\.group\/v1\/namespaces\/foo\/bar$/)
    expect(server.sinceStop('Ended')).toBe(DELAY_MS + 2_000)
  })

  row('RA-15', 'the request timeout does not move those 2 s, in either direction', async () => {
    for (const requestTimeout of ['60s', '1s']) {
      const { server, client } = await connectionOutlives(1_999, { requestTimeout })
      expect(client.state).toBe('open')
      await server.clock.advance(1)
      await client.closed()
      expect((await server.endNow()).exitCode).toBe(0)
    }
  })

  test('a connection timeout that is asked for is used', async () => {
    const { server, client } = await connectionOutlives(4_999, { connectionTimeout: '5s' })
    expect(client.state).toBe('open')
    await server.clock.advance(1)
    await client.closed()
    expect(limitLogged(server)).toMatchObject([{ fields: { shutdownTimeout: '5s' } }])
  })

  row('RA-14', 'the limit is logged at the start, in this mode only', async () => {
    expect(limitLogged(await serveUpstream({ options: { ...RETRY_AFTER, requestTimeout: '60s' } }))).toEqual([
      { level: 'info', message: '[graceful-termination] using HTTP Server shutdown timeout', fields: { shutdownTimeout: '2s' } },
    ])
    expect(limitLogged(await serveUpstream())).toEqual([])
  })
})

const limitLogged = ({ log }: Pick<UpstreamServer, 'log'>) => log.filter(({ message }) => message.includes('HTTP Server shutdown timeout'))
