// Fails when: a phase machine waits for a time that it does not state, or states another one than
// it waits for.
import { describe, expect, test } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { vocabulary } from '#src/machines/vocabulary.ts'

const machines = Object.entries((vocabulary.createMachine({} as never) as unknown as AnyStateMachine).implementations.actors).flatMap(
  ([work, logic]) => {
    const machine = logic as AnyStateMachine
    return 'root' in machine ? [{ work, machine }] : []
  },
)

/** The delays that a machine waits for, by name. */
const delaysOf = (machine: AnyStateMachine): string[] =>
  Object.values(machine.root.states).flatMap((state) => state.after.map(({ delay }) => String(delay)))

const INPUTS: Readonly<Record<string, readonly { readonly input: object; readonly limitMs: number | undefined }[]>> = {
  'notify-clients': [
    { input: { how: 'gradual', delayMs: 2_000 }, limitMs: 1_000 },
    { input: { how: 'after-delay', delayMs: 2_000 }, limitMs: 2_000 },
    { input: { how: 'at-once', delayMs: 2_000 }, limitMs: 0 },
  ],
  shutdownDelay: [{ input: { delayMs: 700 }, limitMs: 700 }],
  lastCall: [{ input: { lastCallMs: 300 }, limitMs: 300 }],
  requestDrain: [
    { input: { limitMs: 900 }, limitMs: 900 },
    { input: { limitMs: undefined }, limitMs: undefined },
  ],
  watchDrain: [{ input: { graceMs: 400 }, limitMs: 400 }],
  userPhase: [{ input: { kind: 'phase', name: 'flush-queue', timeoutMs: 800 }, limitMs: 800 }],
  closeConnections: [{ input: { connectionTimeoutMs: 2_000 }, limitMs: 2_000 }],
}

/** Its time ends nothing: it names what is not there by then. */
const NAMES_ONLY = 'muxComplete'
const waiting = machines.filter(({ work, machine }) => work !== NAMES_ONLY && delaysOf(machine).length > 0)

test('every phase machine that waits for a time states its limit', () => {
  expect(waiting.map(({ work }) => work).sort()).toEqual(Object.keys(INPUTS).sort())
})

describe('the limit is what the machine waits for', () => {
  test.each(waiting)('$work', ({ work, machine }) => {
    const { limitMs } = machine.root.meta as { readonly limitMs: (input: object) => number | undefined }
    for (const { input, limitMs: expected } of INPUTS[work] ?? []) {
      expect(limitMs(input)).toBe(expected)
      if (expected === undefined) continue
      for (const name of delaysOf(machine)) {
        const delay = machine.implementations.delays[name] as (args: { readonly context: object }) => number
        expect(delay({ context: input }), name).toBe(expected)
      }
    }
  })
})
