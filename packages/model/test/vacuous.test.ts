// Fails when: a property whose condition came true in no run is said to hold, or one whose
// condition did come true is said to be vacuous.
import { describe, expect, test } from 'vitest'
import { setup } from 'xstate'
import {
  alongEdges,
  always,
  assertHolds,
  atMostOnce,
  confluent,
  type Effect,
  handlesOrIgnores,
  inOrder,
  mayBeVacuous,
  monitored,
  type Property,
  terminates,
  within,
} from '../src/index.ts'
import { events, explored, verdict } from './machines.ts'

const saying = (text: string) => ({ type: 'say' as const, params: { text } })
const said = ({ params }: Effect) => (params as { readonly text: string }).text

/** `late` is never reached: no event leads there. */
const walk = setup({ actions: { say: (_, _params: { readonly text: string }) => {} } }).createMachine({
  id: 'walk',
  initial: 'home',
  states: {
    home: { on: { leave: { target: 'out', actions: saying('leaves') }, wait: {} } },
    out: { after: { 10: { target: 'back', actions: saying('returns') } } },
    late: { entry: saying('is late'), after: { 10: 'back' } },
    back: { type: 'final' },
  },
})
const walking = () => explored(walk, { events: events('leave', 'wait') })

/** The same property about what happens, and about what does not. */
const PROPERTIES: readonly [string, (isMet: boolean) => Property, string][] = [
  [
    'always',
    (isMet) => always('a', 'a', () => true, { when: (root) => root.matches(isMet ? 'out' : 'late') }),
    'its condition is true in no state',
  ],
  [
    'alongEdges',
    (isMet) => alongEdges('a', 'a', () => true, { when: (_, after) => after.matches(isMet ? 'out' : 'late') }),
    'the property applies to no step',
  ],
  [
    'terminates',
    (isMet) => terminates('a', 'a', { from: (root) => root.matches(isMet ? 'out' : 'late') }),
    'no run reaches a state that has to lead to the end',
  ],
  ['inOrder', (isMet) => inOrder('a', 'a', said, ['leaves'], isMet ? 'returns' : 'is late'), 'no run says "is late"'],
  [
    'atMostOnce',
    (isMet) => atMostOnce('a', 'a', (effect) => (isMet || said(effect) === 'is late' ? said(effect) : undefined)),
    'nothing that happens in any run',
  ],
  [
    'monitored, by what it remembers',
    (isMet) => monitored('a', 'a', { initial: '', next: (at, effect) => (said(effect) === (isMet ? 'returns' : 'is late') ? 'seen' : at) }),
    'nothing that happens in any run',
  ],
  [
    'monitored, by what it hears',
    (isMet) =>
      monitored('a', 'a', {
        initial: '',
        next: (at) => at,
        heard: (at, { event }) => (event.type === (isMet ? 'leave' : 'arrive') ? 'left' : at),
      }),
    'nothing that happens in any run',
  ],
  [
    'monitored, by what it concerns',
    (isMet) =>
      monitored('a', 'a', { initial: '', next: (at) => at, concerns: (effect) => said(effect) === (isMet ? 'returns' : 'is late') }),
    'nothing that happens in any run',
  ],
  [
    'confluent',
    (isMet) => confluent('a', 'a', (one, other) => isMet && one.kind === 'event' && other.kind === 'event', { mayDisable: () => true }),
    'the property applies to no two choices',
  ],
  [
    'within',
    (isMet) =>
      within('a', 'a', { from: (root) => root.matches(isMet ? 'out' : 'late'), until: (root) => root.status === 'done', atMostMs: 10 }),
    'no run starts the clock',
  ],
]

describe('a property that is about nothing does not hold, and says why', () => {
  test.each(PROPERTIES)('%s', (_, property, why) => {
    const exploration = walking()
    expect(verdict(exploration, property(true))).toEqual({ id: 'a', text: 'a', holds: true })
    const vacuous = verdict(exploration, property(false))
    expect(vacuous).toEqual({ id: 'a', text: 'a', holds: false, vacuous: expect.stringContaining(why) as string })
    expect(() => assertHolds([vacuous])).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL_VACUOUS',
        message: expect.stringMatching(/^a is vacuous: .*; if this is intended, wrap the property in mayBeVacuous\(\)$/) as string,
      }),
    )
  })

  test('of a machine that no event reaches', () => {
    const idle = setup({}).createMachine({ id: 'idle' })
    expect(verdict(explored(idle), handlesOrIgnores('a'))).toMatchObject({ holds: false, vacuous: 'no event reaches any machine' })
    expect(
      verdict(
        explored(idle),
        alongEdges('a', 'a', () => false),
      ),
    ).toMatchObject({ holds: false, vacuous: 'the property applies to no step' })
  })
})

describe('where it is meant', () => {
  test.each(PROPERTIES)('%s holds, and still says why', (_, property, why) => {
    const answer = verdict(walking(), mayBeVacuous(property(false)))
    expect(answer).toEqual({ id: 'a', text: 'a', holds: true, vacuous: expect.stringContaining(why) as string })
    assertHolds([answer])
  })

  test('a violation is none the less one, and stands before what is vacuous', () => {
    const exploration = walking()
    const violated = verdict(exploration, mayBeVacuous(always('b', 'b', (root) => !root.matches('out'))))
    expect(violated).toMatchObject({ holds: false, trace: expect.anything() as unknown })
    const vacuous = verdict(exploration, inOrder('a', 'a', said, ['leaves'], 'is late'))
    expect(() => assertHolds([vacuous, violated])).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL_VIOLATED',
        message: expect.stringMatching(/^a is vacuous: .*\nb does not hold: b\n\n0 start/) as string,
      }),
    )
  })
})
