// Fails when: a step that the explorer remembers is not the step that xstate computes for that state.
import { describe, expect, test } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { exploreLifecycle } from '#src/model/life/lifecycle-model.ts'
import { inOrder } from '#src/model/properties/monitor.ts'
import { plannedHooks } from '../support/fake-effects.ts'
import { alphabet, events, explored, labels, lifeInput, verdict } from './machines.ts'
import { REACHING } from './reaching.ts'
import { delaying, erring, nested, replacing, spawning, talking } from './systems.ts'

describe('every step, computed by xstate again, is the one that was remembered', () => {
  test.each(Object.entries(REACHING))('%s', (_, machine) => {
    const { model } = explored(machine, { events: alphabet(machine), recheckEvery: 1 })
    expect(model.steps.taken.length).toBeGreaterThan(8)
  })

  test.each(Object.entries({ nested, spawning, delaying, erring, replacing, talking }))('%s', (_, machine) => {
    explored(machine, { events: alphabet(machine), recheckEvery: 1 })
  })

  test.each(['refuse', 'retry-after'] as const)('our lifecycle, %s mode', { timeout: 60_000 }, (mode) => {
    const input = lifeInput({ preShutdownHooks: plannedHooks(['leave']) })
    const { model } = exploreLifecycle(
      { mode, input },
      { outside: mode === 'refuse' ? ['stop', 'crash'] : ['start', 'signal'], recheckEvery: 20 },
    )
    // Else little was remembered, and little has been tested; without its regions a life takes ten times as long.
    expect(model.steps.computed * 5).toBeLessThan(model.steps.taken.length)
  })
})

test('eventless transitions of two regions are tried in the order in which their states were entered', () => {
  const exploration = explored(REACHING['eventless transitions in several regions at once'] as AnyStateMachine, {
    events: events('l', 'r', 'open'),
  })
  const said = ({ params }: { readonly params: unknown }) => (params as { readonly text: string }).text
  expect(labels(verdict(exploration, inOrder('x', 'left first', said, ['left'], 'right')))).toEqual(['start', 'r', 'open'])
  const both = [...exploration.graph.states.keys()].flatMap((state) =>
    [...exploration.graph.edgesOf(state)].map(({ effects }) => effects.map(said).join()),
  )
  expect(new Set(both)).toEqual(new Set(['', 'left', 'right', 'left,right', 'right,left']))
})
