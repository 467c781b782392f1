// Fails when: a life outlives its deadline or starves a late phase, or a property in time finds
// neither.

import { describe, expect, test } from 'vitest'
import { check } from '#model'
import { RESERVES_DEFAULT_MS } from '#src/base/stop-profile.ts'
import { WIRING, type Wiring } from '#src/machines/wiring.ts'
import { exploreLifecycle } from '#src/model/life/lifecycle-model.ts'
import { endsWithin, reserveOf, timedProperties } from '#src/model/life/lifecycle-timed.ts'
import { stopProfile } from '#src/options/budget.ts'
import { lifeInput } from './life-input.ts'

const life = (deadlineMs: number, delayMs = 5_000) => {
  const profile = (delay: number, deadline: number) =>
    stopProfile({ lastCallMs: 200, delayMs: delay, deadlineMs: deadline, watchGraceMs: deadline / 3, reserves: RESERVES_DEFAULT_MS })
  const profiles = {
    default: profile(delayMs, deadlineMs),
    interactive: profile(0, 2_000),
    crash: profile(0, 5_000),
    startFailed: profile(0, deadlineMs),
  }
  return lifeInput({ profiles })
}

const rows = (changed: Partial<Record<keyof typeof WIRING, object>>): Wiring =>
  Object.fromEntries(Object.entries(WIRING).map(([phase, row]) => [phase, { ...row, ...changed[phase as keyof typeof WIRING] }]))

describe.each(['refuse', 'retry-after'] as const)('a life in %s mode', (mode) => {
  let usual: ReturnType<typeof exploreLifecycle> | undefined
  /** With time enough, explored once for all tests of it. */
  const ofUsual = () => (usual ??= exploreLifecycle({ mode, input: life(25_000) }, { outside: ['start', 'stop'] }))
  const ofShort = () => exploreLifecycle({ mode, input: life(3_000) }, { outside: ['stop', 'crash'] })

  test.each([
    [25_000, ofUsual],
    [3_000, ofShort],
  ])('with a deadline of %i ms ends within it, and every late phase has its reserve', (_, explored) => {
    const exploration = explored()
    expect(check(exploration, timedProperties()).flatMap(({ id, trace }) => (trace ? [`${id}: ${trace.finding}`] : []))).toEqual([])
  })

  // Audit begins with the connections, so their reserve is its own as well.
  test('has no time to spare: less is not enough', () => {
    const exploration = ofUsual()
    const tooMuch = [endsWithin(24_999), reserveOf('audit', 1_251), reserveOf('destroy', 2_001)]
    expect(check(exploration, tooMuch).map(({ holds }) => holds)).toEqual([false, false, false])
  })

  test('starves what comes later when a phase ignores its cut', () => {
    const ignoring = rows({ 'audit-shutdown': { cut: undefined } })
    const exploration = exploreLifecycle({ mode, input: life(25_000), wiring: ignoring }, { outside: ['start', 'stop'] })
    const violated = check(exploration, timedProperties()).filter(({ holds }) => !holds)
    expect(violated.map(({ id }) => id)).toEqual(['timed/reserve-of-destroy', 'timed/reserve-of-flush'])
    expect(violated[0]?.trace?.finding).toMatch(/ms after the clock started; 22500 ms are allowed$/)
  })
})
