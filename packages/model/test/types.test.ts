// Fails when: the compiler takes a state, an event or a context key that the types of the machine
// do not have, or refuses one that they have.
import { expect, test } from 'vitest'
import { createMachine, setup } from 'xstate'
import { always, check, explore } from '../src/index.ts'

const door = setup({
  types: {} as {
    context: { readonly opened: number }
    events: { readonly type: 'open'; readonly how: 'softly' | 'wide' } | { readonly type: 'close' }
  },
}).createMachine({
  id: 'door',
  context: { opened: 0 },
  initial: 'closed',
  states: { closed: { on: { open: 'open' } }, open: { initial: 'ajar', states: { ajar: {}, wide: {} }, on: { close: 'closed' } } },
})

test('names of a machine with types', () => {
  const exploration = explore(door, { events: [{ type: 'open', how: 'softly' }, { type: 'close' }] })
  explore(door, { events: (root) => (root.matches('closed') ? [{ type: 'open', how: 'wide' }] : [{ type: 'close' }]) })
  const unused = (): void => {
    // @ts-expect-error there is no such event
    explore(door, { events: [{ type: 'opne' }] })
    // @ts-expect-error there is no such event
    explore(door, { events: () => [{ type: 'opne' }] })
    // @ts-expect-error an event is no text
    explore(door, { events: ['open'] })
    // @ts-expect-error there is no such option
    explore(door, { event: [{ type: 'close' }] })
    // @ts-expect-error not a machine
    explore({})
    // @ts-expect-error there is no such state
    check(exploration, [always('a', 'a', (root) => root.matches('opne'))])
    // @ts-expect-error there is no such state
    check(exploration, [always('a', 'a', (root) => root.value === 'opne')])
    // @ts-expect-error there is no such key
    check(exploration, [always('a', 'a', (root) => root.context.opnd === 0)])
  }
  expect(unused).toBeDefined()
  const verdicts = check(exploration, [
    always('never-opened', 'it stays closed', (root) => root.matches('closed') && root.value === 'closed' && root.context.opened === 0),
    always<typeof door>('nested', 'it is never open wide', (root) => !root.matches({ open: 'wide' })),
  ])
  expect(verdicts.map(({ holds }) => holds)).toEqual([false, true])
})

test('a machine without types takes any names, and finds them out when it is explored', () => {
  const untyped = createMachine({ id: 'untyped', initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } })
  const exploration = explore(untyped, { events: [{ type: 'go' }] })
  expect(check(exploration, [always('a', 'a', (root) => !root.matches('b'))])).toMatchObject([{ holds: false }])
  expect(() => check(exploration, [always('a', 'a', (root) => !root.matches('bb'))])).toThrow(
    expect.objectContaining({
      code: 'ERR_MODEL_UNKNOWN',
      message: 'a: its function fails in the state "a": untyped: there is no state "bb" (did you mean "b"?); there is a, b',
    }),
  )
})
