// Fails when: a consequence of a signal is missing, or hangs on another signal, and `quiesce check`
// still says that everything holds.
import { describe, expect, test } from 'vitest'
import { createServer } from '#src/index.ts'
import { ON_SIGNAL, type OnSignal } from '#src/machines/on-signal.ts'
import type { Mode } from '#src/machines/wiring.ts'
import { exploreLifecycle, invariantsOf, planOf } from '#src/model/life/lifecycle-model.ts'

const signals = Object.keys(ON_SIGNAL) as readonly (keyof typeof ON_SIGNAL)[]
const without = (signal: keyof typeof ON_SIGNAL): OnSignal =>
  Object.fromEntries(Object.entries(ON_SIGNAL).filter(([name]) => name !== signal))

function found(onSignal: OnSignal, mode: Mode): string | undefined {
  const plan = { ...planOf(createServer({ listener: () => {} }, { logger: false }), mode), onSignal }
  const property = invariantsOf(plan).find(({ id }) => id === 'signals/does')
  return property?.violation(exploreLifecycle(plan, { statesMax: 100_000 }))?.finding
}

describe.each(['refuse', 'retry-after'] as const)('the consequences of signals, %s', (mode) => {
  test('are as they should be', () => {
    expect(found(ON_SIGNAL, mode)).toBeUndefined()
  })

  test.each(signals)('%s does nothing: is caught', (signal) => {
    expect(found(without(signal), mode)).toBe(`${signal} does nothing, and owes ${ON_SIGNAL[signal]}`)
  })

  test('one that hangs on another signal is caught', () => {
    const moved = { ...without('NotAcceptingNewRequest'), AfterShutdownDelayDuration: 'stopAccepting' } as const satisfies OnSignal
    expect(found(moved, mode)).toBe('AfterShutdownDelayDuration does stopAccepting, and owes nothing')
  })
})

test('a misspelt signal does not compile', () => {
  // @ts-expect-error no signal has this name
  const misspelt: OnSignal = { NotAcceptingNewRequests: 'stopAccepting' }
  expect(Object.keys(misspelt)).toHaveLength(1)
})
