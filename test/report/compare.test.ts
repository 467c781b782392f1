// Two ends side by side. Fails when: an end that lost more, failed more or was cut is not called
// worse; one is that only had other clients, another machine or less to do; or a difference has no
// name.
import { describe, expect, test } from 'vitest'
import { compareReports, type Difference, shownSide } from '#src/report/compare.ts'
import type { Report } from '#src/report/report.ts'
import { badLife, quietLife, reportOf } from './lives.ts'

const good = reportOf(quietLife)
const bad = reportOf(badLife, 1)
const named = (differences: readonly Difference[], what: string) => differences.filter((difference) => difference.what === what)

test('an end is as good as itself', () => {
  for (const report of [good, bad]) expect(compareReports(report, report)).toEqual({ isWorse: false, differences: [] })
})

test('the end of a bad day is worse than that of a good one, by name, and not the other way round', () => {
  const { isWorse, differences } = compareReports(good, bad)
  expect(isWorse).toBe(true)
  expect(named(differences, 'exit code')).toEqual([{ what: 'exit code', a: 0, b: 1, unit: 'word', isWorse: true }])
  expect(named(differences, 'requests left')).toEqual([{ what: 'requests left', a: 0, b: 7, unit: 'count', isWorse: true }])
  expect(named(differences, 'pre-shutdown hook "leave"')).toContainEqual(expect.objectContaining({ a: 'none', b: 'failed', isWorse: true }))
  expect(named(differences, 'phase request-drain')).toContainEqual(expect.objectContaining({ a: 'none', b: 'cut', isWorse: true }))
  expect(compareReports(bad, good).isWorse).toBe(false)
})

describe('of what is different', () => {
  const changed = (change: Partial<Report>): Report => ({ ...good, ...change })
  const { requests, connections } = good

  test.each<[string, Partial<Report>, boolean]>([
    ['a more severe exit code', { exitCode: 5 }, true],
    ['an exit code that is not ours', { exitCode: 137 }, false],
    ['requests that are left', { requests: { ...requests, after: 1 } }, true],
    ['more requests to drain', { requests: { ...requests, before: 30 } }, false],
    ['watches that are left', { watches: { before: 1, after: 1, cut: [] } }, true],
    ['a handler that outlived its response', { handlers: [{ name: 'GET /', ageMs: 5 }] }, true],
    ['a connection that was closed by force', { connections: { ...connections, forced: 1 } }, true],
    ['a connection that was not told', { connections: { ...connections, idleUnnotified: 9 } }, false],
    ['more watches to end', { watches: { before: 1, after: 0, cut: [] } }, false],
    ['more that the last call let in', { lastCall: { accepted: 2, answered: 2 } }, false],
    ['an audit event that was lost', { audit: { delivered: 1, lost: 1 } }, true],
    ['requests that were refused', { rejections: { 'retry-after': 25 } }, false],
    ['a failure that came twice', { errors: [{ where: 'x', error: { name: 'Error', message: 'y' }, count: 2 }] }, true],
    ['a warning', { warnings: [{ message: 'x' }] }, false],
    ['a late answer', { lateAnswers: [{ what: 'x', answer: 'resolved', lateMs: 5 }] }, false],
    ['a hook that was cut', { hooks: [{ kind: 'destroy', name: 'pool', outcome: 'cut', durationMs: 5 }] }, true],
    ['a hook that is new', { hooks: [{ kind: 'destroy', name: 'pool', outcome: 'ok', durationMs: 5 }] }, false],
    ['a phase that was not over', { phases: [{ name: 'x', start: 1, end: null, budget: null, outcome: null, cut: [] }] }, true],
  ])('%s is told, and judged as it should be', (_, change, isWorse) => {
    const comparison = compareReports(good, changed(change))
    expect(comparison.differences).not.toEqual([])
    expect(comparison.isWorse).toBe(isWorse)
  })

  test('a longer end is judged only when it is asked for', () => {
    const longer = changed({ endedAt: new Date(Date.parse(good.endedAt) + 500).toISOString() })
    expect(compareReports(good, longer)).toMatchObject({ isWorse: false, differences: [{ what: 'took', unit: 'ms' }] })
    expect(compareReports(good, longer, { slowerMs: 499 }).isWorse).toBe(true)
    expect(compareReports(good, longer, { slowerMs: 500 }).isWorse).toBe(false)
  })

  test('times that differ by a turn, or by a small part, are the same', () => {
    const phase = (end: number) => changed({ phases: [{ name: 'x', start: 0, end, budget: null, outcome: 'ok', cut: [] }] })
    expect(compareReports(phase(3), phase(12)).differences).toEqual([])
    expect(compareReports(phase(1_000), phase(1_090)).differences).toEqual([])
    expect(compareReports(phase(1_000), phase(1_200)).differences).toMatchObject([{ what: 'phase x', a: 1_000, b: 1_200 }])
  })

  const only = (change: Partial<Report>) => compareReports(good, changed(change)).differences

  test('nothing is as good as zero of it', () => {
    const refused = { what: 'refused: retry-after', a: 0, b: 25, unit: 'count', isWorse: false } as const
    const rejections = { 'retry-after': 25 }
    expect(only({ rejections })).toEqual([refused])
    expect(compareReports(changed({ rejections }), good).differences).toEqual([{ ...refused, a: 25, b: 0 }])
    expect(only({ lastCall: { accepted: 0, answered: 0 }, audit: { delivered: 5, lost: 0 } })).toEqual([])
  })

  test('a new hook is told by its outcome, not by its time as well', () => {
    expect(only({ hooks: [...good.hooks, { kind: 'destroy', name: 'pool', outcome: 'ok', durationMs: 500 }] })).toEqual([
      { what: 'destroy hook "pool"', a: 'none', b: 'ok', unit: 'word', isWorse: false },
    ])
  })

  test('times are compared from the beginning of a phase, at and beyond the limits, and are no judgement', () => {
    const phase = (start: number, end: number | null) =>
      changed({ phases: [{ name: 'x', start, end, budget: null, outcome: end === null ? null : 'ok', cut: [] }] })
    const apart = (b: Report, a = phase(0, 3)) => compareReports(a, b).differences
    expect(apart(phase(5, 18))).toEqual([{ what: 'phase x', a: 3, b: 13, unit: 'ms', isWorse: false }])
    expect(apart(phase(0, 1_000), phase(0, 900))).toMatchObject([{ a: 900, b: 1_000 }])
    expect(apart(phase(500, null))).toEqual([{ what: 'phase x', a: 'ok', b: 'not over', unit: 'word', isWorse: true }])
  })

  test('phases before the stop are no part of an end; without a stop all of them are', () => {
    const early = { name: 'early', start: -50, end: -1, budget: null, outcome: 'ok' as const, cut: [] }
    const phases = [...good.phases, early]
    expect(only({ phases })).toEqual([])
    const unstopped = { stopRequestedAt: null } as const
    expect(compareReports(changed(unstopped), changed({ ...unstopped, phases })).differences).toMatchObject([{ what: 'phase early' }])
  })
})

test.each([
  ['ms', 1_500.4, '1.5s'],
  ['ms', 'cut', 'cut'],
  ['count', 1_500, '1500'],
  ['word', 'ok', 'ok'],
  ['word', undefined, '-'],
] as const)('a side in %s is shown: %s', (unit, side, text) => {
  expect(shownSide({ what: 'x', a: side, b: side, unit, isWorse: false }, side)).toBe(text)
})
