// Fails when: a long exploration is silent on a terminal, says so off one, writes more often than
// it can be read, or leaves its line behind.
import { expect, test } from 'vitest'
import { explore } from '#model'
import { CheckProgress } from '#src/cli/check-progress.ts'
import { createServer } from '#src/create-server.ts'
import { composeLifecycle } from '#src/machines/lifecycle.ts'
import { environmentOf, planOf } from '#src/model/life/lifecycle-model.ts'

function progressOn({ isTTY, env = {} }: { isTTY: boolean; env?: Record<string, string> }) {
  const written: string[] = []
  const clock = { now: () => clock.at, at: 0 }
  const progress = new CheckProgress({ stderr: { write: (text) => written.push(text), isTTY }, env }, clock)
  return { written, clock, progress }
}

test('says after a while how far it is, now and then, in one line that goes away', () => {
  const { written, clock, progress } = progressOn({ isTTY: true })
  for (clock.at = 0; clock.at <= 2_000; clock.at += 10) progress.update('refuse', 12_345 + clock.at, 345)
  progress.clear()
  expect(written[0]).toBe('\r\u001b[Krefuse: 13 345 states, 13 000 of them still to explore')
  expect(written).toHaveLength(6)
  expect(written.at(-1)).toBe('\r\u001b[K')
})

test('says nothing when it was quick, off a terminal, and on one that cannot move its cursor', () => {
  for (const [host, until] of [
    [{ isTTY: true }, 900],
    [{ isTTY: false }, 9_000],
    [{ isTTY: true, env: { TERM: 'dumb' } }, 9_000],
  ] as const) {
    const { written, clock, progress } = progressOn(host)
    for (clock.at = 0; clock.at <= until; clock.at += 100) progress.update('refuse', 1, 1)
    progress.clear()
    expect(written).toEqual([])
  }
})

test('an exploration tells how far it is', () => {
  const plan = planOf(createServer({ listener: () => {} }, { logger: false, platform: 'kubernetes' }))
  const notified: (readonly [number, number])[] = []
  const onProgress = (found: number, taken: number): void => void notified.push([found, taken])
  const { graph } = explore(composeLifecycle(plan), environmentOf(plan, { onProgress }))
  expect(notified.map(([, taken]) => taken)).toEqual(Array.from({ length: Math.ceil(graph.stateCount / 2_048) }, (_, i) => i * 2_048))
  for (const [found, taken] of notified) expect(found).toBeGreaterThan(taken)
})
