// Fails when: a step of a life that the explorer remembers is not the step that xstate computes for
// that state.
import { expect, test } from 'vitest'
import type { LifePlan } from '#src/machines/lifecycle.ts'
import { exploreLifecycle } from '#src/model/life/lifecycle-model.ts'
import { plannedHooks } from '../support/fake-effects.ts'
import { lifeInput } from './life-input.ts'

/** The first steps of a model, whatever is remembered. */
const COMPUTED_TWICE = 1_000

test.each(['refuse', 'retry-after'] as const)(
  'every step of our lifecycle, computed by xstate again, is the one that was remembered: %s mode',
  (mode) => {
    const input = lifeInput({ preShutdownHooks: plannedHooks(['leave']) })
    const { model } = exploreLifecycle(
      { mode, input },
      { outside: mode === 'refuse' ? ['stop', 'crash'] : ['start', 'signal'], recheckEvery: 20 },
    )
    // Else little was remembered, and little has been tested; without its regions a life takes ten
    // times as long.
    expect((model.steps.computed - COMPUTED_TWICE) * 5).toBeLessThan(model.steps.taken.length)
  },
)

// The checker of a life computes no step twice, so each kind of thing that a life can have is here.
test.each<[string, Partial<LifePlan>]>([
  ['a post-start hook', { postStartHooks: [{ kind: 'post-start', name: 'warm', timeoutMs: 0 }] }],
  ['a mux-complete signal', { muxSignals: ['apis'] }],
  ['a phase of the user', { userPhases: [{ name: 'flush', after: ['RequestsDrained'], before: ['destroy'], timeoutMs: 1_000 }] }],
  [
    'destroy functions',
    { input: lifeInput({ destroyFunctions: ['pool', 'cache'].map((name) => ({ kind: 'destroy', name, timeoutMs: 1_000 })) }) },
  ],
])('and so is every step of a life with %s', (_, plan) => {
  const { model } = exploreLifecycle({ mode: 'refuse', input: lifeInput(), ...plan }, { recheckEvery: 64 })
  expect((model.steps.computed - COMPUTED_TWICE) * 5).toBeLessThan(model.steps.taken.length)
})
