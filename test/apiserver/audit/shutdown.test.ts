// What is audited of an end. Fails when: a request or a watch that is under way at the end has no
// event of its answer, or the backend ends before that; or a refused request leaves an event or is
// counted among the requests that were broken off.
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApiServerOn } from '#apiserver/api-server.ts'
import type { AuditEvent } from '#apiserver/audit/event.ts'
import { addAuditAnnotation, completeConfig, type UserFilter } from '#apiserver/index.ts'
import { shutdownSignalOf } from '#src/index.ts'
import { testLife } from '#src/testing/index.ts'
import { Gate } from '../../conformance/stage.ts'
import { serveApi } from '../../support/api-server.ts'
import { row } from '../../support/row.ts'
import { POLL } from '../../support/upstream-client.ts'
import { Sink } from './sink.ts'

const WATCH = '/apis/a/v1/things?watch=1'

/** A server that drains, with a request and a watch under way. */
async function draining(whileDraining: 'refuse' | 'retry-after') {
  const sink = new Sink()
  const gates = { plain: new Gate(), watch: new Gate() }
  const served = await serveApi({
    config: { whileDraining, watchGrace: '1m', deadline: '10m', audit: sink, auditPolicy: { rules: [{ level: 'Metadata' }] } },
    setUp: (server) => {
      server.handle('/plain', async (_request, response) => {
        await gates.plain.pass()
        response.end('done')
      })
      server.handlePrefix('/apis/', async (request, response) => {
        await gates.watch.pass()
        const notified = shutdownSignalOf(request)
        while (!notified.aborted) await turn()
        response.end('done')
      })
    },
  })
  const asked = { plain: served.ask('/plain'), watch: served.ask(WATCH) }
  await Promise.all([gates.plain.reached, gates.watch.reached])
  const ended = served.life.stop()
  const signal = whileDraining === 'refuse' ? 'HTTPServerStoppedListening' : 'NotAcceptingNewRequest'
  await expect.poll(() => served.life.signal(signal).aborted, POLL).toBe(true)
  return { served, sink, gates, asked, ended }
}

const stagesOf = (sink: Sink, id: string | null): readonly string[] =>
  sink.calls
    .flat()
    .filter(({ auditID }) => auditID === id)
    .map(({ stage, responseStatus }) => `${stage} ${responseStatus?.code ?? 0}`)

describe.each(['refuse', 'retry-after'] as const)('at the end of a server in the mode %s', (mode) => {
  row([mode === 'refuse' ? 'GT-12' : 'RA-04'], 'a request under way is answered and audited', async () => {
    const { sink, gates, asked, ended } = await draining(mode)
    gates.plain.open()
    const answer = await asked.plain
    expect([answer.status, await answer.text()]).toEqual([200, 'done'])
    gates.watch.open()
    expect(await ended).toMatchObject({ exitCode: 0, audit: { delivered: sink.calls.flat().length, lost: 0 } })
    expect(stagesOf(sink, answer.headers.get('audit-id'))).toEqual(['RequestReceived 0', 'ResponseComplete 200'])
    expect(sink.log.at(-1)).toBe('shutdown')
  })

  row([mode === 'refuse' ? 'GT-13' : 'RA-05'], 'a watch is told, ends with its answer, and is audited', async () => {
    const { sink, gates, asked, ended } = await draining(mode)
    gates.plain.open()
    gates.watch.open()
    const answer = await asked.watch
    expect([answer.status, await answer.text()]).toEqual([200, 'done'])
    expect((await ended).exitCode).toBe(0)
    expect(stagesOf(sink, answer.headers.get('audit-id'))).toEqual(['RequestReceived 0', 'ResponseStarted 200', 'ResponseComplete 200'])
  })
})

row('RA-18', 'a refused request has an id and a line in the log, and is neither audited nor counted as broken off', async () => {
  const { served, sink, gates, ended } = await draining('retry-after')
  const before = sink.calls.length
  const answer = await served.ask('/plain')
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([429, null])
  const id = answer.headers.get('audit-id')
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  gates.plain.open()
  gates.watch.open()
  await ended
  expect(stagesOf(sink, id)).toEqual([])
  expect(sink.calls.length).toBeGreaterThan(before)
  expect(served.counted).toEqual([])
  expect(served.lines.filter(({ fields }) => fields['audit-ID'] === id)).toEqual([
    expect.objectContaining({ message: 'HTTP', fields: expect.objectContaining({ resp: 429, URI: '/plain' }) }),
  ])
})

/** A backend that takes nothing once it has heard that the server stops. */
class Closing extends Sink {
  #isClosed = false

  override run(context?: { readonly signal: AbortSignal }): void {
    context?.signal.addEventListener('abort', () => {
      this.#isClosed = true
    })
  }

  override processEvents(batch: readonly AuditEvent[]): boolean | Promise<boolean> {
    this.answer = !this.#isClosed
    return super.processEvents(batch)
  }
}

test('a watch that begins its answer when the backend has stopped is not recorded again', async () => {
  const sink = new Closing()
  const gate = new Gate()
  let isAnswered = false
  const life = await testLife((world) =>
    world.create((host) => {
      const base = { platform: 'unknown', logger: false, exit: 'natural', lastCall: 0, deadline: '10s' } as const
      const server = createApiServerOn(host, completeConfig({ ...base, audit: sink, auditPolicy: { rules: [{ level: 'Metadata' }] } }))
      server.handlePrefix('/', async (_request, response) => {
        await gate.pass()
        response.writeHead(200)
        isAnswered = true
        response.end('late')
      })
      return server.prepare().life
    }),
  )
  onTestFinished(async () => void (await life[Symbol.asyncDispose]()))
  ;(await life.connect()).request({ path: WATCH })
  await gate.reached
  const ended = life.stop()
  await life.clock.advance('10s')
  gate.open()
  await expect.poll(() => isAnswered).toBe(true)
  await ended
  expect(sink.calls.flat().map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete'])
  expect(sink.counts()).toEqual({ delivered: 2, lost: 0, pending: 0 })
})

describe.each(['refuse', 'retry-after'] as const)(
  'what is under way when the time of the drain is over, in the mode %s',
  (whileDraining) => {
    test('has an event of its end, and one only', async () => {
      const sink = new Closing()
      const life = await testLife((world) =>
        world.create((host) => {
          const base = { platform: 'unknown', logger: false, exit: 'natural', lastCall: 0 } as const
          const policy = { audit: sink, auditPolicy: { rules: [{ level: 'Metadata' }] } } as const
          // Whether one upgrade is allowed is never decided: it is refused when it is cut.
          const authorizer = {
            authorize: ({ path }: { readonly path: string }) =>
              path === '/undecided' ? new Promise<never>(() => {}) : ({ decision: 'allow' } as const),
          }
          const times = { whileDraining, deadline: '10s', requestTimeout: 0 } as const
          const server = createApiServerOn(host, completeConfig({ ...base, ...policy, ...times, authorizer }))
          server.handleUpgrade('/undecided', () => {})
          server.handle('/silent', () => {})
          server.handlePrefix('/', (_request, response) => {
            response.writeHead(201)
            response.write('begun')
          })
          return server.prepare().life
        }),
      )
      onTestFinished(async () => void (await life[Symbol.asyncDispose]()))
      const paths = ['/silent', '/begun', WATCH, '/undecided']
      const headers = { Connection: 'Upgrade', Upgrade: 'websocket' }
      for (const path of paths) (await life.connect()).request({ path, ...(path === '/undecided' && { headers }) })
      await life.clock.advance(0)
      const ended = life.stop()
      await life.clock.advance('10s')
      const report = await ended
      const begun = ['RequestReceived 0', 'ResponseComplete 201']
      expect(
        Object.fromEntries(
          paths.map((path) => [
            path,
            sink.calls
              .flat()
              .filter(({ requestURI }) => requestURI === path)
              .map(({ stage, responseStatus }) => `${stage} ${responseStatus?.code ?? 0}`),
          ]),
        ),
      ).toEqual({
        '/silent': ['RequestReceived 0', 'ResponseComplete 200'],
        '/begun': begun,
        '/undecided': ['RequestReceived 0', 'ResponseComplete 503'],
        [WATCH]: ['RequestReceived 0', 'ResponseStarted 201', 'ResponseComplete 201'],
      })
      expect(report.audit).toEqual({ delivered: 9, lost: 0 })
      expect(report.errors.filter(({ where }) => where.startsWith('audit'))).toEqual([])
    })
  },
)

test('of a request that the policy has not decided about by then nothing is recorded, and nothing goes wrong', async () => {
  const sink = new Sink()
  let isAsked = false
  const life = await testLife((world) =>
    world.create((host) => {
      const base = { platform: 'unknown', logger: false, exit: 'natural', lastCall: 0, deadline: '10s', requestTimeout: 0 } as const
      const undecided: UserFilter = {
        name: 'undecided',
        before: 'audit',
        admit: ({ request }) => {
          isAsked = addAuditAnnotation(request, 'example.org/asked', 'yes')
          return new Promise<never>(() => {})
        },
      }
      const auditPolicy = { rules: [{ level: 'Metadata' }] } as const
      return createApiServerOn(host, completeConfig({ ...base, audit: sink, auditPolicy, filters: [undecided] })).prepare().life
    }),
  )
  onTestFinished(async () => void (await life[Symbol.asyncDispose]()))
  ;(await life.connect()).request({ path: '/x' })
  await expect.poll(() => isAsked).toBe(true)
  const ended = life.stop()
  await life.clock.advance('10s')
  const { errors, audit } = await ended
  expect(errors.filter(({ where }) => where.includes('audit'))).toEqual([])
  expect([sink.calls, audit]).toEqual([[], { delivered: 0, lost: 0 }])
})
