// Which phases and signals have lines of their own in a timeline. Fails when: what is long enough
// to be seen is a point, or what is further apart than a point stands in one line.
import { expect, test } from 'vitest'
import type { Report } from '#src/report/report.ts'
import { timeline } from '#src/report/timeline.ts'
import { quietLife, reportOf } from './lives.ts'

const phase = (name: string, start: number, end: number | null) => ({ name, start, end, budget: null, outcome: 'ok' as const, cut: [] })
const signal = (name: string, at: number) => ({ name, at, outcome: 'ok' as const })
const ONE_SECOND = { stopRequestedAt: '2026-01-01T00:00:00.000Z', endedAt: '2026-01-01T00:00:01.000Z' }
const lines = (given: Partial<Report>) =>
  timeline({ ...reportOf(quietLife), ...ONE_SECOND, phases: [], signals: [], ...given }, 100).map(({ text }) => text)

test('a phase of a hundredth of the whole has a bar, a shorter one none', () => {
  expect(lines({ phases: [phase('destroy', 0, 10), phase('notify-clients', 20, 29)] })).toEqual([
    expect.stringMatching(/^\+0\.000s {2}destroy \|/),
  ])
})

test('signals that are nearer than that stand in one line', () => {
  expect(lines({ signals: [signal('One', 0), signal('Two', 9), signal('Three', 10)] })).toEqual(['+0.000s  * One, Two', '+0.010s  * Three'])
})

test('a phase that is not over reaches from its beginning to the end, although that is later than the wall clock says', () => {
  const [drain, destroy] = lines({ phases: [phase('request-drain', 0, 1_000), phase('destroy', 2_000, null)] })
  const barOf = (line = '') => line.split('|')[1] ?? ''
  expect(barOf(drain)).toMatch(/^=+ +$/)
  expect(barOf(destroy)).toMatch(/^ +=$/)
})

test('without a stop time counts from the start', () => {
  const given = { stopRequestedAt: null, startedAt: '2026-01-01T00:00:00.000Z', phases: [phase('bind', 0, 500)] }
  expect(lines(given)[0]?.split('|')[1]).toMatch(/^=+ +$/)
})

test('a bar of five columns still tells something, and a shorter one is left out', () => {
  const report = { ...reportOf(quietLife), ...ONE_SECOND, phases: [phase('destroy', 0, 1_000)], signals: [] }
  const texts = [33, 32].map((width) => timeline(report, width).map(({ text }) => text))
  expect(texts).toEqual([['+0.000s  destroy |=====| 1.000s'], ['+0.000s  destroy 1.000s']])
})
