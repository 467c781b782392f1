// Fails when: a step that the explorer remembers is not the step that xstate computes for that
// state.
import { describe, expect, test } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { inOrder } from '../src/index.ts'
import { alphabet, events, explored, labels, verdict } from './machines.ts'
import { REACHING } from './reaching.ts'
import { delaying, erring, nested, replacing, spawning, talking } from './systems.ts'

describe('every step, computed by xstate again, is the one that was remembered', () => {
  test.each(Object.entries(REACHING))('%s', (_, machine) => {
    const { model } = explored(machine, { events: alphabet(machine), recheckEvery: 1 })
    expect(model.steps.taken.length).toBeGreaterThan(6)
  })

  test.each(Object.entries({ nested, spawning, delaying, erring, replacing, talking }))('%s', (_, machine) => {
    explored(machine, { events: alphabet(machine), recheckEvery: 1 })
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
