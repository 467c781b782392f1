// What the section "serving" makes of its measurements. Fails when: a server is not compared with
// those of its own generation, or the machine's pace on a day changes a verdict.
import { expect, test } from 'vitest'
import { AGAIN, ALONE, cellOf, OURS, SUBJECTS } from '../../bench/serving.mjs'
import { verdictOf } from '../../bench/verdict.mjs'

const PEER = 'stoppable'

/** A generation, at its own pace, whose requests cost so many times those of the server alone. */
function generation(times: Readonly<Record<string, number>>, pace: number) {
  const part = (subject: string) => ({ cpuUs: 10 * pace * (times[subject] ?? 1), latencies: [1, 2, 3, 40].map((ms) => ms * pace) })
  return {
    latestMs: 0,
    parts: new Map(SUBJECTS.map((subject) => [subject, { trivial: [part(subject), part(subject)], stream: [], upload: [] }])),
  }
}

const paces = [1, 1.2, 3, 0.9, 1.1, 2]

test('a machine that is slower now and then gives the same ratios and verdicts', () => {
  const times = { [OURS]: 1.02, [PEER]: 1.1 }
  const steady = paces.map(() => generation(times, 1))
  const loaded = paces.map((pace) => generation(times, pace))
  for (const made of [steady, loaded]) {
    const cell = cellOf(made, OURS, 'trivial')
    expect(cell.throughput?.median).toBeCloseTo(1 / 1.02)
    expect(verdictOf(cell.throughput as NonNullable<typeof cell.throughput>, { atLeast: 0.97 })).toBe('met')
    const peer = cellOf(made, PEER, 'trivial').ofOurs
    expect(peer?.median).toBeCloseTo(1.02 / 1.1)
    expect(verdictOf(peer as NonNullable<typeof peer>, { atMost: 1 })).toBe('met')
  }
})

test('a server is compared with both of the servers alone, the second of these with the first', () => {
  const made = paces.map((pace) => generation({ [AGAIN]: 1.1, [OURS]: 1.05 }, pace))
  expect(cellOf(made, AGAIN, 'trivial').throughput?.median).toBeCloseTo(1 / 1.1)
  expect(cellOf(made, OURS, 'trivial').throughput?.median).toBeCloseTo(1)
  expect(cellOf(made, ALONE, 'trivial').throughput).toBeUndefined()
})

test('processes that have had luck and bad luck leave the verdict open', () => {
  const made = [0.9, 0.95, 1, 1.05, 1.1, 1.15].map((times) => generation({ [OURS]: times }, 1))
  const { throughput } = cellOf(made, OURS, 'trivial')
  expect(verdictOf(throughput as NonNullable<typeof throughput>, { atLeast: 0.97 })).toBe('open')
})

test('percentiles are of all latencies of a generation, and the rare ones only where there are enough', () => {
  const { latencyMs } = cellOf([generation({}, 1)], OURS, 'trivial')
  expect(latencyMs.p50?.median).toBe(3)
  expect(latencyMs.p99?.median).toBe(40)
  expect(latencyMs.p999).toBeUndefined()
})
