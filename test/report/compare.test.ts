// Two ends side by side. Fails when: an end that lost more, failed more or was cut is not called
// worse; one is that only had other clients, another machine or less to do; or a difference has no
// name.
import { describe, expect, test } from 'vitest'
import { compareReports, type Difference } from '#src/report/compare.ts'
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
    ['a connection that was not told', { connections: { ...connections, idleUntold: 9 } }, false],
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
})
