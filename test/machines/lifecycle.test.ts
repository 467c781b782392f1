// Fails when: the signals of a shutdown come in another order than upstream's, a signal fires
// twice, a phase ends twice or not at all, a late answer changes anything, or some order of what
// the outside says leaves a life without an end.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LifecycleEvent } from '#src/base/events.ts'
import { effectiveWiring } from '#src/machines/lifecycle.ts'
import { CUT_SIGNALS, UPSTREAM_SIGNALS } from '#src/machines/signals.ts'
import { type Mode, WIRING } from '#src/machines/wiring.ts'
import {
  type Answer,
  CUTS,
  DEADLINE,
  FakeLife,
  type LifePlan,
  never,
  PROFILES,
  rejects,
  resolves,
  servingLife,
} from '../support/fake-effects.ts'
import { seed } from '../support/seed.ts'

const MODES: readonly Mode[] = ['refuse', 'retry-after']

/** Traffic: a request that outlasts the closing of the listener, connections, a hook. */
const busy: LifePlan = {
  preShutdownHooks: ['leave'],
  destroyFunctions: ['pool'],
  script: {
    drainRequests: resolves(300),
    acceptThenClose: resolves(1),
    lingerConnections: resolves(20),
    waitForHandlers: resolves(10),
    auditShutdown: resolves(30),
    runHook: resolves(5),
  },
}

describe('the whole sequence', () => {
  // Upstream's tests of the whole sequence start a hook that outlasts the delay:
  // PreShutdownHooksStopped comes second.
  const slowHook: LifePlan = {
    ...busy,
    preShutdownHooks: [{ name: 'leave', timeoutMs: 10_000 }],
    script: { ...busy.script, 'pre-shutdown:leave': resolves(6_000) },
  }
  const upstreams = (life: FakeLife) => life.signals.filter((name) => name in UPSTREAM_SIGNALS && name !== 'MuxAndDiscoveryComplete')
  const before = ['ShutdownInitiated', 'AfterShutdownDelayDuration', 'PreShutdownHooksStopped', 'NotAcceptingNewRequest']

  test('of the plain mode is upstream’s (GT-16)', async () => {
    const life = await servingLife({ ...slowHook, mode: 'refuse' })
    await life.signal()
    await life.toEnd()
    expect(upstreams(life)).toEqual([...before, 'HTTPServerStoppedListening', 'InFlightRequestsDrained'])
  })

  test('of the retry-after mode is upstream’s (RA-07)', async () => {
    const life = await servingLife({ ...slowHook, mode: 'retry-after' })
    await life.signal()
    await life.toEnd()
    expect(upstreams(life)).toEqual([...before, 'InFlightRequestsDrained', 'HTTPServerStoppedListening'])
  })

  test.each(MODES)('takes its time where it waits, and none elsewhere (%s)', async (mode) => {
    const life = await servingLife({ ...busy, mode })
    await life.signal()
    await life.toEnd()
    const at = Object.fromEntries(life.facts.flatMap((fact) => (fact.type === 'signal' ? [[fact.name, fact.at]] : [])))
    // In the mode refuse the drain begins when the listeners have closed, which takes 1 ms here,
    // and in the other one it is the other way round.
    const listening = mode === 'refuse' ? 5_001 : 5_301
    const drained = mode === 'refuse' ? 5_301 : 5_300
    expect(at).toMatchObject({
      StopRequested: 0,
      ShutdownInitiated: 0,
      PreShutdownHooksStopped: 5,
      ClientsNotified: 2_500,
      AfterShutdownDelayDuration: 5_000,
      NotAcceptingNewRequest: 5_000,
      WatchesDrained: 5_000,
      RequestsDrained: drained,
      InFlightRequestsDrained: drained,
      HTTPServerStoppedListening: listening,
      LastCallComplete: listening,
      HandlersDone: drained + 10,
      AuditStopped: drained + 30,
      ConnectionsClosed: 5_321,
      Destroyed: drained + 35,
      AdminClosed: drained + 35,
      ReportWritten: drained + 35,
      Ended: drained + 35,
    })
    expect([life.exitCode, life.amiss]).toEqual([0, {}])
  })

  test.each(MODES)('says that a phase has ended before it fires its signal, and that before the next begins (%s)', async (mode) => {
    const life = await servingLife({ ...busy, mode })
    await life.signal()
    await life.toEnd()
    const index = (type: string, name: string) =>
      life.facts.findIndex((fact) => fact.type === type && ('phase' in fact ? fact.phase : 'name' in fact && fact.name) === name)
    for (const [phase, { after, fires, work }] of Object.entries(effectiveWiring({ mode }))) {
      if (life.outcomes[phase] === 'skipped') continue
      expect(index('phase.ended', phase), phase).toBe(index('signal', fires) - 1)
      const begins = work === undefined ? index('phase.ended', phase) : index('phase.started', phase)
      if (begins === -1) continue
      for (const signal of after) expect([phase, signal, begins > index('signal', signal)]).toEqual([phase, signal, true])
    }
  })

  test('ends with the fact that it has ended, once', async () => {
    const life = await servingLife(busy)
    await life.signal()
    await life.toEnd()
    expect(life.facts.filter(({ type }) => type === 'ended')).toHaveLength(1)
    expect(life.facts.at(-1)).toMatchObject({ type: 'ended', exitCode: 0 })
  })
})

describe('telling clients', () => {
  test.each(['gradual', 'at-once', 'after-delay'] as const)(
    'is done as configured over the delay of the stop: %s',
    async (notifyClients) => {
      const life = await servingLife({ notifyClients })
      await life.signal()
      await life.toEnd()
      expect(life.effects.calls.find(({ effect }) => effect === 'beginNotifying')?.input).toEqual({ how: notifyClients, delayMs: 5_000 })
    },
  )

  test.each(['gradual', 'at-once', 'after-delay'] as const)(
    'is done at once without a delay, whatever is configured: %s',
    async (notifyClients) => {
      const life = await servingLife({ notifyClients })
      await life.signal('SIGINT', true)
      await life.toEnd()
      expect(life.effects.calls.find(({ effect }) => effect === 'beginNotifying')?.input).toEqual({ how: 'at-once', delayMs: 0 })
      expect(life.at('ClientsNotified')).toBe(0)
    },
  )
})

describe('outcomes', () => {
  test('a failing stop phase is on record, costs exit code 4, and everything goes on', async () => {
    for (const [effect, phase] of [
      ['beginNotifying', 'notify-clients'],
      ['drainRequests', 'request-drain'],
      ['drainWatches', 'watch-drain'],
      ['acceptThenClose', 'close-listener'],
      ['closeIdleConnections', 'last-call'],
      ['lingerConnections', 'close-connections'],
      ['waitForHandlers', 'handlers'],
      ['auditShutdown', 'audit-shutdown'],
      ['closeAdmin', 'admin-listener'],
      ['writeReport', 'report'],
      ['destroy:pool', 'destroy'],
      ['pre-shutdown:leave', 'pre-shutdown-hooks'],
    ] as const) {
      const life = await servingLife({ ...busy, script: { ...busy.script, [effect]: rejects('broken') } })
      await life.signal()
      await life.toEnd()
      expect([effect, life.amiss, life.exitCode]).toEqual([effect, { [phase]: 'failed' }, 4])
      expect(life.phase(phase)?.error?.message).toContain('broken')
      expect(life.signals.at(-1)).toBe('Ended')
    }
  })

  test('PreShutdownHooksStopped carries the failure of the hooks, and the phase their texts (PS-07)', async () => {
    const life = await servingLife({
      preShutdownHooks: ['a', 'b'],
      script: { 'pre-shutdown:a': rejects('x'), 'pre-shutdown:b': rejects('y') },
    })
    await life.signal()
    await life.toEnd()
    expect(life.signalFact('PreShutdownHooksStopped')?.outcome).toBe('failed')
    expect(life.phase('pre-shutdown-hooks')?.error?.message).toBe('[PreShutdownHook "a" failed: x, PreShutdownHook "b" failed: y]')
    expect(life.signalFact('InFlightRequestsDrained')?.outcome).toBe('ok')
    expect(life.exitCode).toBe(4)
  })

  test('a watch that was lost at the end of its grace costs exit code 5, and the phase says why', async () => {
    const life = await servingLife({ script: { drainWatches: never, terminateWatches: resolves(0, { lost: 1 }) } })
    await life.stop()
    await life.toEnd()
    expect([life.exitCode, life.amiss]).toEqual([5, { 'watch-drain': 'cut' }])
    expect(life.phase('watch-drain')?.error).toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  test('a watch grace or a connection timeout that is used up costs nothing', async () => {
    const life = await servingLife({ connectionTimeoutMs: 100, script: { drainWatches: never, lingerConnections: never } })
    await life.signal()
    await life.toEnd()
    expect([life.exitCode, life.amiss]).toEqual([0, { 'watch-drain': 'cut', 'close-connections': 'cut' }])
    expect(life.endedAt).toBe(5_000 + 8_000 + 100)
  })

  test('the limit of the request drain, used up, costs what a cut costs; nothing waits for the budget after it', async () => {
    const life = await servingLife({ requestDrainTimeoutMs: 300, script: { drainRequests: never } })
    await life.signal()
    await life.toEnd()
    expect([life.exitCode, life.amiss, life.endedAt]).toEqual([5, { 'request-drain': 'cut' }, 5_300])
    expect(life.effects.called).toContain('breakOffRequests')
  })

  test('a limit of the request drain that is longer than the budget changes nothing', async () => {
    const life = await servingLife({ requestDrainTimeoutMs: 60_000, script: { drainRequests: never } })
    await life.signal()
    await life.toEnd()
    expect([life.exitCode, life.phase('request-drain')?.at]).toEqual([5, CUTS.requests])
    expect(life.effects.called).not.toContain('breakOffRequests')
  })

  test('the most severe exit code wins, whatever comes after it', async () => {
    const life = await servingLife({ preShutdownHooks: ['leave'], script: { 'pre-shutdown:leave': rejects('x'), drainRequests: never } })
    await life.crash()
    await life.toEnd()
    expect(life.amiss).toEqual({ 'pre-shutdown-hooks': 'failed', 'request-drain': 'cut' })
    expect(life.exitCode).toBe(1)
  })

  test('hooks and destroy functions may be replaced until they begin', async () => {
    const life = await servingLife({ preShutdownHooks: ['old'], destroyFunctions: ['old'] })
    await life.send({ type: 'pre-shutdown-hooks.changed', hooks: [{ kind: 'pre-shutdown', name: 'new', timeoutMs: 10, after: [] }] })
    await life.signal()
    await life.send({ type: 'pre-shutdown-hooks.changed', hooks: [] })
    await life.send({ type: 'destroy-functions.changed', functions: [{ kind: 'destroy', name: 'late', timeoutMs: 10 }] })
    await life.toEnd()
    expect(life.hooks()).toEqual(['started new', 'ok new', 'started late', 'ok late'])
  })
})

describe('the budget', () => {
  const longer = { ...PROFILES, default: { ...PROFILES.default, cutsMs: { ...CUTS, requests: CUTS.requests + 200 } } }

  test('may change until a stop is requested, and not after that', async () => {
    const life = await servingLife({ script: { drainRequests: never } })
    await life.send({ type: 'budget.changed', profiles: longer })
    await life.signal()
    await life.send({ type: 'budget.changed', profiles: PROFILES })
    await life.toEnd()
    expect(life.signalFact('StopRequested')?.budget).toEqual(longer.default)
    expect(life.at('Cut.requests')).toBe(CUTS.requests + 200)
  })
})

// --- any order of events -------------------------------------------------------------------------

const EFFECTS = [
  'auditRun',
  'bind',
  'announce',
  'post-start:warm',
  'beginNotifying',
  'completeNotifying',
  'pre-shutdown:leave',
  'drainRequests',
  'cutRequests',
  'drainWatches',
  'terminateWatches',
  'acceptThenClose',
  'lingerConnections',
  'destroyConnections',
  'waitForHandlers',
  'nameHandlers',
  'auditShutdown',
  'destroy:pool',
  'startRest',
  'phase:flush',
  'closeAdmin',
  'flushLogs',
  'writeReport',
  'writeReportNow',
] as const

const answer: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(resolves()) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 30_000 }).map((ms) => resolves(ms)) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 30_000 }).map((ms) => rejects('broken', ms)) },
  { weight: 2, arbitrary: fc.constant(never) },
)
const script = fc.record(
  Object.fromEntries(EFFECTS.map((effect) => [effect, answer])) as Record<(typeof EFFECTS)[number], fc.Arbitrary<Answer>>,
)

const deeds = {
  start: (life: FakeLife) => life.start(),
  stop: (life: FakeLife) => life.stop(),
  signal: (life: FakeLife) => life.signal(),
  interrupt: (life: FakeLife) => life.signal('SIGINT', true),
  crash: (life: FakeLife) => life.crash(),
  listenerDied: (life: FakeLife) => life.listenerDied(),
  ready: (life: FakeLife) => life.send({ type: 'readyz.passed' }),
  mux: (life: FakeLife) => life.mux('apis'),
  hooksChanged: (life: FakeLife) =>
    life.send({ type: 'pre-shutdown-hooks.changed', hooks: [{ kind: 'pre-shutdown', name: 'new', timeoutMs: 10, after: [] }] }),
} as const
const deed = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.integer({ min: 1, max: 12_000 }).map((ms) => ({ name: `${ms} ms`, does: (life: FakeLife) => life.clock.advance(ms) })),
  },
  { weight: 5, arbitrary: fc.constantFrom(...Object.entries(deeds).map(([name, does]) => ({ name, does }))) },
)

class StoriedLife extends FakeLife {
  /** How many deeds of its story came before its end. */
  deedsDone = 0
}

interface Story {
  readonly mode: Mode
  readonly script: Record<string, Answer>
  readonly deeds: readonly { readonly name: string; readonly does: (life: FakeLife) => Promise<void> }[]
}
const story: fc.Arbitrary<Story> = fc
  .record({ mode: fc.constantFrom(...MODES), script, deeds: fc.array(deed, { maxLength: 12 }) })
  .map((it) => ({
    ...it,
    [fc.toStringMethod]: () => `${it.mode}: ${it.deeds.map(({ name }) => name).join(', ')}; ${JSON.stringify(it.script)}`,
  }))

const userPhases = [{ name: 'flush', after: ['RequestsDrained'], before: ['destroy'], timeoutMs: 20_000 }]

async function live({ mode, script, deeds }: Story): Promise<StoriedLife> {
  const life = new StoriedLife({
    mode,
    script,
    postStartHooks: ['warm'],
    preShutdownHooks: ['leave'],
    destroyFunctions: ['pool'],
    muxSignals: ['apis'],
    userPhases,
  })
  for (const { does } of deeds) {
    if (life.ended) break
    await does(life)
    life.deedsDone++
  }
  if (!life.ended) await life.stop()
  return life.toEnd()
}

const isForced = ({ facts }: FakeLife): boolean => facts.some(({ type }) => type === 'forced')
const repeated = (names: readonly string[]): readonly string[] => names.filter((name, i) => names.indexOf(name) !== i)

const START_PHASES = Object.entries(WIRING).flatMap(([phase, { lane }]) => (lane === 'start' ? [phase] : []))
const OWN_LIMITS = ['watch-drain', 'close-connections']

const INVARIANTS: Readonly<Record<string, (life: StoriedLife, story: Story) => void>> = {
  'every life ends, within its deadline': (life) => {
    expect(life.ended).toBe(true)
    expect((life.endedAt as number) - (life.at('StopRequested') as number)).toBeLessThanOrEqual(DEADLINE + 1e-6)
  },
  'a signal fires at most once': (life) => {
    expect(repeated(life.signals)).toEqual([])
  },
  'a phase begins at most once and ends at most once, in this order': (life) => {
    const phases = (type: 'phase.started' | 'phase.ended') => life.facts.flatMap((fact) => (fact.type === type ? [fact.phase] : []))
    const ended = phases('phase.ended')
    expect([...repeated(phases('phase.started')), ...repeated(ended)]).toEqual([])
    const index = (type: string, phase: string) =>
      life.facts.findIndex((fact) => fact.type === type && 'phase' in fact && fact.phase === phase)
    const began = phases('phase.started').filter((phase) => ended.includes(phase))
    for (const phase of began) expect(index('phase.started', phase)).toBeLessThan(index('phase.ended', phase))
  },
  'a hook ends at most once, and one that began ends, unless the life was forced': (life) => {
    const names = (type: 'hook.started' | 'hook.ended') =>
      life.facts.flatMap((fact) => (fact.type === type ? [`${fact.kind} ${fact.name}`] : []))
    const ended = names('hook.ended')
    expect(repeated(ended)).toEqual([])
    if (!isForced(life)) expect(names('hook.started').filter((name) => !ended.includes(name))).toEqual([])
  },
  'every edge of the wiring holds': (life, { mode }) => {
    const index = (name: string) => life.signals.indexOf(name)
    for (const { after, fires } of Object.values(effectiveWiring({ mode, userPhases }))) {
      const waits = index(fires) === -1 ? [] : after.filter((signal) => signal !== 'readyz.passed')
      const late = waits.filter((signal) => index(signal) === -1 || index(signal) > index(fires))
      expect({ fires, late }).toEqual({ fires, late: [] })
    }
  },
  'cuts come in their order': (life) => {
    const order = Object.keys(CUT_SIGNALS)
    const cuts = life.signals.filter((name) => order.includes(name))
    expect(cuts).toEqual(order.slice(0, cuts.length))
  },
  'no start signal fires once a stop was requested': (life, { mode }) => {
    const startSignals = Object.values(effectiveWiring({ mode }))
      .filter(({ lane }) => lane === 'start')
      .map(({ fires }) => fires)
    // Post-start hooks that run already may come to their end during the drain.
    const expected = new Set(['PostStartHooksDone'])
    const afterStop = life.signals.slice(life.signals.indexOf('StopRequested'))
    expect(afterStop.filter((name) => startSignals.includes(name) && !expected.has(name))).toEqual([])
  },
  'every stop signal fires, unless the life was forced': (life, { mode }) => {
    const rows = Object.values(effectiveWiring({ mode, userPhases }))
    if (!isForced(life)) expect(rows.filter(({ lane, fires }) => lane === 'stop' && !life.signals.includes(fires))).toEqual([])
  },
  'what was acquired is released, and nothing else, unless the life was forced': (life) => {
    if (isForced(life)) return
    expect(life.effects.called.includes('auditShutdown')).toBe(life.signals.includes('AuditRunning'))
    expect(life.effects.called.filter((effect) => effect === 'acceptThenClose')).toHaveLength(1)
    const preShutdown = life.effects.called.filter((effect) => effect.startsWith('pre-shutdown:'))
    expect(preShutdown).toHaveLength(life.signals.includes('Serving') ? 1 : 0)
  },
  'the exit code is that of the worst that happened': (life, { deeds }) => {
    const has = (is: (fact: LifecycleEvent) => boolean): boolean => life.facts.some(is)
    const phaseEnded = (lane: 'start' | 'stop', outcome: string, except: readonly string[] = []) =>
      has(
        (fact) =>
          fact.type === 'phase.ended' &&
          fact.outcome === outcome &&
          START_PHASES.includes(fact.phase) === (lane === 'start') &&
          !except.includes(fact.phase),
      )
    const reason = life.signalFact('StopRequested')?.reason?.kind
    const happened: readonly [exitCode: number, boolean][] = [
      [3, reason === 'start-failed'],
      [1, has(({ type }) => type === 'forced') && !has((fact) => fact.type === 'forced' && fact.why === 'deadline')],
      [1, deeds.slice(0, life.deedsDone).some(({ name }) => name === 'crash')],
      [5, has((fact) => fact.type === 'forced' && fact.why === 'deadline') || phaseEnded('stop', 'cut', OWN_LIMITS)],
      [
        4,
        reason === 'listener-died' ||
          phaseEnded('stop', 'failed') ||
          has((fact) => fact.type === 'hook.ended' && fact.outcome === 'failed'),
      ],
      [0, true],
    ]
    const worst = happened.find(([, did]) => did)?.[0] as number
    // Whether one of these was cut by the budget or by its own limit, which costs nothing, the
    // facts do not say.
    const allowed =
      has((fact) => fact.type === 'phase.ended' && fact.outcome === 'cut' && OWN_LIMITS.includes(fact.phase)) && [0, 4].includes(worst)
        ? [worst, 5]
        : [worst]
    expect(allowed).toContain(life.exitCode)
  },
}

describe('in any order of what the outside says, with effects that answer, fail, hang or are late', () => {
  test(`${Object.keys(INVARIANTS).length} invariants hold`, async () => {
    await fc.assert(
      fc.asyncProperty(story, async (it) => {
        const life = await live(it)
        expect(life.errors).toEqual([])
        for (const [sentence, holds] of Object.entries(INVARIANTS)) {
          try {
            holds(life, it)
          } catch (broken) {
            throw new Error(`${sentence}: ${(broken as Error).message}\n${life.facts.map((fact) => JSON.stringify(fact)).join('\n')}`, {
              cause: broken,
            })
          }
        }
      }),
      { seed, numRuns: 60 },
    )
  })

  test('an answer that comes late changes nothing but the report', async () => {
    let lateAnswers = 0
    await fc.assert(
      fc.asyncProperty(story, async (it) => {
        const life = await live(it)
        const late = life.facts.flatMap((fact) => (fact.type === 'late' ? [fact.what] : []))
        // An effect that is called twice may be left the first time and answer the second; silence
        // would be another story.
        fc.pre(late.every((effect) => life.effects.called.filter((other) => other === effect).length === 1))
        lateAnswers += late.length
        const hushed = await live({ ...it, script: { ...it.script, ...Object.fromEntries(late.map((effect) => [effect, never])) } })
        expect(hushed.facts).toEqual(life.facts.filter(({ type }) => type !== 'late'))
      }),
      { seed, numRuns: 60 },
    )
    expect(lateAnswers).toBeGreaterThan(0)
  })
})
