// Graceful termination in plain mode, row by row of upstream's contract (GT), as clients and
// operators see it: by answers, by connections that are accepted, refused or closed, and by what
// Run returns.
//
// Each group fails under the faults beside it; all of them were tried:
//   GT-01..03  readiness is not tied to ShutdownInitiated, or turns red after the delay
//   GT-04      no client is told to leave, or all at once
//   GT-05..07  NotAcceptingNewRequest waits for the delay alone, or for the hooks alone (GT-18..20
//              as well)
//   GT-08..11  the listener stays open until everything has drained, or takes the connections with
//              it; late requests are served
//   GT-14      the drain forgets the plain requests, or the watches; no watch is told (GT-13 as
//              well)
//   GT-15      the stop signal of the audit backend never comes; destroy functions do not wait for
//              it
//   GT-16      not-accepting waits for one of its two signals only; connections close with the
//              listener
//   GT-17, 23  idle connections are left open
//   GT-20      a second signal does nothing, or the same one sent twice is taken for it
//   GT-21      the connection timeout bounds nothing
//   GT-22, 24  no client is told to leave; late requests are reset; idle connections end without a
//              look at what they sent
//   GT-26, 27  requests are not counted; upgraded connections are in no group
//
// Not claimed here: GT-25 is HTTP/2 (test/sockets); GT-12 and GT-13 promise an Audit-ID and an
// audit event (test/apiserver/audit/shutdown.test.ts).
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#src/base/clock.ts'
import { ProcessExit } from '#src/base/thrown-exit.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { shutdownSignalOf } from '#src/http/shutdown-signal.ts'
import type { LifecycleOptions } from '#src/options/options.ts'
import { leastOf } from '../support/cost.ts'
import { aborted, newAttachedLife } from '../support/life.ts'
import { connectTo } from '../support/raw-client.ts'
import { row } from '../support/row.ts'
import { fresh, POLL, REFUSED } from '../support/upstream-client.ts'
import {
  DELAY_MS,
  DONE,
  ECHO,
  ECHOED,
  GRACE_MS,
  PLAIN,
  Roadblock,
  serveUpstream,
  type UpstreamServer,
  WATCH,
} from '../support/upstream-server.ts'

/** Stopped, its delay over, its hook still standing. */
async function inHook(): Promise<UpstreamServer> {
  const server = await serveUpstream()
  server.stop()
  await server.clock.advance(DELAY_MS)
  await server.fired('AfterShutdownDelayDuration')
  return server
}

/** Stopped, delay and hook over, the plain request and the watch still standing. */
async function notListening() {
  const server = await serveUpstream()
  const inFlight = await server.inFlight()
  server.stop()
  await server.clock.advance(DELAY_MS)
  server.hook.release()
  await server.fired('HTTPServerStoppedListening')
  return { server, ...inFlight }
}

describe('until the delay and the hooks are over', () => {
  row('GT-01', 'a running server is ready', async () => {
    const server = await serveUpstream()
    expect(await server.fresh('/readyz')).toMatchObject({ status: 200, body: 'ok' })
  })

  row(['GT-02', 'GT-03'], 'a stop fires ShutdownInitiated, from which on readiness is red on every connection', async () => {
    const server = await serveUpstream()
    const kept = server.client()
    expect((await kept.get('/readyz')).status).toBe(200)

    server.stop()
    await server.fired('ShutdownInitiated')
    await expect.poll(async () => (await server.fresh('/readyz')).status, POLL).toBe(500)
    // First the delay is not over, then the hook is not.
    for (let ms = 0; ms <= 2 * DELAY_MS; ms += DELAY_MS / 4) {
      expect([(await server.fresh('/readyz')).status, (await kept.get('/readyz')).status]).toEqual([500, 500])
      await server.clock.advance(DELAY_MS / 4)
    }
    expect(server.hasFired('NotAcceptingNewRequest')).toBe(false)
  })

  row('GT-04', 'while the delay lasts a kept connection is served; in its second half it is told to leave (V6)', async () => {
    let luck = 1
    const server = await serveUpstream({ random: () => luck })
    const kept = server.client()
    expect((await kept.get(ECHO)).isReused).toBe(false)
    server.stop()
    await server.fired('ShutdownInitiated')

    // A quarter of the delay: half of the responses tell.
    await server.clock.advance(DELAY_MS / 4)
    luck = 0.51
    expect(await kept.get(ECHO)).toMatchObject({ ...ECHOED, isReused: true, headers: { connection: 'keep-alive' } })
    luck = 0.49
    expect(await kept.get(ECHO)).toMatchObject({ ...ECHOED, isReused: true, headers: { connection: 'close' } })
    // A told client that comes back is served as well.
    luck = 0.51
    expect(await kept.get(ECHO)).toMatchObject({ ...ECHOED, isReused: false, headers: { connection: 'keep-alive' } })

    // Half of the delay: all of them.
    await server.clock.advance(DELAY_MS / 4)
    luck = 0.999_999
    expect(await kept.get(ECHO)).toMatchObject({ ...ECHOED, isReused: true, headers: { connection: 'close' } })
    expect(server.hasFired('AfterShutdownDelayDuration')).toBe(false)
  })

  row('GT-05', 'while the delay lasts a new connection is served', async () => {
    const server = await serveUpstream()
    server.stop()
    await server.fired('ShutdownInitiated')
    await server.clock.advance(DELAY_MS - 1)
    expect(await server.fresh(ECHO)).toMatchObject(ECHOED)
    expect(server.hasFired('AfterShutdownDelayDuration')).toBe(false)
  })

  row('GT-06', 'after the delay a new connection is served as long as a hook runs', async () => {
    const server = await inHook()
    expect(await server.fresh(ECHO)).toMatchObject(ECHOED)
    await server.clock.advance(10 * DELAY_MS)
    expect(await server.fresh(ECHO)).toMatchObject(ECHOED)
  })

  row('GT-07', 'the hook calls the server, and only then PreShutdownHooksStopped fires', async () => {
    const server = await inHook()
    expect(server.hasFired('PreShutdownHooksStopped')).toBe(false)
    server.hook.release()
    expect(await server.hookAnswer.promise).toMatchObject({ status: 200, body: 'from-the-hook' })
    await server.fired('PreShutdownHooksStopped')
  })

  row(['GT-18', 'GT-20'], 'hooks that end before the delay do not shorten it; neither does anything else', async () => {
    const controller = new AbortController()
    const server = await serveUpstream({
      hook: false,
      options: { shutdownDelay: '5s', signal: controller.signal },
      prepare: ({ life, clock }) => life.addPreShutdownHook('takes-1s', () => later(clock, 1_000)),
    })
    server.stop()
    await server.clock.advance(100)
    // The same signal again at once, as parents forward Ctrl-C; and whatever else asks for the end
    // once more.
    server.stop()
    void server.life.stop('again')
    controller.abort()
    await server.clock.advance(900)
    await server.fired('PreShutdownHooksStopped')

    await server.clock.advance(3_999)
    expect(await server.fresh(ECHO)).toMatchObject(ECHOED)
    await server.clock.advance(1)
    await server.fired('HTTPServerStoppedListening')
    await expect(server.fresh(ECHO)).rejects.toEqual(REFUSED)
    expect(server.sinceStop('NotAcceptingNewRequest')).toBe(5_000)
  })

  row('GT-19', 'hooks that take longer than the delay are waited for', async () => {
    const server = await serveUpstream({
      hook: false,
      options: { shutdownDelay: '1s' },
      prepare: ({ life, clock }) => life.addPreShutdownHook('takes-5s', () => later(clock, 5_000)),
    })
    server.stop()
    await server.clock.advance(4_999)
    expect(await server.fresh(ECHO)).toMatchObject(ECHOED)
    await server.clock.advance(1)
    await server.fired('HTTPServerStoppedListening')
    await expect(server.fresh(ECHO)).rejects.toEqual(REFUSED)
    expect(server.sinceStop('AfterShutdownDelayDuration')).toBe(1_000)
    expect(server.sinceStop('PreShutdownHooksStopped')).toBe(5_000)
    expect(server.sinceStop('NotAcceptingNewRequest')).toBe(5_000)
  })

  row('GT-20', 'the second signal of the process is the one thing that ends the delay', async () => {
    const server = await serveUpstream({ hook: false, options: { shutdownDelay: '5s' } })
    server.stop()
    await server.clock.advance(1_000)
    expect(await server.fresh(ECHO)).toMatchObject(ECHOED)
    server.stop()
    await expect(server.ended).rejects.toBeInstanceOf(ProcessExit)
    expect(server.process.exits).toEqual([1])
    await expect(server.fresh(ECHO)).rejects.toEqual(REFUSED)
  })
})

describe('from NotAcceptingNewRequest on', () => {
  row('GT-08', 'the listener closes without waiting for what is in flight', async () => {
    const { server, plain, watch } = await notListening()
    expect(server.stopSignals.slice(-2)).toEqual(['NotAcceptingNewRequest', 'HTTPServerStoppedListening'])
    // Both were in flight indeed, and are waited for all the same.
    for (const block of [server.plain, server.watch]) block.release()
    expect(await Promise.all([plain, watch])).toMatchObject([DONE, DONE])
  })

  row('GT-09', 'a new connection is refused', async () => {
    const { server } = await notListening()
    await expect(connectTo(server.port)).rejects.toEqual(REFUSED)
  })

  row('GT-10', 'a kept connection that asks and asks gets no response any more after a short while', async () => {
    const server = await serveUpstream()
    // Something is in flight, so that nothing is over yet when the connection ends.
    const { plain } = await server.inFlight()
    const kept = await connectTo(server.port)
    expect(await kept.ask('GET', ECHO)).toMatchObject(ECHOED)
    server.stop()
    await server.clock.advance(DELAY_MS)
    server.hook.release()
    await server.fired('NotAcceptingNewRequest')

    await expect
      .poll(() => {
        if (kept.state === 'open') kept.request('GET', '/echo?message=late')
        return kept.state
      }, POLL)
      .not.toBe('open')
    // What slipped into the gap was refused (GT-24).
    expect(kept.received).not.toContain('late')
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
    server.plain.release()
    expect(await plain).toMatchObject(DONE)
  })

  row('GT-11', 'a client that keeps connections cannot come back, neither on its old one nor on a new one', async () => {
    const server = await serveUpstream()
    const { client, plain, watch } = await server.inFlight()
    await client.get(ECHO)
    expect((await client.get(ECHO)).isReused).toBe(true)
    server.stop()
    await server.clock.advance(DELAY_MS)
    server.hook.release()
    await server.fired('NotAcceptingNewRequest')
    // A request that meets the end of the old connection is lost with it; the one after that finds
    // no connection.
    const outcome = () =>
      client.get(ECHO).then(
        ({ status }) => status,
        ({ code }: NodeJS.ErrnoException) => code,
      )
    await expect.poll(outcome, POLL).toBe('ECONNREFUSED')
    await expect(client.get(ECHO)).rejects.toEqual(REFUSED)
    for (const block of [server.plain, server.watch]) block.release()
    expect(await Promise.all([plain, watch])).toMatchObject([DONE, DONE])
  })

  test('a plain request in flight is answered although the listener is closed', async () => {
    const { server, plain } = await notListening()
    await expect(server.fresh(ECHO)).rejects.toEqual(REFUSED)
    server.plain.release()
    expect(await plain).toMatchObject(DONE)
  })

  test('a watch in flight is told, and ends with its answer', async () => {
    const { server, watch } = await notListening()
    // Its handler answers when it has been released and told.
    server.watch.release()
    expect(await watch).toMatchObject(DONE)
  })

  test('a watch that has begun to answer ends with its last chunk, and with nothing before it is told', async () => {
    const notified = new Roadblock()
    const server = await serveUpstream({
      hook: false,
      routes: {
        '/events': async (request, response) => {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' })
          response.write('data: first\n\n')
          await aborted(shutdownSignalOf(request))
          await notified.pass()
          response.end('data: last\n\n')
        },
      },
    })
    const client = await connectTo(server.port)
    client.request('GET', '/events', { headers: { Accept: 'text/event-stream' } })
    await client.until('the first event', () => client.received.includes('data: first'))
    server.stop()
    await server.clock.advance(DELAY_MS - 1)
    expect(await Promise.race([notified.reached, server.fresh(ECHO)])).toMatchObject(ECHOED)
    await server.clock.advance(1)
    await notified.reached
    expect(client.state).toBe('open')
    notified.release()
    expect(await client.response()).toMatchObject({ status: 200, framing: 'chunked', body: 'data: first\n\ndata: last\n\n' })
    expect(await client.closed()).toBe('ended')
  })

  row('GT-14', 'InFlightRequestsDrained fires when both requests are over, and not before', async () => {
    const { server, plain, watch } = await notListening()
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
    server.plain.release()
    expect(await plain).toMatchObject(DONE)
    await server.fired('RequestsDrained')
    await server.clock.advance(GRACE_MS - 1)
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
    server.watch.release()
    expect(await watch).toMatchObject(DONE)
    await server.fired('InFlightRequestsDrained')
  })

  row('GT-14', 'the same with the watch first', async () => {
    const { server, plain, watch } = await notListening()
    server.watch.release()
    expect(await watch).toMatchObject(DONE)
    await server.fired('WatchesDrained')
    await server.clock.advance(10 * GRACE_MS)
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
    server.plain.release()
    expect(await plain).toMatchObject(DONE)
    await server.fired('InFlightRequestsDrained')
  })

  row('GT-15', 'the audit backend is stopped and shut down, then Run returns without error', async () => {
    const { server } = await notListening()
    await server.clock.advance(GRACE_MS / 2)
    expect(server.audit.isStopped).toBe(false)
    for (const block of [server.plain, server.watch]) block.release()
    // Reached only because the signal that its run() was given has been aborted.
    await server.audit.shuttingDown.reached
    expect(server.hasFired('InFlightRequestsDrained')).toBe(true)
    await server.clock.advance(1_000)
    expect([server.audit.isShutDown, server.isDestroyed, server.hasEnded]).toEqual([false, false, false])

    server.audit.shuttingDown.release()
    const report = await server.endNow()
    expect([server.audit.isShutDown, server.isDestroyed]).toEqual([true, true])
    expect(report).toMatchObject({ exitCode: 0, errors: [], requests: { before: 1, after: 0 }, watches: { before: 1, after: 0 } })
    expect(server.process.exitCode).toBe(0)
  })

  row('GT-22', 'a response that is finished after the listener has closed says so, and its connection ends in order', async () => {
    const server = await serveUpstream()
    const client = await connectTo(server.port)
    client.request('GET', PLAIN)
    await server.plain.reached
    server.stop()
    await server.clock.advance(DELAY_MS)
    server.hook.release()
    await server.fired('HTTPServerStoppedListening')
    expect(client.state).toBe('open')
    server.plain.release()
    expect(await client.response()).toMatchObject({ ...DONE, framing: 'length', headers: { connection: 'close' } })
    expect(await client.closed()).toBe('ended')
  })

  row('GT-23', 'idle connections, used and never used, are closed at once', async () => {
    const server = await serveUpstream()
    await server.inFlight()
    const [used, unused] = await Promise.all([connectTo(server.port), connectTo(server.port)])
    expect(await used.ask('GET', ECHO)).toMatchObject(ECHOED)
    server.stop()
    await server.clock.advance(DELAY_MS)
    expect([used.state, unused.state]).toEqual(['open', 'open'])
    server.hook.release()
    expect(await Promise.all([used.closed(), unused.closed()])).toEqual(['ended', 'ended'])
    expect([used.received, unused.received]).toEqual(['', ''])
    // No timer had to pass for that, and nothing else is over.
    expect(server.clock.now()).toBe(DELAY_MS)
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
  })

  row('GT-24', 'a request on a connection that is still open is refused with 503', async () => {
    const server = await serveUpstream()
    // Open because its first request is in flight; the second one waits behind that.
    const busy = await connectTo(server.port)
    busy.request('GET', PLAIN)
    await server.plain.reached
    // Open because it is idle: its request is on its way in the very instant in which new ones are
    // refused.
    const idle = await connectTo(server.port)
    await idle.ask('GET', ECHO)
    server.life.signal('NotAcceptingNewRequest').addEventListener('abort', () => idle.request('GET', ECHO))
    server.stop()
    await server.clock.advance(DELAY_MS)
    server.hook.release()
    await server.fired('HTTPServerStoppedListening')
    busy.request('GET', ECHO)
    // Its answer waits for the first one on this connection, so only the books tell that it has
    // been refused.
    await expect.poll(() => server.life.status.report.rejections, POLL).toMatchObject({ 'not-accepting': 2 })
    server.plain.release()

    // Told to leave here, the client would never get its second answer.
    const first = await busy.response()
    expect(first).toMatchObject(DONE)
    expect(first.headers['connection']).not.toBe('close')
    for (const client of [busy, idle]) {
      expect(await client.response()).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1', 'content-type': 'application/json', 'x-content-type-options': 'nosniff', connection: 'close' },
        body: '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"apiserver is shutting down","reason":"ServiceUnavailable","code":503}\n\n',
      })
      expect(await client.closed()).toBe('ended')
    }
    expect((await server.endNow()).requests).toMatchObject({ before: 1, after: 0 })
  })
})

describe('the whole sequence', () => {
  row('GT-16', 'signals fire in upstream’s order, in real time', async () => {
    const server = await serveUpstream({ clock: systemClock })
    const { plain, watch } = await server.inFlight()
    server.stop()
    await server.fired('AfterShutdownDelayDuration')
    server.hook.release()
    await server.fired('HTTPServerStoppedListening')
    for (const block of [server.plain, server.watch]) block.release()
    expect(await Promise.all([plain, watch])).toMatchObject([DONE, DONE])
    expect((await server.endNow()).exitCode).toBe(0)
    expect(server.stopSignals).toEqual([
      'ShutdownInitiated',
      'AfterShutdownDelayDuration',
      'PreShutdownHooksStopped',
      'NotAcceptingNewRequest',
      'HTTPServerStoppedListening',
      'InFlightRequestsDrained',
    ])
  })

  row('GT-17', 'with no delay, no hooks and nothing in flight it takes no time', async () => {
    const server = await serveUpstream({ hook: false, options: { shutdownDelay: 0 } })
    await server.client().get(ECHO)
    server.stop()
    const report = await server.endNow()
    expect(report).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 1, forced: 0 } })
    expect(server.stopSignals).toHaveLength(6)
    for (const name of server.stopSignals) expect(server.sinceStop(name), name).toBe(0)
    expect(server.sinceStop('Ended')).toBe(0)
  })

  row('GT-17', 'in real time, well within a second', async () => {
    const tookMs = async (): Promise<number> => {
      const server = await serveUpstream({ clock: systemClock, hook: false, options: { shutdownDelay: 0 } })
      await server.client().get(ECHO)
      const stoppedAt = performance.now()
      server.stop()
      expect((await server.endNow()).exitCode).toBe(0)
      return performance.now() - stoppedAt
    }
    expect(await leastOf(1_000, tookMs)).toBeLessThan(1_000)
  })

  row('GT-21', 'without a grace a watch holds its connection for the connection timeout, then it is closed and named (V3)', async () => {
    const server = await serveUpstream({ hook: false, options: { watchGrace: 0, requestTimeout: '60s' } })
    const client = await connectTo(server.port)
    client.request('GET', WATCH)
    await server.watch.reached
    server.stop()
    await server.clock.advance(DELAY_MS)
    // Neither of them waits for the watch.
    await Promise.all([server.fired('InFlightRequestsDrained'), server.fired('HTTPServerStoppedListening')])
    server.audit.shuttingDown.release()

    await server.clock.advance(59_999)
    expect([client.state, server.hasEnded]).toEqual(['open', false])
    await server.clock.advance(1)
    await client.closed()
    expect(client.received).toBe('')
    const report = await server.endNow()
    expect(report).toMatchObject({ exitCode: 0, watches: { before: 1, after: 1 }, connections: { forced: 1 } })
    const [forced] = report.connections.forcedNames
    expect(forced?.name).toMatch(/^127\.0\.0\.1:\d+ GET \/apis\/watches\.group\/v1\/namespaces\/foo\/bar$/)
  })

  row('GT-21', 'such a watch is told nevertheless, and nothing waits once it has gone', async () => {
    const server = await serveUpstream({ hook: false, options: { watchGrace: 0 } })
    const watch = server.client().get(WATCH)
    await server.watch.reached
    server.stop()
    await server.clock.advance(DELAY_MS)
    await server.fired('InFlightRequestsDrained')
    server.watch.release()
    expect(await watch).toMatchObject(DONE)
    expect(await server.endNow()).toMatchObject({ exitCode: 0, connections: { forced: 0 } })
    expect(server.sinceStop('Ended')).toBe(DELAY_MS)
  })

  row('GT-26', 'an attached server: the one request in flight is finished, a second one cannot connect', async () => {
    const reached = new Roadblock()
    const { clock, life, port } = await attached({ connectionTimeout: '10s' }, (server) =>
      server.on('request', (_, response) => {
        void reached.pass()
        clock.setTimeout(() => response.end('done'), 2_000)
      }),
    )
    const first = fresh(port, '/')
    await reached.reached
    let hasEnded = false
    const ended = life.stop().finally(() => {
      hasEnded = true
    })

    await clock.advance(500)
    await expect(fresh(port, '/')).rejects.toEqual(REFUSED)
    await clock.advance(1_499)
    expect(hasEnded).toBe(false)
    await clock.advance(1)
    expect(await first).toMatchObject(DONE)
    while (!hasEnded) await clock.advance(0)
    expect(await ended).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, connections: { forced: 0 } })
    expect(clock.now()).toBe(2_000)
  })

  row('GT-27', 'an upgraded connection is a watch: told, waited for within the grace, then closed and named', async () => {
    const notified = new Roadblock()
    const { clock, life, port, fired, hasFired } = await attached({ watchGrace: GRACE_MS }, (server) =>
      server.on('upgrade', (request, socket) => {
        socket.on('error', () => undefined)
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
        socket.on('data', (chunk) => socket.write(chunk))
        void aborted(shutdownSignalOf(request)).then(() => notified.pass())
      }),
    )
    const client = await connectTo(port)
    expect(await client.ask('GET', '/socket', { headers: { Connection: 'Upgrade', Upgrade: 'echo' } })).toMatchObject({ status: 101 })
    const ended = life.stop()
    await clock.advance(GRACE_MS - 1)
    await Promise.all([notified.reached, fired('HTTPServerStoppedListening')])
    expect(hasFired('InFlightRequestsDrained')).toBe(false)
    client.send('still here')
    await client.until('an echo', () => client.received.includes('still here'))

    await clock.advance(1)
    await client.closed()
    expect(await ended).toMatchObject({ exitCode: 0, watches: { before: 1, after: 1, cut: [{ name: 'GET /socket' }] } })
  })

  row(
    'GT-27',
    'without a grace it is told, and closed and named with the last connections: nothing waits for it, as upstream',
    async () => {
      const notified = new Roadblock()
      const { clock, life, port } = await attached({ watchGrace: 0, connectionTimeout: '60s' }, (server) =>
        server.on('upgrade', (request, socket) => {
          socket.on('error', () => undefined)
          void aborted(shutdownSignalOf(request)).then(() => notified.pass())
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
          socket.resume()
        }),
      )
      const client = await connectTo(port)
      expect(await client.ask('GET', '/socket', { headers: { Connection: 'Upgrade', Upgrade: 'echo' } })).toMatchObject({ status: 101 })
      let hasEnded = false
      const ended = life.stop().finally(() => {
        hasEnded = true
      })
      while (!hasEnded) await clock.advance(0)
      await notified.reached
      expect(await client.closed(), 'in order').toBe('ended')
      const report = await ended
      expect(report).toMatchObject({ exitCode: 0, watches: { before: 1, after: 1, cut: [] }, connections: { forced: 1 } })
      expect(report.connections.forcedNames[0]?.name).toMatch(/ GET \/socket$/)
      expect(clock.now()).toBe(0)
    },
  )
})

/** A server of the user's own, attached and serving, on virtual time and without a delay. */
async function attached(options: LifecycleOptions, prepare: (server: Server) => void) {
  const clock = new VirtualClock()
  const server = createServer()
  prepare(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => server.closeAllConnections())
  const { port } = server.address() as AddressInfo
  const t = newAttachedLife(server, { clock, options })
  await t.life.start()
  return { clock, port, life: t.life, fired: (name: string) => t.fired(name), hasFired: (name: string) => t.hasFired(name) }
}

const later = (clock: VirtualClock, ms: number): Promise<void> => new Promise((resolve) => clock.setTimeout(resolve, ms))
