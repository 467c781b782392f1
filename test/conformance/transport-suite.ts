import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type LifecycleOptions, shutdownSignalOf } from '#src/index.ts'
import type { Report } from '#src/report/report.ts'
import { type LifeRig, newAttachedLife } from '../support/life.ts'
import { POLL } from '../support/upstream-client.ts'
import { listenerApplication } from './applications.ts'
import { Stage } from './stage.ts'
import { type Client, RETRYABLE, type TransportAdapter } from './transports.ts'

/**
 * What a life promises on every connection, whatever protocol it speaks: each state in which a
 * connection can be when the stop comes, in both modes. What a client sees is judged by the
 * client's own record, and then compared with the report. A transport is added by an adapter;
 * nothing here knows one.
 */

export const MODES = ['refuse', 'retry-after'] as const
export type Mode = (typeof MODES)[number]

interface Served {
  readonly t: LifeRig<VirtualClock, ReturnType<typeof newAttachedLife<VirtualClock>>['life']>
  readonly stage: Stage
  readonly port: number
  readonly open: () => Promise<Client>
  readonly adapter: TransportAdapter
  readonly mode: Mode
  /** How long a client has to hear that it was told. */
  readonly toldWithinMs: number
}

export interface Case {
  readonly name: string
  /** Default: for all. */
  readonly appliesTo?: (adapter: TransportAdapter) => boolean
  readonly options?: LifecycleOptions
  readonly run: (served: Served) => Promise<void>
}

/** The last call ends so long after the stop, in virtual time. */
const LAST_CALL_MS = 300
/** So long a connection may take for its handshake and the head of its first request. */
const FIRST_HEAD_MS = 1_000
/** So long a client has to leave that was told without an answer; node's own takes all of it. */
const LEAVE_MS = 1_000
const WATCH_GRACE_MS = 2_000
const DEADLINE_MS = 20_000
/** Well before a handler is given up whose client has left. */
const GIVEN_UP_MS = 5_000

/** Beside the routes of the other suites, those that misbehave. */
export function misbehaving(stage: Stage) {
  const application = listenerApplication(stage)
  return (request: IncomingMessage, response: ServerResponse): unknown => {
    switch (request.url) {
      case '/hang':
      case '/mute':
        return undefined
      case '/late':
        void stage.slow.pass().then(() => response.end('late\n'))
        return undefined
      case '/endless':
        response.writeHead(200, { 'Content-Type': 'text/plain' }).write('begun\n')
        return undefined
      case '/events':
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: begun\n\n')
        void stage.stream.pass().then(() => response.end('data: last\n\n'))
        return undefined
      case '/part':
        response.writeHead(200, { 'Content-Type': 'text/plain' }).write('part\n')
        throw new Error('thrown in the middle')
      default:
        return application(request, response)
    }
  }
}

/** Writes as long as it can, in every turn of the event loop. */
export function keepWriting(to: Duplex): void {
  if (!to.writable) return
  to.write('.')
  setImmediate(() => keepWriting(to))
}

/** Says goodbye when it is told to end, unless it is not to. */
export function upgrade(request: IncomingMessage, socket: Duplex): void {
  if (request.url === '/throws') throw new Error('thrown on purpose')
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n')
  socket.on('error', () => undefined)
  socket.resume()
  // Who asks for the signal is expected to end it.
  if (request.url === '/stays') shutdownSignalOf(request)
  if (request.url === '/polite') shutdownSignalOf(request).addEventListener('abort', () => socket.end('bye'))
  if (request.url === '/moves') keepWriting(socket)
}

async function serve(adapter: TransportAdapter, mode: Mode, options: LifecycleOptions = {}): Promise<Omit<Served, 'toldWithinMs'>> {
  const stage = new Stage()
  const server = adapter.createServer(misbehaving(stage))
  server.on('upgrade', upgrade)
  const t = newAttachedLife(server, {
    clock: new VirtualClock(),
    options: {
      whileDraining: mode,
      lastCall: LAST_CALL_MS,
      deadline: DEADLINE_MS,
      watchGrace: WATCH_GRACE_MS,
      longRunning: ({ url }) => url === '/endless' || url === '/mute' || undefined,
      ...options,
    },
  })
  onTestFinished(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await t.life.start()
  const { port } = server.address() as AddressInfo
  return { t, stage, port, adapter, mode, open: () => adapter.open(port) }
}

const connected = ({ t }: Served, open: number): Promise<void> =>
  expect.poll(() => t.life.counts().connections, POLL).toMatchObject({ open })

/** How long the end has taken, in virtual time. */
const lasted = ({ endedAt, stopRequestedAt }: Report): number => Date.parse(endedAt) - Date.parse(stopRequestedAt as string)

/** A client that is told without an answer may be told before it has any. */
async function expectTold({ adapter, toldWithinMs }: Served, client: Client, after: number): Promise<void> {
  if (adapter.tellsByAnswer) expect(client.toldAfter).toBe(after)
  else await expect.poll(() => client.toldAfter ?? Number.NaN, { ...POLL, timeout: toldWithinMs }).toBeLessThanOrEqual(after)
}

/** Of a connection with an exchange that was broken off: the others go on, or all is forced. */
const brokenOff = ({ adapter }: Served, name: string) =>
  adapter.breaksOffAlone
    ? { notified: 1, forced: 0, forcedNames: [] }
    : { notified: 0, forced: 1, forcedNames: [{ name: expect.stringMatching(new RegExp(String.raw`^127\.0\.0\.1:\d+ ${name}$`)) }] }

/** How long the end takes at most of a connection on which nothing is outstanding. */
const idleTakesMs = ({ adapter }: Served): number => (adapter.tellsByAnswer ? LAST_CALL_MS : LEAVE_MS)

/** How a connection ends that is idle when idle ones are closed. */
const idle = ({ adapter }: Served, count = 1) =>
  adapter.tellsByAnswer ? { idleUnnotified: count, notified: 0 } : { idleUnnotified: 0, notified: count }

/** Moves virtual time on until it has happened; a life has ended by its deadline in any case. */
async function pass({ t }: Served, what: string, hasHappened: () => boolean): Promise<void> {
  for (let ms = 0; !hasHappened(); ms += 10) {
    if (ms > DEADLINE_MS) throw new Error(`${what} did not happen`)
    await t.clock.advance(10)
  }
}

/** Stops, up to a signal. */
async function stopUntil(
  served: Served,
  signal: 'NotAcceptingNewRequest' | 'LastCallComplete',
): Promise<{ readonly ended: Promise<Report> }> {
  const { t } = served
  const ended = t.life.stop()
  await pass(served, signal, () => t.hasFired(signal))
  return { ended }
}

/** Of a first request of which half had come when the last call was over. */
const lastAnswer = ({ mode }: Served): { readonly status: number } => ({ status: mode === 'refuse' ? 200 : 429 })

export const CASES: readonly Case[] = [
  {
    name: 'never used: known from its accept on, and closed with the idle ones',
    run: async (served) => {
      const { t, open } = served
      const client = await open()
      await connected(served, 1)
      expect(t.life.counts().connections).toMatchObject({ open: 1, notified: 0, idle: 1 })
      const report = await t.end()
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { ...idle(served), ended: 0, forced: 0 }, warnings: [] })
      expect(lasted(report)).toBeLessThanOrEqual(idleTakesMs(served))
    },
  },
  {
    name: 'idle after a request: closed when the last call is over',
    run: async (served) => {
      const { t, open } = served
      const client = await open()
      expect(await client.ask('/hello')).toEqual({ status: 200, body: 'hello\n' })
      expect(client.toldAfter).toBeUndefined()
      const report = await t.end()
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { ...idle(served), ended: 0, forced: 0 } })
      expect(lasted(report)).toBeLessThanOrEqual(idleTakesMs(served))
    },
  },
  {
    name: 'left by its client: not counted any more',
    run: async (served) => {
      const { t, open } = served
      const client = await open()
      await client.ask('/hello')
      await connected(served, 1)
      client.leave()
      await connected(served, 0)
      expect(await t.end()).toMatchObject({ exitCode: 0, connections: { notified: 0, idleUnnotified: 0, ended: 0, forced: 0 } })
    },
  },
  {
    name: 'busy: answered in full, told to leave, closed in order',
    run: async (served) => {
      const { t, stage, open } = served
      const client = await open()
      const answer = client.ask('/slow')
      await stage.slow.reached
      expect(t.life.counts()).toMatchObject({ requests: 1, connections: { open: 1, idle: 0 } })
      const { ended } = await stopUntil(served, 'NotAcceptingNewRequest')
      stage.slow.open()
      expect(await answer).toEqual({ status: 200, body: 'done\n' })
      await expectTold(served, client, 1)
      const report = await t.end(ended)
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({
        exitCode: 0,
        requests: { before: 1, after: 0, cut: [] },
        connections: { notified: 1, idleUnnotified: 0, forced: 0 },
      })
    },
  },
  {
    name: 'several requests at once: all are answered, and none after the client was told',
    run: async (served) => {
      const { t, stage, open } = served
      const client = await open()
      const answers = ['/slow', '/hello', '/slow'].map((path) => client.ask(path))
      await expect.poll(() => stage.begun['/slow'], POLL).toBe(2)
      const { ended } = await stopUntil(served, 'NotAcceptingNewRequest')
      // For so long it is seen how much a client asks at a time that is told without an answer.
      if (!served.adapter.tellsByAnswer) await t.clock.advance(100)
      stage.slow.open()
      expect(await Promise.all(answers)).toMatchObject([{ body: 'done\n' }, { body: 'hello\n' }, { body: 'done\n' }])
      await expectTold(served, client, 3)
      const report = await t.end(ended)
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, requests: { after: 0 }, connections: { notified: 1, forced: 0 } })
    },
  },
  {
    name: 'half of the first request: has a second from its beginning, and is answered and told',
    appliesTo: ({ tellsByAnswer }) => tellsByAnswer,
    run: async (served) => {
      const { t, open } = served
      const client = await open()
      const rest = client.half('/hello', 'head')
      await connected(served, 1)
      const { ended } = await stopUntil(served, 'LastCallComplete')
      expect(await rest()).toMatchObject(lastAnswer(served))
      expect(client.toldAfter).toBe(1)
      const report = await t.end(ended)
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { notified: 1, idleUnnotified: 0, forced: 0 } })
    },
  },
  {
    name: 'half of the first request, of a client that is told without an answer: nothing is done about it, and it knows',
    appliesTo: ({ tellsByAnswer }) => !tellsByAnswer,
    run: async (served) => {
      const { t, open } = served
      const client = await open()
      const rest = client.half('/hello', 'head')
      await connected(served, 1)
      const { ended } = await stopUntil(served, 'LastCallComplete')
      await expect(rest()).rejects.toThrow(RETRYABLE)
      expect(client.toldAfter).toBe(0)
      const report = await t.end(ended)
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({
        exitCode: 0,
        requests: { before: 0, after: 0 },
        connections: { notified: 1, idleUnnotified: 0, forced: 0 },
      })
    },
  },
  {
    name: 'half of the first request that gets no other half: holds the end for a second at most, and costs nothing',
    run: async (served) => {
      const { t, open } = served
      const client = await open()
      client.half('/hello', 'head')
      await connected(served, 1)
      const report = await t.end()
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { ...idle(served), forced: 0 } })
      expect(lasted(report)).toBeLessThanOrEqual(FIRST_HEAD_MS)
    },
  },
  {
    name: 'half of a later request: given up with the idle connections',
    run: async (served) => {
      const { t, open } = served
      const client = await open()
      await client.ask('/hello')
      client.half('/hello', 'head')
      const report = await t.end()
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { ...idle(served), forced: 0 } })
      expect(lasted(report)).toBeLessThanOrEqual(idleTakesMs(served))
    },
  },
  {
    name: 'a request that is answered before all of its body was sent: the answer arrives, and the rest may be sent',
    run: async (served) => {
      const { t, stage, open } = served
      const client = await open()
      const rest = client.half('/slow', 'body')
      await stage.slow.reached
      const { ended } = await stopUntil(served, 'NotAcceptingNewRequest')
      stage.slow.open()
      await client.until('done')
      expect(await rest()).toEqual({ status: 200, body: 'done\n' })
      const report = await t.end(ended)
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { notified: 1, forced: 0 } })
    },
  },
  {
    name: 'streaming: what is sent in part is sent to its end',
    run: async (served) => {
      const { t, stage, open } = served
      const client = await open()
      const answer = client.ask('/stream')
      await client.until('one')
      const { ended } = await stopUntil(served, 'NotAcceptingNewRequest')
      stage.stream.open()
      expect(await answer).toEqual({ status: 200, body: 'one\ntwo\n' })
      const report = await t.end(ended)
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, connections: { ended: 0, forced: 0 } })
    },
  },
  {
    name: 'an event stream: told to end, ends, and is no request',
    run: async ({ t, open }) => {
      const client = await open()
      const answer = client.ask('/watch')
      await client.until('begun')
      const report = await t.end()
      expect(await answer).toMatchObject({ status: 200, body: 'data: begun\n\ndata: last\n\n' })
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, watches: { before: 1, after: 0 }, connections: { forced: 0 } })
    },
  },
  {
    name: 'an event stream whose handler does not listen: waited for like a request',
    run: async (served) => {
      const { t, stage, open } = served
      const client = await open()
      const answer = client.ask('/events')
      await client.until('begun')
      const ended = t.life.stop()
      await t.clock.advance(2 * WATCH_GRACE_MS)
      stage.stream.open()
      expect(await answer).toMatchObject({ status: 200, body: 'data: begun\n\ndata: last\n\n' })
      expect(await t.end(ended)).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, watches: { before: 0 }, warnings: [] })
    },
  },
  {
    name: 'a watch that does not end: broken off at the end of its grace, by name, without cost',
    run: async (served) => {
      const { t, open } = served
      const client = await open()
      const answer = expect(client.ask('/endless')).rejects.toThrow()
      await client.until('begun')
      const report = await t.end()
      await answer
      expect(report).toMatchObject({
        exitCode: 0,
        watches: { before: 1, after: 1, cut: [{ name: 'GET /endless' }] },
        connections: brokenOff(served, 'GET /endless'),
      })
      expect(lasted(report)).toBeLessThan(2 * WATCH_GRACE_MS)
    },
  },
  {
    name: 'a watch that has had no byte of an answer: it is lost, and that has its exit code',
    run: async (served) => {
      const { t, open } = served
      const client = await open()
      const answer = expect(client.ask('/mute')).rejects.toThrow()
      await expect.poll(() => t.life.counts().watches, POLL).toBe(1)
      const report = await t.end()
      await answer
      expect(report).toMatchObject({ exitCode: 5, watches: { before: 1, after: 1 }, connections: brokenOff(served, 'GET /mute') })
    },
  },
  {
    name: 'a client that has left before its answer: the handler is waited for until it has ended that',
    run: async (served) => {
      const { t, stage, open } = served
      const client = await open()
      void client.ask('/late').catch(() => undefined)
      await stage.slow.reached
      client.leave()
      await expect.poll(() => t.life.counts().requests, POLL).toBe(0)
      const { ended } = await stopUntil(served, 'LastCallComplete')
      await t.clock.advance(1_000)
      stage.slow.open()
      const { exitCode, phases } = await t.end(ended)
      const handlers = phases.find(({ name }) => name === 'handlers')
      expect(exitCode).toBe(0)
      const waitedMs = (handlers?.end ?? 0) - (handlers?.start ?? 0)
      expect(waitedMs).toBeGreaterThan(500)
      expect(waitedMs).toBeLessThan(GIVEN_UP_MS)
    },
  },
  {
    name: 'a watch that does not end behind a request: that is answered first',
    appliesTo: ({ isInOrder }) => isInOrder,
    run: async (served) => {
      const { t, stage, open } = served
      const client = await open()
      const answer = client.ask('/slow')
      const lost = expect(client.ask('/endless')).rejects.toThrow()
      await stage.slow.reached
      await expect.poll(() => t.life.counts().watches, POLL).toBe(1)
      const ended = t.life.stop()
      await pass(served, 'the end of the watch grace', () => t.life.counts().watches === 0)
      stage.slow.open()
      expect(await answer).toEqual({ status: 200, body: 'done\n' })
      const report = await t.end(ended)
      await lost
      expect(report).toMatchObject({
        requests: { before: 1, after: 0 },
        watches: { before: 1, after: 1 },
        connections: { forced: 1 },
      })
    },
  },
  {
    name: 'a request behind a watch that does not end: lost with it, by name',
    appliesTo: ({ isInOrder }) => isInOrder,
    run: async ({ t, open }) => {
      const client = await open()
      const lost = ['/endless', '/hello'].map((path) => expect(client.ask(path)).rejects.toThrow())
      await client.until('begun')
      await expect.poll(() => t.life.counts().requests, POLL).toBe(1)
      const report = await t.end()
      await Promise.all(lost)
      expect(report).toMatchObject({ exitCode: 5, requests: { after: 1, cut: [{ name: 'GET /hello' }] }, watches: { after: 1 } })
    },
  },
  {
    name: 'upgraded: told to end, says goodbye, and costs nothing',
    appliesTo: ({ upgrades }) => upgrades,
    run: async ({ t, open }) => {
      const client = await open()
      expect(await client.upgrade('/polite')).toBe(101)
      expect(t.life.counts()).toMatchObject({ requests: 0, watches: 1, connections: { open: 1, idle: 0 } })
      const ended = t.life.stop()
      await Promise.all([t.end(ended), client.until('bye')])
      expect(await client.ended()).toBe('ended')
      expect(await ended).toMatchObject({ exitCode: 0, watches: { before: 1, after: 0 }, connections: { forced: 0 } })
    },
  },
  {
    name: 'upgraded, and its handler does not end it: broken off at the end of the grace, by name',
    appliesTo: ({ upgrades }) => upgrades,
    run: async ({ t, open }) => {
      const client = await open()
      expect(await client.upgrade('/stays')).toBe(101)
      const report = await t.end()
      expect(await client.ended()).toBeOneOf(['ended', 'reset'])
      expect(report).toMatchObject({
        exitCode: 0,
        watches: { before: 1, after: 1, cut: [{ name: 'GET /stays' }] },
        connections: { forced: 1 },
      })
    },
  },
  {
    name: 'upgraded, and its handler will never end it: closed when nothing moves on it',
    appliesTo: ({ upgrades }) => upgrades,
    run: async ({ t, open }) => {
      const client = await open()
      expect(await client.upgrade('/rude')).toBe(101)
      const report = await t.end()
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, watches: { before: 1, after: 0, cut: [] } })
      expect(report.connections).toMatchObject({ idleUnnotified: 1, forced: 0, forcedNames: [] })
    },
  },
  {
    name: 'upgraded, and it moves bytes until the end of the grace: lost, by name',
    appliesTo: ({ upgrades }) => upgrades,
    run: async ({ t, open }) => {
      const client = await open()
      expect(await client.upgrade('/moves')).toBe(101)
      const report = await t.end()
      expect(await client.ended()).toBeOneOf(['ended', 'reset'])
      expect(report).toMatchObject({
        exitCode: 5,
        watches: { before: 1, after: 1, cut: [{ name: 'GET /moves' }] },
        connections: { forced: 1, forcedNames: [{ name: expect.stringMatching(/ GET \/moves$/) as string }] },
      })
    },
  },
  {
    name: 'upgraded, and there is no grace: closed in order, by name',
    appliesTo: ({ upgrades }) => upgrades,
    options: { watchGrace: 0 },
    run: async ({ t, open }) => {
      const client = await open()
      expect(await client.upgrade('/rude')).toBe(101)
      const report = await t.end()
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { forced: 1 } })
    },
  },
  {
    name: 'an upgrade that comes after the last call, on a connection that was never told: let in and ended, or sent away',
    appliesTo: ({ upgrades }) => upgrades,
    run: async (served) => {
      const { t, open, mode } = served
      const client = await open()
      const rest = client.halfUpgrade('/polite')
      await connected(served, 1)
      const { ended } = await stopUntil(served, 'LastCallComplete')
      const isLetIn = mode === 'refuse'
      expect(await rest()).toBe(isLetIn ? 101 : 429)
      if (isLetIn) await client.until('bye')
      const report = await t.end(ended)
      expect(await client.ended()).toBe('ended')
      // Nothing tells the client of an unknown protocol.
      expect(report).toMatchObject({ exitCode: 0, requests: { after: 0 }, connections: { notified: isLetIn ? 0 : 1, forced: 0 } })
    },
  },
  {
    name: 'a handler that fails before it has answered: 500, and the connection goes on',
    run: async ({ t, open }) => {
      const client = await open()
      expect(await client.ask('/throws')).toEqual({ status: 500, body: 'Internal Server Error\n' })
      expect(await client.ask('/hello')).toMatchObject({ status: 200 })
      expect(await t.end()).toMatchObject({ exitCode: 0, errors: [{ where: 'handler GET /throws' }], connections: { forced: 0 } })
    },
  },
  {
    name: 'a handler that fails in the middle of its answer: no client takes the part for the whole',
    run: async ({ t, open }) => {
      const client = await open()
      await expect(client.ask('/part')).rejects.toThrow()
      expect(await t.end()).toMatchObject({ exitCode: 0, errors: [{ where: 'handler GET /part' }] })
    },
  },
  {
    name: 'the handler of an upgrade that fails: 500, and closed',
    appliesTo: ({ upgrades }) => upgrades,
    run: async ({ t, open }) => {
      const client = await open()
      expect(await client.upgrade('/throws')).toBe(500)
      expect(await client.ended()).toBe('ended')
      expect(await t.end()).toMatchObject({ exitCode: 0, errors: [{ where: 'handler GET /throws' }], connections: { forced: 0 } })
    },
  },
  {
    name: 'a request that is never answered: cut at the deadline, by name',
    run: async ({ t, open }) => {
      const client = await open()
      const lost = expect(client.ask('/hang')).rejects.toThrow()
      await expect.poll(() => t.life.counts().requests, POLL).toBe(1)
      const report = await t.end()
      await lost
      expect(report).toMatchObject({
        exitCode: 5,
        requests: { before: 1, after: 1, cut: [{ name: 'GET /hang' }] },
        connections: { notified: 0, forced: 1, forcedNames: [{ name: expect.stringMatching(/^127\.0\.0\.1:\d+ GET \/hang$/) }] },
      })
    },
  },
  {
    name: 'in its handshake, of which nothing came: known from its accept on, closed with the idle ones, named, without cost',
    appliesTo: ({ shakeHands }) => shakeHands !== undefined,
    run: async (served) => {
      const { t, adapter, port } = served
      const handshake = await adapter.shakeHands?.(port, 'nothing')
      await connected(served, 1)
      const report = await t.end()
      expect(await handshake?.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 1, forced: 0 }, warnings: [unfinished(1)] })
      expect(lasted(report)).toBeLessThanOrEqual(FIRST_HEAD_MS)
    },
  },
  {
    name: 'in its handshake, of which half came: has a second from its accept, is named, and costs nothing',
    appliesTo: ({ shakeHands }) => shakeHands !== undefined,
    run: async (served) => {
      const { t, adapter, port } = served
      const handshake = await adapter.shakeHands?.(port, 'half')
      await connected(served, 1)
      const report = await t.end()
      expect(await handshake?.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 1, forced: 0 }, warnings: [unfinished(1)] })
      expect(lasted(report)).toBeLessThanOrEqual(FIRST_HEAD_MS)
      expect(lasted(report)).toBeGreaterThan(LAST_CALL_MS)
    },
  },
  {
    name: 'in its handshake when idle ones are closed: it may end it, and its request is answered and told',
    appliesTo: ({ shakeHands }) => shakeHands !== undefined,
    run: async (served) => {
      const { t, adapter, port } = served
      const handshake = await adapter.shakeHands?.(port, 'half')
      await connected(served, 1)
      const { ended } = await stopUntil(served, 'LastCallComplete')
      const client = (await handshake?.finish()) as Client
      expect(t.life.counts().connections).toMatchObject({ open: 1 })
      expect(await client.ask('/hello')).toMatchObject(lastAnswer(served))
      await expectTold(served, client, 1)
      const report = await t.end(ended)
      expect(await client.ended()).toBe('ended')
      expect(report).toMatchObject({ exitCode: 0, connections: { notified: 1, idleUnnotified: 0, forced: 0 }, warnings: [] })
    },
  },
  {
    name: 'a handshake that ends is no second connection',
    appliesTo: ({ shakeHands }) => shakeHands !== undefined,
    run: async (served) => {
      const { t, adapter, port } = served
      const handshake = await adapter.shakeHands?.(port, 'half')
      await connected(served, 1)
      const client = (await handshake?.finish()) as Client
      expect(await client.ask('/hello')).toMatchObject({ status: 200 })
      expect(t.life.counts().connections).toMatchObject({ open: 1, notified: 0, idle: 1 })
      client.leave()
      await connected(served, 0)
      expect(await t.end()).toMatchObject({ exitCode: 0, warnings: [] })
    },
  },
  {
    name: 'a handshake that fails is not counted any more',
    appliesTo: ({ shakeHands }) => shakeHands !== undefined,
    run: async (served) => {
      const { t, adapter, port } = served
      const handshake = await adapter.shakeHands?.(port, 'half')
      await connected(served, 1)
      handshake?.leave()
      await connected(served, 0)
      expect(await t.end()).toMatchObject({ exitCode: 0, connections: { idleUnnotified: 0, forced: 0 }, warnings: [] })
    },
  },
]

const unfinished = (count: number) => ({
  message: 'connections were closed before their TLS handshake had ended',
  details: { count, clients: [expect.stringMatching(/^127\.0\.0\.1:\d+ TLS handshake$/)] },
})

/** Runs one case of the suite, for the test that is under way. */
export async function conforms(
  adapter: TransportAdapter,
  mode: Mode,
  { options, run }: Case,
  { toldWithinMs = POLL.timeout } = {},
): Promise<void> {
  await run({ ...(await serve(adapter, mode, options)), toldWithinMs })
}

/** All of it, as tests. */
export function conformance(adapter: TransportAdapter): void {
  const applicable = CASES.filter(({ appliesTo }) => appliesTo?.(adapter) ?? true)
  describe.each(MODES)(`a connection of ${adapter.name}, %s`, (mode) => {
    test.each(applicable)('$name', (one) => conforms(adapter, mode, one))
  })
}
