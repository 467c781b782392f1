// Fails when: an object with options that a function of this package takes may have a field that
// nothing reads, or a new function is added of which that is not known.
import { describe, expect, test } from 'vitest'
import { type AnyStateMachine, setup } from 'xstate'
import * as model from '../src/index.ts'

const machine = setup({}).createMachine({
  id: 'm',
  initial: 'a',
  states: { a: { on: { go: 'b' } }, b: { type: 'final' } },
}) as unknown as AnyStateMachine
const nothing = { typo: 1 } as object
const yes = () => true
const explored = () => model.explore(machine, { events: [{ type: 'go' }] })
const bound = { from: yes, until: yes, atMostMs: 1 }

/** Every function that takes such an object, called with one that has a field too many. */
const TAKES: Readonly<Record<string, () => unknown>> = {
  alongEdges: () => model.alongEdges('x', 'x', yes, nothing),
  always: () => model.always('x', 'x', yes, nothing),
  confluent: () => model.confluent('x', 'x', yes, nothing),
  explore: () => model.explore(machine, nothing),
  handlesOrIgnores: () => model.handlesOrIgnores('x', [{ machine: 'm', event: 'go', ...nothing }]),
  mismatches: () => model.mismatches(explored(), nothing),
  Model: () => new model.Model(machine, nothing, 64),
  monitored: () => model.monitored('x', 'x', { initial: '', next: () => '', ...nothing }),
  Stage: () => new model.Stage(machine, nothing),
  terminates: () => model.terminates('x', 'x', nothing),
  within: () => model.within('x', 'x', { ...bound, ...nothing }),
}

/** Those that take none: names, texts, functions, or what another of these functions made. */
const TAKES_NONE = [
  'actorAt',
  'assertHolds',
  'atMostOnce',
  'broken',
  'canonical',
  'check',
  'endReachable',
  'inOrder',
  'isDone',
  'mayBeVacuous',
  'ModelError',
  'noDeadlock',
  'noErrors',
  'printTrace',
  'promela',
  'rejects',
  'Replay',
  'replayed',
  'resolves',
  'sequenceDiagram',
  'timersAnd',
  'unreached',
  'untaken',
  'untakenText',
  'viewOf',
]

describe('an option that nothing reads', () => {
  test.each(Object.entries(TAKES))('is refused by %s', (_, call) => {
    const message = expect.stringMatching(/^\S.*\.typo: unknown; there is /) as string
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_MODEL_OPTION', message }))
  })

  test.each([
    ['a slip of the hand', { wehn: yes }, 'x: options.wehn: unknown (did you mean "when"?); there is when'],
    ['a function in place of the options', yes, 'x: options: got () => true, allowed: an object'],
    ['null', null, 'x: options: got null, allowed: an object'],
  ])('says what there is: %s', (_, options, message) => {
    expect(() => model.always('x', 'x', yes, options as object)).toThrow(message)
  })

  test('is refused by every function of this package', () => {
    const functions = Object.entries(model).flatMap(([name, given]) => (typeof given === 'function' ? [name] : []))
    expect(functions.sort()).toEqual([...Object.keys(TAKES), ...TAKES_NONE].sort())
  })
})
