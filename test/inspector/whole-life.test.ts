// What inspectors of xstate see of a whole life with a stop. Fails when: a lifecycle signal is no
// event of its name, or none of the definitions says who raises it; a machine is not announced with
// its definition; an inspector of one's own misses what the socket's receiver gets, or one that
// throws changes the life.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createWebSocketInspector, createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import type { InspectionEvent } from 'xstate'
import { batchesMachine } from '#apiserver/audit/batches.ts'
import type { ApiServerConfig } from '#apiserver/config.ts'
import type { Life } from '#src/index.ts'
import { composeLifecycle } from '#src/machines/lifecycle.ts'
import type { Report } from '#src/report/report.ts'
import { serveApi } from '../support/api-server.ts'
import { newLife } from '../support/life.ts'
import { machinesOf } from '../support/machine-walk.ts'
import { temporaryFolder } from '../support/process.ts'

/** Every machine that works in a life, and the audit's beside it. */
const MACHINES = [...new Set([...machinesOf(composeLifecycle({ mode: 'refuse' })).map(([, { id }]) => id), batchesMachine.id])].sort()

/** A life in which every machine has its turn. */
async function wholeLife(config: ApiServerConfig, whileServing: (life: Life, log: readonly { fields: object }[]) => Promise<void>) {
  const path = join(temporaryFolder(), 'audit.log')
  const paths = new AbortController()
  const { life, lines, ask } = await serveApi({
    config: {
      auditLog: { path, mode: 'batch' },
      auditPolicy: { rules: [{ level: 'Metadata' }] },
      ...config,
    },
    setUp: (server) => {
      server.addMuxCompleteSignal('paths', paths.signal)
      server.addPreShutdownHook('leave', () => {})
      server.addDestroy('pool', () => {})
    },
  })
  await whileServing(life, lines)
  paths.abort()
  expect((await ask('/readyz')).status).toBe(200)
  return life.stop('the test asks')
}

/** Each signal that the report knows is an event, once, from the root to itself, in that order. */
function expectSignals(received: readonly StatelyInspectionEvent[], { signals }: Report): void {
  const root = received[0]?.sessionId
  const names = signals.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['Serving', 'MuxAndDiscoveryComplete', 'HasBeenReady', 'ShutdownInitiated', 'Ended']))
  const raised = received.flatMap((message) =>
    message.type === '@xstate.event' && message.sessionId === root && message.sourceId === root ? [message.event.type] : [],
  )
  expect(raised.filter((type) => names.includes(type))).toEqual(names.filter((name) => raised.includes(name)))
  expect(names.filter((name) => !raised.includes(name))).toEqual([])
}

/** And who raises each is in the definition of the root. */
function expectDefinitions(received: readonly StatelyInspectionEvent[], { signals }: Report): void {
  const definitions = received.flatMap((message) => (message.type === '@xstate.actor' && message.definition ? [message.definition] : []))
  const ids = definitions.flatMap((definition) => {
    const { id, states } = JSON.parse(definition) as { readonly id?: string; readonly states?: object }
    return states ? [id as string] : []
  })
  expect([...new Set(ids)].sort()).toEqual(MACHINES)
  const raised = raisedIn(JSON.parse(definitions[0] as string))
  expect(signals.flatMap(({ name }) => (raised.includes(name) ? [] : [name]))).toEqual([])
}

/** Names of what is raised anywhere in a definition. */
function raisedIn(definition: unknown): string[] {
  if (typeof definition !== 'object' || definition === null) return []
  const { type, params } = definition as { readonly type?: string; readonly params?: { readonly event?: { readonly type: string } } }
  if (type === 'xstate.raise' && params?.event) return [params.event.type]
  return Object.values(definition).flatMap(raisedIn)
}

describe('of a whole life', () => {
  test('the receiver of the socket gets every signal as an event and every machine with its definition', async () => {
    const received: StatelyInspectionEvent[] = []
    const report = await wholeLife({ inspector: true }, async (_, lines) => {
      const urls = lines.flatMap(({ fields }) => ('url' in fields ? [String(fields.url)] : []))
      createWebSocketReceiver({ server: `${urls[0]?.replace('http', 'ws')}ws` }).subscribe((message) => void received.push(message))
      await expect.poll(() => received.length, { timeout: 20_000 }).toBeGreaterThan(0)
    })
    const before = ['Start', 'AuditRunning', 'Bound', 'Serving', 'PostStartHooksLaunched', 'PostStartHooksDone', 'Announced']
    expectDefinitions(received, report)
    const after = { ...report, signals: report.signals.filter(({ name }) => !before.includes(name)) }
    expect(after.signals.map(({ name }) => name)).toContain('MuxAndDiscoveryComplete')
    const events = received.flatMap((message) => (message.type === '@xstate.event' ? [message.event.type] : []))
    expect(after.signals.filter(({ name }) => !events.includes(name))).toEqual([])
  })

  test('an inspector of the package gets the same as the option inspect, from the first event on', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const received: StatelyInspectionEvent[] = []
    server.on('connection', (socket) => socket.on('message', (data) => void received.push(JSON.parse(String(data)))))
    const { port } = server.address() as AddressInfo
    const inspect = createWebSocketInspector({ url: `ws://127.0.0.1:${port}`, serializationDepthLimit: 20 })
    onTestFinished(() => inspect.stop())
    const report = await wholeLife({ inspect }, async () => {})
    const isEnded = (): boolean => received.some((message) => message.type === '@xstate.event' && message.event.type === 'Ended')
    await expect.poll(isEnded, { timeout: 20_000 }).toBe(true)
    const { sessionId } = received.find((message) => message.type === '@xstate.actor') as StatelyInspectionEvent
    const first = received.filter((message) => message.sessionId === sessionId)
    expectSignals([...first, ...received.filter((message) => !first.includes(message))], report)
    expectDefinitions(received, report)
  })
})

test('a function and an observer get what xstate emits, also beside the inspector page', async () => {
  const seen: InspectionEvent[] = []
  for (const inspect of [(event: InspectionEvent) => void seen.push(event), { next: (event: InspectionEvent) => void seen.push(event) }]) {
    seen.length = 0
    const t = newLife({ options: { inspect, inspector: true } })
    await t.life.start()
    await t.end()
    expect(seen[0]).toMatchObject({ type: '@xstate.actor', actorRef: { logic: { id: 'lifecycle' } } })
    const raised = seen.flatMap((event) => (event.type === '@xstate.event' && event.sourceRef === event.actorRef ? [event.event.type] : []))
    expect(raised.filter((type) => t.signals.includes(type))).toEqual(t.signals)
  }
})

test('an inspector that throws is named once, and the life goes as it would', async () => {
  const t = newLife({
    options: {
      inspect: () => {
        throw new Error('no inspector today')
      },
    },
  })
  await t.life.start()
  expect((await t.get('/')).status).toBe(200)
  const { errors, exitCode } = await t.end()
  expect(errors).toMatchObject([{ where: 'inspect', error: { message: 'no inspector today' } }])
  expect([exitCode, t.signals.at(-1)]).toEqual([0, 'Ended'])
})
