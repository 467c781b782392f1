// Fails when: a life outlasts its deadline, a cut comes at another instant than planned, one
// hanging effect costs another phase its time, or a pause of the whole process lets a phase be
// skipped or loses the reserve of destroy.
import { describe, expect, test } from 'vitest'
import type { Clock } from '#src/base/clock.ts'
import type { VirtualClock } from '#src/base/virtual-clock.ts'
import type { Mode } from '#src/machines/wiring.ts'
import {
  CUTS,
  DEADLINE,
  type FakeLife,
  type LifePlan,
  never,
  PROFILES,
  resolves,
  type Script,
  servingLife,
} from '../support/fake-effects.ts'

const MODES: readonly Mode[] = ['refuse', 'retry-after']

/** Hooks whose own timeouts come after every cut, so that only the budget ends them. */
const patient: LifePlan = {
  preShutdownHooks: [{ name: 'leave', timeoutMs: 60_000 }],
  destroyFunctions: [{ name: 'pool', timeoutMs: 60_000 }],
}
const neverEnding = (...effects: readonly string[]): Script => Object.fromEntries(effects.map((effect) => [effect, never]))

/** What waits for something. The others do their work in one step. */
const WAITING = [
  'pre-shutdown:leave',
  'drainRequests',
  'drainWatches',
  'holdConnections',
  'lingerConnections',
  'waitForHandlers',
  'auditShutdown',
  'destroy:pool',
  'closeAdmin',
  'flushLogs',
  'writeReport',
]
/** What is done when a phase is cut. */
const CUTTING = [
  'completeNotifying',
  'cutRequests',
  'terminateWatches',
  'destroyConnections',
  'nameHandlers',
  'startRest',
  'writeReportNow',
]

async function stopped(plan: LifePlan): Promise<FakeLife> {
  const life = await servingLife(plan)
  await life.stop()
  return life.toEnd()
}

/** When each phase of the end ended, and how. */
const ends = (life: FakeLife) =>
  Object.fromEntries(
    life.facts.flatMap((fact) =>
      fact.type === 'phase.ended' && fact.outcome !== 'skipped' ? [[fact.phase, [fact.outcome, fact.at]]] : [],
    ),
  )

describe('the deadline', () => {
  test.each(MODES)('ends a life in which nothing that waits ever ends, every phase cut at its instant (%s)', async (mode) => {
    // A grace longer than the budget, so that the budget and not the grace ends the watches.
    const profiles = { ...PROFILES, default: { ...PROFILES.default, watchGraceMs: 60_000 } }
    const life = await stopped({ ...patient, mode, profiles, script: neverEnding(...WAITING) })
    expect(ends(life)).toMatchObject({
      'notify-clients': ['ok', 2_500],
      'shutdown-delay': ['ok', 5_000],
      'pre-shutdown-hooks': ['cut', CUTS.hooks],
      'request-drain': ['cut', CUTS.requests],
      'watch-drain': ['cut', CUTS.requests],
      handlers: ['cut', CUTS.connections],
      'close-connections': ['cut', CUTS.connections],
      'audit-shutdown': ['cut', CUTS.audit],
      destroy: ['cut', CUTS.destroy],
      'admin-listener': ['cut', CUTS.flush],
    })
    // The report begins at the last cut: what is left to it is the force, which writes it.
    expect(life.facts.slice(-2)).toMatchObject([
      { type: 'forced', why: 'deadline' },
      { type: 'ended', exitCode: 5, at: DEADLINE },
    ])
    expect(life.effects.called.at(-1)).toBe('force')
    expect(life.ended).toBe(true)
  })

  test.each(MODES)('ends also a life in which no cut ever ends (%s)', async (mode) => {
    const life = await stopped({ ...patient, mode, script: neverEnding(...WAITING, ...CUTTING, 'beginNotifying') })
    expect([life.endedAt, life.exitCode, life.ended]).toEqual([DEADLINE, 5, true])
    expect(Object.values(life.amiss).every((outcome) => outcome === 'cut')).toBe(true)
    // A phase whose cut hangs is over at the next instant: it costs the later ones a gap and never
    // their turn.
    expect(ends(life)).toMatchObject({ 'request-drain': ['cut', CUTS.connections], 'audit-shutdown': ['cut', CUTS.audit] })
    expect(life.effects.called).toContain('destroy:pool')
  })

  test('fires the cuts in their order, at the instants of the profile', async () => {
    const life = await stopped({ ...patient, script: neverEnding(...WAITING) })
    const cuts = life.signals.filter((name) => name.startsWith('Cut.') || name === 'Forced')
    expect(cuts.map((name) => [name, life.at(name)])).toEqual([
      ['Cut.hooks', CUTS.hooks],
      ['Cut.requests', CUTS.requests],
      ['Cut.connections', CUTS.connections],
      ['Cut.audit', CUTS.audit],
      ['Cut.destroy', CUTS.destroy],
      ['Cut.flush', CUTS.flush],
      ['Forced', DEADLINE],
    ])
  })

  test('is not waited for by a life that ends before it: no timer is left', async () => {
    const life = await stopped(patient)
    expect([life.endedAt, life.exitCode, life.clock.pending]).toEqual([5_000, 0, 0])
  })
})

describe('one effect that never ends', () => {
  const cases: readonly { readonly effect: string; readonly phase: string; readonly at: number; readonly exitCode?: number }[] = [
    { effect: 'pre-shutdown:leave', phase: 'pre-shutdown-hooks', at: CUTS.hooks },
    { effect: 'drainRequests', phase: 'request-drain', at: CUTS.requests },
    // The grace is shorter than the budget: the user's own limit.
    { effect: 'drainWatches', phase: 'watch-drain', at: 13_000, exitCode: 0 },
    { effect: 'acceptThenClose', phase: 'close-listener', at: CUTS.requests },
    // Its own bound ends it, which is no cut.

    // What is closed then has lost nothing.
    { effect: 'lingerConnections', phase: 'close-connections', at: CUTS.connections, exitCode: 0 },
    { effect: 'waitForHandlers', phase: 'handlers', at: CUTS.connections },
    { effect: 'auditShutdown', phase: 'audit-shutdown', at: CUTS.audit },
    { effect: 'destroy:pool', phase: 'destroy', at: CUTS.destroy },
    { effect: 'closeAdmin', phase: 'admin-listener', at: CUTS.flush },
    { effect: 'flushLogs', phase: 'report', at: CUTS.flush },
    { effect: 'writeReport', phase: 'report', at: CUTS.flush },
    // Its cut hangs as it does, so that only the second one ends it.
    { effect: 'completeNotifying', phase: 'notify-clients', at: CUTS.requests },
  ]

  test.each(cases)('$effect costs its own phase ($phase) and no other its time', async ({ effect, phase, at, exitCode = 5 }) => {
    // Everything else takes a while, so that a later phase would notice a share that is not its
    // own.
    const unhurried = Object.fromEntries(WAITING.map((name) => [name, resolves(20)]))
    const life = await stopped({ ...patient, script: { ...unhurried, [effect]: never } })
    expect(life.amiss).toEqual({ [phase]: 'cut' })
    expect(life.phase(phase)).toMatchObject({ at })
    expect([life.exitCode, life.signals.at(-1), life.facts.some(({ type }) => type === 'forced')]).toEqual([exitCode, 'Ended', false])
    const keepsReserve = (name: string, cut: keyof typeof CUTS) =>
      expect([name, (life.phase(name)?.at ?? Infinity) <= CUTS[cut]]).toEqual([name, true])
    keepsReserve('audit-shutdown', 'audit')
    keepsReserve('destroy', 'destroy')
    keepsReserve('admin-listener', 'flush')
  })

  test.each([
    'beginNotifying',
    'cutRequests',
    'terminateWatches',
    'destroyConnections',
    'nameHandlers',
    'startRest',
    'writeReportNow',
    'force',
  ])('%s costs nothing where nothing waits for it', async (effect) => {
    const life = await stopped({ ...patient, script: neverEnding(effect) })
    expect([life.amiss, life.exitCode, life.endedAt]).toEqual([{}, 0, 5_000])
  })

  test('a phase that begins after its cut is ended by the next one', async () => {
    // The hooks end at their cut; the drain of the requests begins there and has its own share
    // still.
    const life = await stopped({
      ...patient,
      script: neverEnding('pre-shutdown:leave', 'drainRequests', 'phase:late'),
      userPhases: [{ name: 'late', after: ['RequestsDrained'], before: ['in-flight-drained'], timeoutMs: 60_000 }],
    })
    expect(ends(life)).toMatchObject({ 'request-drain': ['cut', CUTS.requests], late: ['cut', CUTS.connections] })
  })
})

/**
 * A process that is stopped from `from` to `to`: every timer that becomes due meanwhile fires
 * afterwards, in the order in which they were due.
 */
const paused = (inner: VirtualClock, from: number, to: number): Clock => ({
  now: () => inner.now(),
  wall: () => inner.wall(),
  setTimeout: (fn, ms) => {
    const due = inner.now() + Math.max(0, ms)
    const isMissed = due > from && due < to
    return inner.setTimeout(fn, (isMissed ? to + (due - from) * 1e-9 : due) - inner.now())
  },
  clearTimeout: (handle) => inner.clearTimeout(handle),
})

describe('a process that is paused during its end', () => {
  /** Phases in the order in which they ended. */
  const order = (life: FakeLife) =>
    life.facts.flatMap((fact) => (fact.type === 'phase.ended' && fact.outcome !== 'skipped' ? [fact.phase] : []))
  const plan: LifePlan = {
    ...patient,
    script: { drainRequests: never, auditShutdown: resolves(800), 'destroy:pool': resolves(1_900), flushLogs: resolves(300) },
  }

  test.each([
    { name: 'for 10 s before a cut', from: 15_000, to: 25_000 },
    { name: 'beyond its deadline', from: 15_000, to: 60_000 },
    { name: 'from the start of the delay on', from: 10, to: 60_000 },
    { name: 'between two cuts', from: 21_260, to: 40_000 },
  ])('$name goes through its phases in order, and destroy and report keep their reserve', async ({ from, to }) => {
    const life = await stopped({ ...plan, clockOf: (clock) => paused(clock, from, to) })
    expect(order(life)).toEqual(order(await stopped(plan)))
    expect(life.amiss).toEqual({ 'request-drain': 'cut' })
    expect(life.outcomes).toMatchObject({ 'audit-shutdown': 'ok', destroy: 'ok', report: 'ok' })
    expect(life.exitCode).toBe(5)
    expect(life.endedAt as number).toBeLessThanOrEqual(DEADLINE + (to - from) + 1e-3)
  })

  test('cuts what hangs still, each cut at least its share after the one before', async () => {
    const life = await stopped({ ...patient, script: neverEnding(...WAITING), clockOf: (clock) => paused(clock, 1_000, 60_000) })
    const at = (instant: keyof typeof CUTS) => life.at(`Cut.${instant}`) as number
    const gaps = [
      ['hooks', 'requests'],
      ['requests', 'connections'],
      ['connections', 'audit'],
      ['audit', 'destroy'],
      ['destroy', 'flush'],
    ] as const
    for (const [one, next] of gaps) expect(at(next) - at(one)).toBeCloseTo(CUTS[next] - CUTS[one], 3)
    expect([life.exitCode, life.ended]).toEqual([5, true])
  })
})
