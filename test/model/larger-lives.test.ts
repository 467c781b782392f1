// Fails when: an invariant does not hold for a life with hooks, mux-complete signals or crashes, a
// machine that treats one hook otherwise than the others is not found, or our machines behave
// otherwise on live actors.
import { describe, expect, test } from 'vitest'
import { type AnyStateMachine, createMachine } from 'xstate'
import { check, explore, mismatches } from '#model'
import { composeLifecycle, type LifePlan } from '#src/machines/lifecycle.ts'
import { environmentOf, exploreLifecycle, invariantsOf } from '#src/model/life/lifecycle-model.ts'
import { plannedHooks } from '../support/fake-effects.ts'
import { lifeInput } from './life-input.ts'
import { life, violated } from './violated.ts'

const withHooks = lifeInput({
  preShutdownHooks: plannedHooks(['leave']),
  destroyFunctions: [{ kind: 'destroy', name: 'pool', timeoutMs: 1_000 }],
})

describe.each(['refuse', 'retry-after'] as const)('%s mode', (mode) => {
  test('every invariant holds with hooks and destroy functions', () => {
    expect(violated({ mode, input: withHooks, outside: ['start', 'stop'] })).toEqual({})
  })
})

describe('a life with mux-complete signals', () => {
  const muxSignals = ['apis', 'crds']

  test.each(['refuse', 'retry-after'] as const)('%s: every invariant holds', (mode) => {
    expect(violated({ mode, muxSignals, outside: ['stop'] })).toEqual({})
  })

  test('also when one answers before the start, in any order of start and stop', () => {
    expect(violated({ mode: 'refuse', muxSignals: ['apis'] })).toEqual({})
  })

  test('is on live actors as it is explored', () => {
    const explored = exploreLifecycle(life({ mode: 'refuse', muxSignals }), { outside: ['stop'] })
    expect(mismatches(explored, { sample: 2 }).slice(0, 1)).toEqual([])
  })
})

/** Its post-start hooks count as done as soon as the last registered one is. */
function waitingForTheLast(plan: LifePlan): AnyStateMachine {
  const { config, implementations } = composeLifecycle(plan)
  const at = (node: Node, ...path: readonly string[]) => path.reduce((found, name) => found.states?.[name] as Node, node)
  const working = at(config as Node, 'running', 'post-start-hooks', 'launched', 'hooks', 'working')
  const live = at(working, Object.keys(working.states ?? {}).at(-1) as string, 'live')
  const [, fired] = working.onDone as readonly [unknown, Transition]
  const invoke = live.invoke as { onDone: Transition }
  invoke.onDone = { target: fired.target, actions: [invoke.onDone.actions, fired.actions].flat() }
  return createMachine(config as never).provide(implementations as never) as AnyStateMachine
}

interface Transition {
  readonly target: string
  readonly actions: unknown
}
interface Node {
  readonly states?: Readonly<Record<string, Node>>
  readonly onDone?: unknown
  readonly invoke?: unknown
}

describe('a life with post-start hooks that end in every order', () => {
  const hooks = ['warm', 'fill', 'join'].map((name) => ({ kind: 'post-start', name, timeoutMs: 1_000 }) as const)

  test.each(['refuse', 'retry-after'] as const)('%s: every invariant holds with two', (mode) => {
    expect(violated({ mode, postStartHooks: hooks.slice(0, 2), outside: ['start', 'stop'] })).toEqual({})
  })

  test('and with three', () => {
    expect(violated({ mode: 'refuse', postStartHooks: hooks, outside: ['start', 'stop'] })).toEqual({})
  })

  test('a machine that waits for the last registered hook alone violates more in every order than in one', () => {
    const plan = life({ mode: 'refuse', postStartHooks: hooks.slice(0, 2) })
    const machine = waitingForTheLast(plan)
    const broken = ({ endInOrder }: { readonly endInOrder: boolean }) =>
      check(explore(machine, environmentOf({ ...plan, endInOrder }, { outside: ['start', 'stop'] })), invariantsOf(plan))
        .filter(({ holds }) => !holds)
        .map(({ id }) => id)
    expect(broken({ endInOrder: false })).toEqual(['work/post-start-outcome', 'brackets/hooks'])
    expect(broken({ endInOrder: true })).toEqual(['work/post-start-outcome'])
  })
})

test('also with crashes of both origins, one after the other and as an echo', () => {
  expect(violated({ mode: 'refuse', outside: ['crash', 'rejection'] })).toEqual({})
})

test('the explored life is the live one: state, timers and every word of it', () => {
  const stopOnly = exploreLifecycle(life({ mode: 'refuse' }), { outside: ['stop'] })
  expect(mismatches(stopOnly, { sample: 3 }).slice(0, 1)).toEqual([])
  const whole = exploreLifecycle(life({ mode: 'refuse', input: withHooks }))
  expect(mismatches(whole, { sample: 40 }).slice(0, 1)).toEqual([])
})
