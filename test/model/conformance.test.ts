// Fails when: a life on live actors goes anywhere that the explorer does not say.

import { expect, test } from 'vitest'
import { mismatches } from '#model'
import { exploreLifecycle } from '#src/model/life/lifecycle-model.ts'
import { plannedHooks } from '../support/fake-effects.ts'
import { lifeInput } from './life-input.ts'

/** `npm run test:lives` follows every way instead: minutes. */
const sample = process.env['EVERY_STATE'] === undefined ? 150 : 1

test.each(['refuse', 'retry-after'] as const)(
  `our lifecycle on live actors, %s mode: ${sample === 1 ? 'every state' : 'a sample of all states'}`,
  { timeout: 0 },
  (mode) => {
    const input = lifeInput({ preShutdownHooks: plannedHooks(['leave']) })
    const exploration = exploreLifecycle({ mode, input }, { outside: ['start', 'stop', 'ready'] })
    expect(mismatches(exploration, { sample }).slice(0, 1)).toEqual([])
  },
)
