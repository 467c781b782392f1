// Graceful termination in plain mode, row by row of upstream's contract (GT), as clients and operators see it: by answers, by
// connections that are accepted, refused or closed, and by what Run returns.
//
// Each group fails under one of these faults, all of them tried:
//   GT-01..03  readiness is not tied to ShutdownInitiated, or the signal waits for the delay
//   GT-04      nobody is told to leave, or everybody at once
//   GT-05..07  NotAcceptingNewRequest waits for the delay alone, or for the hooks alone (GT-18..20 as well)
//   GT-08..11  the listener stays open until everything has drained; idle connections are left open, or serve on
//   GT-12..14  connections are destroyed with the listener; the drain forgets the plain requests, or the watches
//   GT-15      nobody waits for the audit backend, or its stop signal does not come
//   GT-16      any of these orders is turned round
//   GT-21      the connection timeout bounds nothing
//   GT-22..24  nobody is told to leave; a late request is served, or its connection reset
//   GT-26, 27  the life ends without its last request; upgraded connections are in no group
//
// Not claimed here: GT-25 is HTTP/2. GT-12 and GT-13 also promise an Audit-ID and an audit event, which come with the filter
// chain; what they say about the life is tested under a title without their number.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/actors/clock.ts'
import { attachLifecycleOn } from '../../src/attach.ts'
import type { LifecycleOptions } from '../../src/options.ts'
import { FakeProcess, ProcessExit } from '../../src/testing/fake-process.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { row } from '../support/row.ts'
import { fresh, KeepAliveClient, POLL, REFUSED, Wire } from '../support/upstream-client.ts'
import { DELAY_MS, GRACE_MS, PLAIN, Roadblock, serveUpstream, type UpstreamServer, untilTold, WATCH } from '../support/upstream-server.ts'

const ECHO = '/echo?message=hello'
const OK = { status: 200, body: 'hello' }
const SERVED = { status: 200, body: 'done' }

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
    // The delay is not over, then the hook is not.
    for (let ms = 0; ms <= 2 * DELAY_MS; ms += DELAY_MS / 4) {
      expect([(await server.fresh('/readyz')).status, (await kept.get('/readyz')).status]).toEqual([500, 500])
      await server.clock.advance(DELAY_MS / 4)
    }
    expect(server.hasFired('NotAcceptingNewRequest')).toBe(false)
  })

  row('GT-04', 'while the delay lasts a kept connection is served; in its second half it is told to leave (V6)', async () => {
    let share = 1
    const server = await serveUpstream({ random: () => share })
    const kept = server.client()
    expect((await kept.get(ECHO)).isReused).toBe(false)
    server.stop()
    await server.fired('ShutdownInitiated')

    await server.clock.advance(DELAY_MS / 4)
    share = 0.51
    const early = await kept.get(ECHO)
    expect(early).toMatchObject({ ...OK, isReused: true, headers: { connection: 'keep-alive' } })

    share = 0.49
    const told = await kept.get(ECHO)
    expect(told).toMatchObject({ ...OK, isReused: true, headers: { connection: 'close' } })
    // A told client comes back on a connection that is served as well.
    expect(await kept.get(ECHO)).toMatchObject({ ...OK, isReused: false })

    await server.clock.advance(DELAY_MS / 4)
    share = 0.999_999
    expect(await kept.get(ECHO)).toMatchObject({ ...OK, headers: { connection: 'close' } })
    expect(server.hasFired('AfterShutdownDelayDuration')).toBe(false)
  })

  row('GT-05', 'while the delay lasts a new connection is served', async () => {
    const server = await serveUpstream()
    server.stop()
    await server.fired('ShutdownInitiated')
    await server.clock.advance(DELAY_MS - 1)
    expect(await server.fresh(ECHO)).toMatchObject({ ...OK, isReused: false })
    expect(server.hasFired('AfterShutdownDelayDuration')).toBe(false)
  })

  row('GT-06', 'after the delay a new connection is served as long as a hook runs', async () => {
    const server = await inHook()
    expect(await server.fresh(ECHO)).toMatchObject(OK)
    await server.clock.advance(10 * DELAY_MS)
    expect(await server.fresh(ECHO)).toMatchObject(OK)
  })

  row('GT-07', 'the hook calls the server, and only then PreShutdownHooksStopped fires', async () => {
    const server = await inHook()
    expect(server.hasFired('PreShutdownHooksStopped')).toBe(false)
    server.hook.release()
    expect(await server.hookAnswer.promise).toMatchObject({ status: 200, body: 'from-the-hook' })
    await server.fired('PreShutdownHooksStopped')
  })

  row(['GT-18', 'GT-20'], 'hooks that end before the delay do not shorten it; neither does anything else', async () => {
    const server = await serveUpstream({
      hook: false,
      options: { shutdownDelay: '5s' },
      prepare: (life) => {
        life.addPreShutdownHook('takes-1s', () => new Promise<void>((resolve) => server.clock.setTimeout(resolve, 1_000)))
      },
    })
    server.stop()
    await server.clock.advance(100)
    // The same signal twice, as parents forward Ctrl-C; and whatever else asks for the end once more.
    server.stop()
    void server.life.stop('again')
    server.process.emit('message', 'shutdown')
    await server.clock.advance(900)
    await server.fired('PreShutdownHooksStopped')

    await server.clock.advance(3_999)
    expect(await server.fresh(ECHO)).toMatchObject(OK)
    await server.clock.advance(1)
    await server.fired('HTTPServerStoppedListening')
    await expect(server.fresh(ECHO)).rejects.toEqual(REFUSED)
    expect(server.sinceStop('NotAcceptingNewRequest')).toBe(5_000)
  })

  row('GT-19', 'hooks that take longer than the delay are waited for', async () => {
    const server = await serveUpstream({
      hook: false,
      options: { shutdownDelay: '1s' },
      prepare: (life) => {
        life.addPreShutdownHook('takes-5s', () => new Promise<void>((resolve) => server.clock.setTimeout(resolve, 5_000)))
      },
    })
    server.stop()
    await server.clock.advance(4_999)
    await server.fired('AfterShutdownDelayDuration')
    expect(await server.fresh(ECHO)).toMatchObject(OK)
    await server.clock.advance(1)
    await server.fired('HTTPServerStoppedListening')
    await expect(server.fresh(ECHO)).rejects.toEqual(REFUSED)
    expect(server.sinceStop('AfterShutdownDelayDuration')).toBe(1_000)
    expect(server.sinceStop('NotAcceptingNewRequest')).toBe(5_000)
    expect(server.signals.indexOf('PreShutdownHooksStopped')).toBeGreaterThan(server.signals.indexOf('AfterShutdownDelayDuration'))
  })

  row('GT-20', 'the second signal of the process is the one thing that ends the delay', async () => {
    const server = await serveUpstream({ hook: false, options: { shutdownDelay: '5s' } })
    server.stop()
    await server.clock.advance(1_000)
    expect(await server.fresh(ECHO)).toMatchObject(OK)
    server.stop()
    await expect(server.ended).rejects.toBeInstanceOf(ProcessExit)
    expect(server.process.exits).toEqual([1])
    await expect(server.fresh(ECHO)).rejects.toEqual(REFUSED)
  })
})

describe('from NotAcceptingNewRequest on', () => {
  row('GT-08', 'the listener closes without waiting for what is in flight', async () => {
    const { server, plain, watch } = await notListening()
    expect(server.signals.slice(-2)).toEqual(['NotAcceptingNewRequest', 'HTTPServerStoppedListening'])
    // Both were waited for all the same: they get their answers.
    for (const block of [server.plain, server.watch]) block.release()
    expect(await Promise.all([plain, watch])).toMatchObject([SERVED, SERVED])
  })

  row('GT-09', 'a new connection is refused', async () => {
    const { server } = await notListening()
    await expect(Wire.open(server.port)).rejects.toEqual(REFUSED)
  })

  row('GT-10', 'a kept connection that asks and asks gets no response any more after a short while', async () => {
    const server = await serveUpstream()
    // Something in flight, so that nothing is over yet when the connection ends.
    const { plain } = await server.inFlight()
    const wire = await Wire.open(server.port)
    wire.send(ECHO)
    await wire.has('hello')
    server.stop()
    await server.clock.advance(DELAY_MS)
    server.hook.release()
    await server.fired('NotAcceptingNewRequest')

    await expect
      .poll(() => {
        if (wire.isOpen) wire.send('/echo?message=late')
        return wire.isOpen
      }, POLL)
      .toBe(false)
    expect(wire.received).not.toContain('late')
    // At most one request slipped into the gap, and was refused (GT-24).
    expect(wire.responses.length).toBeLessThanOrEqual(2)
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
    server.plain.release()
    expect(await plain).toMatchObject(SERVED)
  })

  row('GT-11', 'a client that keeps connections can reach the server no more, neither on its old one nor on a new one', async () => {
    const server = await serveUpstream()
    const kept = server.client()
    await kept.get(ECHO)
    expect((await kept.get(ECHO)).isReused).toBe(true)
    server.stop()
    await server.clock.advance(DELAY_MS)
    server.hook.release()
    await server.fired('HTTPServerStoppedListening')
    // Until the end of its old connection has reached the client, a request may still be lost with it.
    await expect
      .poll(
        () =>
          kept.get(ECHO).then(
            ({ status }) => status,
            (error: NodeJS.ErrnoException) => error.code,
          ),
        POLL,
      )
      .toBe('ECONNREFUSED')
    await expect(kept.get(ECHO)).rejects.toEqual(REFUSED)
  })

  test('a plain request in flight is answered although nobody listens any more (GT-12 without its audit event)', async () => {
    const { server, plain } = await notListening()
    await expect(server.fresh(ECHO)).rejects.toEqual(REFUSED)
    server.plain.release()
    expect(await plain).toMatchObject(SERVED)
  })

  test('a watch in flight is told, and ends with its answer (GT-13 without its audit event)', async () => {
    const { server, watch } = await notListening()
    server.watch.release()
    // Its handler answers when it is told, and not before.
    expect(await watch).toMatchObject(SERVED)
  })

  test('a watch that has begun to answer ends with its last chunk, not with a reset', async () => {
    const told = new Roadblock()
    const server = await serveUpstream({
      hook: false,
      routes: {
        '/events': (request, response) => {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' })
          response.write('data: first\n\n')
          void untilTold(request).then(async () => {
            await told.pass()
            response.end('data: last\n\n')
          })
        },
      },
    })
    const wire = await Wire.open(server.port)
    wire.send('/events', { Accept: 'text/event-stream' })
    await wire.has('data: first')
    server.stop()
    await server.clock.advance(DELAY_MS)
    await told.reached
    expect(wire.isOpen).toBe(true)
    told.release()
    expect(await wire.ended).toBe('end')
    expect(wire.received).toMatch(/data: last\n\n\r\n0\r\n\r\n$/)
  })

  row('GT-14', 'InFlightRequestsDrained fires when both requests are over, and not before', async () => {
    const { server, plain, watch } = await notListening()
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
    server.plain.release()
    expect(await plain).toMatchObject(SERVED)
    await server.fired('RequestsDrained')
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
    server.watch.release()
    expect(await watch).toMatchObject(SERVED)
    await server.fired('InFlightRequestsDrained')
  })

  row('GT-14', 'the same with the watch first', async () => {
    const { server, plain, watch } = await notListening()
    server.watch.release()
    expect(await watch).toMatchObject(SERVED)
    await server.fired('WatchesDrained')
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
    server.plain.release()
    expect(await plain).toMatchObject(SERVED)
    await server.fired('InFlightRequestsDrained')
  })

  row('GT-15', 'the audit backend is stopped and shut down, then Run returns without error', async () => {
    const { server } = await notListening()
    await server.clock.advance(1_000)
    expect(server.audit.isStopped).toBe(false)
    for (const block of [server.plain, server.watch]) block.release()
    // Reached only because the signal that its run() was given has been aborted.
    await server.audit.shuttingDown.reached
    expect(server.hasFired('InFlightRequestsDrained')).toBe(true)
    await server.clock.advance(1_000)
    expect([server.hasEnded, server.audit.isShutDown]).toEqual([false, false])

    server.audit.shuttingDown.release()
    const report = await server.ended
    expect(server.audit.isShutDown).toBe(true)
    expect(report).toMatchObject({ exitCode: 0, errors: [], requests: { before: 1, after: 0 }, watches: { before: 1, after: 0 } })
    expect(server.process.exitCode).toBe(0)
  })

  row('GT-22', 'a response that is finished after the listener has closed says so, and its connection ends in order', async () => {
    const server = await serveUpstream()
    const wire = await Wire.open(server.port)
    wire.send(PLAIN)
    await server.plain.reached
    server.stop()
    await server.clock.advance(DELAY_MS)
    server.hook.release()
    await server.fired('HTTPServerStoppedListening')
    expect(wire.isOpen).toBe(true)
    server.plain.release()
    expect(await wire.ended).toBe('end')
    expect(wire.responses).toHaveLength(1)
    expect(wire.received).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(wire.received).toMatch(/^Connection: close\r$/im)
    expect(wire.received).toMatch(/done$/)
  })

  row('GT-23', 'idle connections, used and never used, are closed at once', async () => {
    const server = await serveUpstream()
    await server.inFlight()
    const [used, unused] = await Promise.all([Wire.open(server.port), Wire.open(server.port)])
    used.send(ECHO)
    await used.has('hello')
    server.stop()
    await server.clock.advance(DELAY_MS)
    const closingAt = server.clock.now()
    server.hook.release()
    expect(await Promise.all([used.ended, unused.ended])).toEqual(['end', 'end'])
    // No timer had to pass for that, and nothing else is over.
    expect(server.clock.now()).toBe(closingAt)
    expect(server.hasFired('InFlightRequestsDrained')).toBe(false)
    expect(used.responses).toHaveLength(1)
  })

  row('GT-24', 'a request on a connection that is still open is refused with 503', async () => {
    const server = await serveUpstream()
    // Open because its first request is in flight; the second one waits behind that.
    const wire = await Wire.open(server.port)
    wire.send(PLAIN)
    await server.plain.reached
    // Open because it is idle: its request is under way in the very instant in which new ones are refused.
    const idle = await Wire.open(server.port)
    idle.send(ECHO)
    await idle.has('hello')
    server.life.signal('NotAcceptingNewRequest').addEventListener('abort', () => idle.send(ECHO))
    server.stop()
    await server.clock.advance(DELAY_MS)
    server.hook.release()
    await server.fired('HTTPServerStoppedListening')
    wire.send(ECHO)
    // Both have reached the server; the second answer waits for the first one on its connection.
    await expect.poll(() => server.life.report.rejections, POLL).toMatchObject({ 'not-accepting': 2 })
    server.plain.release()
    expect(await Promise.all([wire.ended, idle.ended])).toEqual(['end', 'end'])

    const [first, second] = wire.responses
    expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(first).toMatch(/\r\n\r\ndone$/)
    expect(first).not.toMatch(/^Connection: close/im)
    for (const refusal of [second, idle.responses[1]]) {
      expect(refusal).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/)
      expect(refusal).toMatch(/^Retry-After: 1\r$/m)
      expect(refusal).toMatch(/^Content-Type: application\/json\r$/m)
      expect(refusal).toMatch(/^X-Content-Type-Options: nosniff\r$/m)
      expect(refusal?.split('\r\n\r\n')[1]).toBe(
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"apiserver is shutting down","reason":"ServiceUnavailable","code":503}\n\n',
      )
    }
    expect((await endOf(server)).requests).toMatchObject({ before: 1, after: 0 })
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
    await Promise.all([plain, watch])
    expect((await endOf(server)).exitCode).toBe(0)
    expect(server.signals.slice(server.signals.indexOf('ShutdownInitiated'))).toEqual([
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
    const kept = server.client()
    await kept.get(ECHO)
    server.audit.shuttingDown.release()
    server.stop()
    // Nobody moves the clock: whatever waited for a timer would wait for ever.
    const report = await server.ended
    expect(report).toMatchObject({ exitCode: 0, connections: { idleUntold: 1, forced: 0 } })
    const stopping = server.signals.slice(server.signals.indexOf('ShutdownInitiated'))
    expect(stopping).toHaveLength(6)
    expect(stopping.map((name) => server.sinceStop(name))).toEqual([0, 0, 0, 0, 0, 0])
  })

  row('GT-17', 'in real time, well within a second', async () => {
    const server = await serveUpstream({ clock: systemClock, hook: false, options: { shutdownDelay: 0 } })
    await server.client().get(ECHO)
    server.audit.shuttingDown.release()
    const stoppedAt = performance.now()
    server.stop()
    await server.ended
    expect(performance.now() - stoppedAt).toBeLessThan(1_000)
  })

  row(
    'GT-21',
    'without a watch grace a watch holds its connection for the connection timeout, then it is closed and named (V3)',
    async () => {
      const server = await serveUpstream({ hook: false, options: { watchGrace: 0, requestTimeout: '60s' } })
      const wire = await Wire.open(server.port)
      wire.send(WATCH)
      await server.watch.reached
      server.stop()
      await server.clock.advance(DELAY_MS)
      await server.fired('InFlightRequestsDrained')
      await server.fired('HTTPServerStoppedListening')

      server.audit.shuttingDown.release()
      await server.clock.advance(59_999)
      expect([wire.isOpen, server.hasEnded]).toEqual([true, false])
      await server.clock.advance(1)
      const report = await server.ended
      expect(await wire.ended).toMatch(/^(end|ECONNRESET)$/)
      expect(wire.received).toBe('')
      expect(report).toMatchObject({ exitCode: 0, connections: { forced: 1 } })
      expect(report.connections.forcedNames).toMatchObject([
        { name: expect.stringMatching(/^127\.0\.0\.1:\d+ GET \/apis\/watches\.group\/v1\//) },
      ])
    },
  )

  row('GT-21', 'the watch is told nevertheless, and nothing waits when it goes', async () => {
    const server = await serveUpstream({ hook: false, options: { watchGrace: 0, requestTimeout: '60s' } })
    const { watch } = await inFlightWatch(server)
    server.audit.shuttingDown.release()
    server.stop()
    await server.clock.advance(DELAY_MS)
    await server.fired('InFlightRequestsDrained')
    server.watch.release()
    expect(await watch).toMatchObject(SERVED)
    expect(await server.ended).toMatchObject({ exitCode: 0, connections: { forced: 0 } })
    expect(server.clock.now()).toBe(DELAY_MS)
  })

  row('GT-26', 'an attached server: the one request in flight is finished, a second one cannot connect', async () => {
    const reached = new Roadblock()
    const { life, clock, port } = await attached({ connectionTimeout: '10s' }, (server) =>
      server.on('request', (_, response) => {
        void reached.pass()
        clock.setTimeout(() => response.end('done'), 2_000)
      }),
    )
    const first = new KeepAliveClient(port).get('/')
    first.catch(() => undefined)
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
    expect(await first).toMatchObject(SERVED)
    expect(await ended).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, connections: { forced: 0 } })
    expect(clock.now()).toBe(2_000)
  })

  row('GT-27', 'an upgraded connection is a watch: told, waited for within the grace, then closed and named', async () => {
    const told = new Roadblock()
    const { life, clock, port } = await attached({ watchGrace: GRACE_MS }, (server) =>
      server.on('upgrade', (request, socket) => {
        socket.on('error', () => undefined)
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
        socket.on('data', (chunk) => socket.write(chunk))
        void untilTold(request).then(() => told.pass())
      }),
    )
    const wire = await Wire.open(port)
    wire.send('/socket', { Connection: 'Upgrade', Upgrade: 'echo' })
    await wire.has('101 Switching Protocols')
    const ended = life.stop()
    await clock.advance(GRACE_MS - 1)
    await told.reached
    expect(life.signal('HTTPServerStoppedListening').aborted).toBe(true)
    expect(life.signal('InFlightRequestsDrained').aborted).toBe(false)
    wire.socket.write('still here')
    await wire.has('still here')

    await clock.advance(1)
    expect(await wire.ended).toMatch(/^(end|ECONNRESET)$/)
    expect(await ended).toMatchObject({ exitCode: 0, watches: { before: 1, after: 1, cut: [{ name: 'GET /socket' }] } })
  })
})

/** A server of the user's own, attached and serving, on virtual time and without a delay. */
async function attached(options: LifecycleOptions, prepare: (server: Server) => void) {
  const clock = new VirtualClock()
  const server = createServer()
  prepare(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const host = { clock, random: Math.random, process: new FakeProcess().asHostProcess() }
  const life = attachLifecycleOn(host, server, { shutdownDelay: 0, deadline: '1m', ...options })
  onTestFinished(async () => {
    void life.stop()
    await clock.runToEnd()
  })
  await life.start()
  return { life, clock, port }
}

async function inFlightWatch(server: UpstreamServer) {
  const watch = server.client().get(WATCH)
  watch.catch(() => undefined)
  await server.watch.reached
  return { watch }
}

async function endOf(server: { readonly audit: UpstreamServer['audit']; readonly ended: UpstreamServer['ended'] }) {
  server.audit.shuttingDown.release()
  return server.ended
}
