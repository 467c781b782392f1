// Fails when: an invariant does not hold for a life of either mode, a seeded bug goes unnoticed, or
// our machines behave otherwise on live actors.

import { describe, expect, test } from 'vitest'
import { check, mismatches, printTrace } from '#model'
import type { LifePlan } from '#src/machines/lifecycle.ts'
import { WIRING } from '#src/machines/wiring.ts'
import { exploreLifecycle, invariantsOf, type OutsideEvent } from '#src/model/life/lifecycle-model.ts'
import { plannedHooks } from '../support/fake-effects.ts'
import { lifeInput } from './life-input.ts'

type Plan = Partial<LifePlan> & Pick<LifePlan, 'mode'>

const life = ({ input, ...plan }: Plan): LifePlan => ({
  input: input ?? lifeInput(),
  ...plan,
})

const withHooks = lifeInput({
  preShutdownHooks: plannedHooks(['leave']),
  destroyFunctions: [{ kind: 'destroy', name: 'pool', timeoutMs: 1_000 }],
})

/** The traces of what does not hold, by id. */
function violated({ outside, ...plan }: Plan & { readonly outside?: readonly OutsideEvent[] }): Record<string, string> {
  const verdicts = check(exploreLifecycle(life(plan), { outside }), invariantsOf(life(plan)))
  return Object.fromEntries(verdicts.flatMap(({ id, trace }) => (trace ? [[id, printTrace(trace)]] : [])))
}

const rows = (changed: Partial<Record<keyof typeof WIRING, object>>) =>
  Object.fromEntries(Object.entries(WIRING).map(([phase, row]) => [phase, { ...row, ...changed[phase as keyof typeof WIRING] }])) as never

describe.each(['refuse', 'retry-after'] as const)('%s mode', (mode) => {
  test('every invariant holds when any effect may answer, fail or never answer at any time', { timeout: 120_000 }, () => {
    expect(violated({ mode })).toEqual({})
  })

  test('also with hooks and destroy functions', { timeout: 120_000 }, () => {
    expect(violated({ mode, input: withHooks, outside: ['start', 'stop'] })).toEqual({})
  })
})

describe('a life with mux-complete signals', () => {
  const muxSignals = ['apis', 'crds']

  test.each(['refuse', 'retry-after'] as const)('%s: every invariant holds', { timeout: 120_000 }, (mode) => {
    expect(violated({ mode, muxSignals, outside: ['stop'] })).toEqual({})
  })

  test('also when one answers before the start, in any order of start and stop', { timeout: 120_000 }, () => {
    expect(violated({ mode: 'refuse', muxSignals: ['apis'] })).toEqual({})
  })

  test('is on live actors as it is explored', { timeout: 120_000 }, () => {
    const explored = exploreLifecycle(life({ mode: 'refuse', muxSignals }), { outside: ['stop'] })
    expect(mismatches(explored, { sample: 2 }).slice(0, 1)).toEqual([])
  })
})

test('also with crashes of both origins, one after the other and as an echo', { timeout: 120_000 }, () => {
  expect(violated({ mode: 'refuse', outside: ['crash', 'rejection'] })).toEqual({})
})

describe('a wiring with a seeded bug', () => {
  test('a join that does not wait for the watches', { timeout: 60_000 }, () => {
    const found = violated({ mode: 'refuse', wiring: rows({ 'in-flight-drained': { after: ['RequestsDrained'] } }), outside: ['stop'] })
    // The end of the life takes the watch drain with it, without a word.
    expect(Object.keys(found)).toEqual(
      expect.arrayContaining(['order/InFlightRequestsDrained', 'signals/complete', 'brackets/phases', 'brackets/every-phase']),
    )
    expect(found['order/InFlightRequestsDrained']).toMatch(/=> InFlightRequestsDrained is said before WatchesDrained\n$/)
  })

  test('a listener that closes during the drain in retry-after mode', { timeout: 60_000 }, () => {
    const found = violated({
      mode: 'retry-after',
      wiring: rows({ 'close-listener-after-drain': { after: ['NotAcceptingNewRequest'] } }),
      outside: ['stop'],
    })
    expect(Object.keys(found)).toContain('order/HTTPServerStoppedListening')
  })
})

test('the explored life is the live one: state, timers and every word of it', { timeout: 120_000 }, () => {
  const stopOnly = exploreLifecycle(life({ mode: 'refuse' }), { outside: ['stop'] })
  expect(mismatches(stopOnly, { sample: 3 }).slice(0, 1)).toEqual([])
  const whole = exploreLifecycle(life({ mode: 'refuse', input: withHooks }))
  expect(mismatches(whole, { sample: 40 }).slice(0, 1)).toEqual([])
})
