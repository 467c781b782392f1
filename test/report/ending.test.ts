// Fails when: what holds up the end is not named, is named although nothing waits for it, or is
// said to end by another bound or at another time than it does.
import { describe, expect, test } from 'vitest'
import type { LifecycleEvent, Straggler } from '#src/base/events.ts'
import { WIRING } from '#src/machines/wiring.ts'
import { blockersOf, boundOfPhase, headlineOf, instantsOf, leftUntil, nextCutOf } from '#src/report/ending.ts'
import { type Gauges, gaugesOf } from '#src/report/gauges.ts'
import { progressOf } from '#src/report/progress.ts'
import { crashedAt, cutsOf, type LifeView, NOTHING_KNOWN, reduceLife } from '#src/report/view.ts'

const STOP_AT = 1_000
const cutsMs = { hooks: 10_000, requests: 20_000, connections: 21_000, audit: 22_000, destroy: 24_000, flush: 24_500 }
const budget = { delayMs: 3_000, lastCallMs: 0, watchGraceMs: 5_000, deadlineMs: 25_000, cutsMs }
const stopRequested: LifecycleEvent = {
  at: STOP_AT,
  type: 'signal',
  name: 'StopRequested',
  outcome: 'ok',
  reason: { kind: 'ipc' },
  budget,
}
const started = (phase: string, at: number, limitMs?: number): LifecycleEvent => ({
  at,
  type: 'phase.started',
  phase,
  ...(limitMs !== undefined && { limitMs }),
})

const view = (...events: readonly LifecycleEvent[]): LifeView => events.reduce(reduceLife, { ...NOTHING_KNOWN, cuts: cutsOf(WIRING) })
const stopped = (...events: readonly LifecycleEvent[]): LifeView => view(stopRequested, ...events)

const NO_TRAFFIC: Gauges['blocking'] = { requests: [], watches: [], holds: [], handlers: [], connections: [], hooks: [] }
const NO_COUNTS = { requests: 0, watches: 0, holds: 0, handlers: 0 }
const GAUGES: Gauges = { ...NO_COUNTS, connections: { active: 0, idle: 0, notified: 0 }, rejected: {}, blocking: NO_TRAFFIC }
const blockers = (of: LifeView, now: number, blocking: Partial<Gauges['blocking']> = {}) =>
  blockersOf(of, { blocking: { ...NO_TRAFFIC, ...blocking } }, now)
const headline = (...given: Parameters<typeof blockers>): string => headlineOf(blockers(...given), NO_COUNTS, given[1])
const one = (name: string, ageMs = 500): readonly Straggler[] => [{ name, ageMs }]

describe('a phase is ended by', () => {
  test('its own limit, when that comes before its cut', () => {
    expect(boundOfPhase(stopped(started('watch-drain', 4_000, 5_000)), 'watch-drain', 4_000)).toEqual({ by: 'limit', at: 9_000 })
  })

  test('its cut, when that comes before its own limit, or when it has none', () => {
    const cut = { by: 'Cut.requests', at: STOP_AT + 20_000 }
    expect(boundOfPhase(stopped(started('request-drain', 4_000)), 'request-drain', 4_000)).toEqual(cut)
    expect(boundOfPhase(stopped(started('request-drain', 4_000, 60_000)), 'request-drain', 4_000)).toEqual(cut)
  })

  test('the next cut, when its own has come already', () => {
    const late = stopped(started('request-drain', 21_500))
    expect(boundOfPhase(late, 'request-drain', 21_500)).toEqual({ by: 'Cut.connections', at: STOP_AT + 21_000 })
    expect(boundOfPhase(late, 'request-drain', 40_000)).toEqual({ by: 'Forced', at: STOP_AT + 25_000 })
  })

  test('the deadline, when nothing else ends it', () => {
    const forced = { by: 'Forced', at: STOP_AT + 25_000 }
    expect(boundOfPhase(stopped(started('post-start-hooks', 0)), 'post-start-hooks', 4_000)).toEqual(forced)
  })

  test('the deadline, when it is one that this version does not know', () => {
    expect(boundOfPhase(stopped(), 'unknown', 4_000)).toEqual({ by: 'Forced', at: STOP_AT + 25_000 })
  })

  test('its own limit, when its cut comes in the same instant; the next cut, when its own comes now', () => {
    expect(boundOfPhase(stopped(started('request-drain', 4_000, 17_000)), 'request-drain', 4_000)).toEqual({ by: 'limit', at: 21_000 })
    const now = STOP_AT + 20_000
    expect(boundOfPhase(stopped(started('request-drain', 4_000)), 'request-drain', now)).toMatchObject({ by: 'Cut.connections' })
  })

  test('nothing, when the budget of the stop is not known', () => {
    const { budget: _, ...unknown } = stopRequested as Extract<LifecycleEvent, { type: 'signal' }>
    const recorded = view(unknown, started('request-drain', 4_000))
    expect(boundOfPhase(recorded, 'request-drain', 4_000)).toBeUndefined()
    expect(leftUntil(recorded, 'forced', 4_000)).toBe(Number.POSITIVE_INFINITY)
    expect(recorded.stop && instantsOf(recorded.stop)).toEqual([])
    expect(progressOf(recorded, 'refuse', GAUGES, 4_000)).toBeUndefined()
  })

  test('nothing, while no stop is requested', () => {
    expect(boundOfPhase(view(started('post-start-hooks', 0)), 'post-start-hooks', 4_000)).toBeUndefined()
  })

  test('the budget of a crash that comes meanwhile, where that is sooner; a second crash gives no time back', () => {
    const quick = { ...budget, deadlineMs: 2_500, cutsMs: { ...cutsMs, requests: 2_000 } }
    const crashed = crashedAt(stopped(started('request-drain', 4_000)), 5_000, quick)
    expect(boundOfPhase(crashed, 'request-drain', 5_000)).toEqual({ by: 'Cut.requests', at: 7_000 })
    expect(crashedAt(crashed, 6_000, quick)).toBe(crashed)
    const late = crashedAt(stopped(started('request-drain', 4_000)), 20_500, quick)
    expect(boundOfPhase(late, 'request-drain', 20_500)).toEqual({ by: 'Cut.requests', at: STOP_AT + 20_000 })
  })
})

describe('the next cut', () => {
  const cuts = { hooks: 'Cut.hooks', requests: 'Cut.requests' } as const
  const ended = (phase: string): LifecycleEvent => ({ at: 2_000, type: 'phase.ended', phase, outcome: 'ok' })
  const of = (...events: readonly LifecycleEvent[]): LifeView => ({ ...view(...events), cuts })

  test('is the first that is still to come, of those that cut something which is not over', () => {
    expect(nextCutOf(of(stopRequested), 10_999)).toEqual({ by: 'Cut.hooks', at: 11_000 })
    expect(nextCutOf(of(stopRequested), 11_000)).toEqual({ by: 'Cut.requests', at: 21_000 })
    expect(nextCutOf(of(stopRequested, started('hooks', 1_000)), 3_000)).toMatchObject({ by: 'Cut.hooks' })
    expect(nextCutOf(of(stopRequested, ended('hooks')), 3_000)).toMatchObject({ by: 'Cut.requests' })
    expect(nextCutOf(of(stopRequested, ended('hooks'), ended('requests')), 3_000)).toBeUndefined()
  })

  test('is none before a stop', () => {
    expect(nextCutOf(of(started('hooks', 0)), 500)).toBeUndefined()
  })
})

describe('the end is held up by', () => {
  test('what is in flight, ended by the cut of its phase, also before that has begun', () => {
    expect(blockers(stopped(started('request-drain', 4_000)), 5_000, { requests: one('GET /hang') })).toEqual([
      {
        kind: 'request',
        name: 'GET /hang',
        ageMs: 500,
        phase: 'request-drain',
        isWaitedFor: true,
        bound: { by: 'Cut.requests', at: 21_000 },
      },
    ])
    expect(blockers(stopped(), 2_000, { holds: one('job') })).toMatchObject([
      { kind: 'hold', isWaitedFor: false, bound: { by: 'Cut.requests' } },
    ])
  })

  test('a hook, by its own limit or the cut of its phase, whichever comes first', () => {
    const hooks = (limitMs: number) =>
      stopped(started('pre-shutdown-hooks', STOP_AT), { at: 2_000, type: 'hook.started', kind: 'pre-shutdown', name: 'leave', limitMs })
    expect(blockers(hooks(4_000), 3_000)).toMatchObject([{ name: 'pre-shutdown hook "leave"', bound: { by: 'limit', at: 6_000 } }])
    expect(blockers(hooks(60_000), 3_000)).toMatchObject([{ bound: { by: 'Cut.hooks', at: 11_000 } }])
  })

  test('no hook that lives on through the stop', () => {
    const refreshing = stopped(started('post-start-hooks', 0), { at: 0, type: 'hook.started', kind: 'post-start', name: 'refresh' })
    expect(blockers(refreshing, 3_000)).toEqual([])
  })

  test('each for as long as it has been there', () => {
    const hook = { type: 'hook.started', kind: 'pre-shutdown', name: 'leave' } as const
    const of = stopped(started('shutdown-delay', 1_500), started('pre-shutdown-hooks', 1_000), { at: 2_000, ...hook })
    expect(blockers(of, 3_200).map(({ name, ageMs }) => [name, ageMs])).toEqual([
      ['shutdown-delay', 1_700],
      ['pre-shutdown hook "leave"', 1_200],
    ])
    expect(gaugesOf({ ...GAUGES, blocking: NO_TRAFFIC }, of, 3_200).blocking.hooks).toEqual([
      { name: 'pre-shutdown hook "leave"', ageMs: 1_200 },
    ])
    const over = reduceLife(of, { at: 3_000, ...hook, type: 'hook.ended', outcome: 'ok', durationMs: 1_000 })
    expect(gaugesOf({ ...GAUGES, blocking: NO_TRAFFIC }, over, 3_200).blocking.hooks).toEqual([])
    expect(
      progressOf(reduceLife(of, { at: 3_000, type: 'phase.ended', phase: 'pre-shutdown-hooks', outcome: 'ok' }), 'refuse', GAUGES, 3_200),
    ).toMatchObject({
      sinceMs: 2_200,
      phases: [{ name: 'shutdown-delay', sinceMs: 1_700 }],
    })
  })

  test('what nothing ends, before what something does', () => {
    const hook: LifecycleEvent = { at: 0, type: 'hook.started', kind: 'pre-shutdown', name: 'leave', limitMs: 4_000 }
    const names = (...given: Parameters<typeof blockers>) => blockers(...given).map(({ name }) => name)
    expect(names(view(hook), 900, { requests: one('GET /hang') })).toEqual(['GET /hang', 'pre-shutdown hook "leave"'])
    const younger: LifecycleEvent = { at: 800, type: 'hook.started', kind: 'pre-shutdown', name: 'wait' }
    expect(names(view(hook, younger), 900)).toEqual(['pre-shutdown hook "wait"', 'pre-shutdown hook "leave"'])
  })

  test('nothing that is over', () => {
    const over = stopped(started('shutdown-delay', STOP_AT, 3_000), {
      at: 4_000,
      type: 'phase.ended',
      phase: 'shutdown-delay',
      outcome: 'ok',
    })
    expect(headline(over, 4_000)).toBe('nothing blocks the exit')
  })
})

describe('the headline', () => {
  const draining = stopped(started('request-drain', 4_000), started('watch-drain', 4_000, 5_000))

  test('names the one thing, and says when it is cut', () => {
    expect(headline(draining, 5_000, { requests: one('GET /hang') })).toBe('GET /hang blocks the exit; cut in 16.0s')
  })

  test('names of several the one that is ended last, and of those the oldest', () => {
    const requests = [...one('POST /young', 100), ...one('GET /old', 9_000)]
    const several = headline(draining, 5_000, { requests, watches: one('GET /watch', 60_000) })
    expect(several).toBe('GET /old and 2 more block the exit; cut in 16.0s')
  })

  test('names what is waited for before what will be', () => {
    const leaving = stopped(started('pre-shutdown-hooks', STOP_AT), {
      at: 2_000,
      type: 'hook.started',
      kind: 'pre-shutdown',
      name: 'leave',
      limitMs: 4_000,
    })
    expect(headline(leaving, 3_000, { requests: one('GET /hang') })).toBe('pre-shutdown hook "leave" blocks the exit; times out in 3.0s')
  })

  test('names a phase that waits for nothing with a name', () => {
    expect(headline(stopped(started('shutdown-delay', STOP_AT, 3_000)), 2_000, { requests: one('GET /hang') })).toBe(
      'waiting for shutdown-delay; over in 2.0s',
    )
  })

  test('counts what is waited for and has no name here, and nothing else', () => {
    const of = stopped(started('request-drain', 4_000))
    const requests = [...one('GET /old', 9_000), ...one('POST /young', 100)]
    const named = blockers(of, 5_000, { requests, holds: one('job', 50), watches: one('GET /watch') })
    const said = (counts: Partial<typeof NO_COUNTS>): string => headlineOf(named, { ...NO_COUNTS, ...counts }, 5_000)
    expect(said({ requests: 2, holds: 1, watches: 30 })).toBe('GET /old and 2 more block the exit; cut in 16.0s')
    expect(said({ requests: 7, holds: 4, watches: 30 })).toBe('GET /old and 10 more block the exit; cut in 16.0s')
  })

  test('says by what a phase is ended, and a thing by the limit of its phase', () => {
    expect(headline(stopped(started('request-drain', 4_000)), 5_000)).toBe('waiting for request-drain; cut in 16.0s')
    expect(headline(view(started('request-drain', 4_000)), 5_000)).toBe('waiting for request-drain')
    const watches = one('GET /watch')
    expect(headline(stopped(started('watch-drain', 4_000, 5_000)), 5_000, { watches })).toBe('GET /watch blocks the exit; cut in 4.0s')
  })

  test('promises no time that is over', () => {
    expect(headline(draining, STOP_AT + 25_000, { requests: one('GET /hang') })).toBe('GET /hang blocks the exit; being cut')
    expect(headline(draining, 30_000, { requests: one('GET /hang') })).toBe('GET /hang blocks the exit; being cut')
  })
})
