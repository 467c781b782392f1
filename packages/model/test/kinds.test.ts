// Fails when: a child that is no machine does in the model what its kind never does, or does not do
// what its kind can; or when what is said of a child is not all that it does.
import { EMPTY, throwError } from 'rxjs'
import { describe, expect, test } from 'vitest'
import {
  type AnyActorLogic,
  assign,
  createActor,
  createMachine,
  enqueueActions,
  fromCallback,
  fromEventObservable,
  fromObservable,
  fromPromise,
  fromTransition,
  sendTo,
  setup,
  spawnChild,
} from 'xstate'
import { kindOf } from '../src/engine/internals.ts'
import { check, explore, mismatches, noErrors, type OpaqueChild, printTrace, rejects, resolves, untaken } from '../src/index.ts'
import { events, explored, verdict } from './machines.ts'

const never = { subscribe: () => ({ unsubscribe: () => {} }) } as never
const counting = fromTransition(
  (count: number, event: { readonly type: string }) => {
    if (event.type === 'break') throw Object.assign(new Error('broken'), { stack: undefined })
    return event.type === 'up' ? Math.min(count + 1, 2) : count
  },
  ({ input }: { readonly input: number | undefined }) => input ?? 0,
)
const KINDS: Readonly<Record<string, AnyActorLogic>> = {
  promise: fromPromise(() => Promise.resolve()),
  callback: fromCallback(() => {}),
  observable: fromObservable(() => never),
  'event observable': fromEventObservable(() => never),
  transition: counting as AnyActorLogic,
  machine: createMachine({}),
  'logic of its own': {
    transition: (s: unknown) => s,
    getInitialSnapshot: () => ({ status: 'active' }),
    getPersistedSnapshot: (s: unknown) => s,
  } as never,
}

/** A parent that hears two events, the end and the error of its child. */
const parentOf = (logic: AnyActorLogic) =>
  setup({ actors: { child: logic } }).createMachine({
    id: 'parent',
    initial: 'with',
    states: {
      with: { invoke: { id: 'c', src: 'child', onDone: 'done', onError: 'failed' }, on: { item: 'got', 'more.*': 'got', stop: 'without' } },
      got: {},
      done: {},
      failed: {},
      without: {},
    },
  })

/** What happens with the child, in words. */
function commandsOf(logic: AnyActorLogic, child?: OpaqueChild): string[] {
  const { model } = explored(parentOf(logic), child ? { children: { child } } : {})
  return model.choices.all.all.map(({ label }) => label).sort()
}

test.each(Object.entries(KINDS))('%s is known', (kind, logic) => {
  expect(kindOf(logic)).toBe(kind)
})

describe('does what its kind can do', () => {
  test.each([
    ['promise', ['c rejects: rejected', 'c resolves']],
    // It has no end of its own, and sends what its parent hears.
    ['callback', ['c fails: rejected', 'c sends item', 'c sends stop']],
    ['observable', ['c completes', 'c fails: rejected']],
    ['event observable', ['c completes', 'c fails: rejected', 'c sends item', 'c sends stop']],
    ['transition', []],
    ['machine', []],
  ])('%s', (kind, expected) => {
    expect(commandsOf(KINDS[kind] as AnyActorLogic)).toEqual(expected)
  })

  test('of logic that is made by hand nothing is known', () => {
    expect(() => commandsOf(KINDS['logic of its own'] as AnyActorLogic)).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL_UNSUPPORTED',
        message: expect.stringContaining('describe in `children` what it may do') as string,
      }),
    )
    expect(commandsOf(KINDS['logic of its own'] as AnyActorLogic, { outcomes: [resolves(7)] })).toEqual(['c resolves 7'])
  })

  test('and that alone which is said of it, if anything is', () => {
    expect(commandsOf(KINDS['promise'] as AnyActorLogic, { outcomes: [resolves('x')] })).toEqual(['c resolves "x"'])
    expect(commandsOf(KINDS['callback'] as AnyActorLogic, { sends: events('item', 'more.of it') })).toEqual([
      'c sends item',
      'c sends more.of it',
    ])
    expect(commandsOf(KINDS['event observable'] as AnyActorLogic, { outcomes: [rejects(1)] })).toEqual(['c fails: 1'])
    for (const kind of ['promise', 'callback', 'observable', 'event observable', 'transition'])
      expect(commandsOf(KINDS[kind] as AnyActorLogic, {})).toEqual([])
  })

  test('where it is made in its place, by its id', () => {
    const inline = createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { invoke: { id: 'feed', src: KINDS['callback'] as AnyActorLogic }, on: { X: 'b' } }, b: {} },
    } as never)
    const { model } = explored(inline, { children: { feed: { sends: events('X') } } })
    expect(model.choices.all.all.map(({ label }) => label)).toEqual(['feed sends X'])
  })
})

describe('a transition function', () => {
  const reducing = (input?: number) =>
    setup({ actors: { counting }, types: {} as { context: { readonly errors: number } } }).createMachine({
      id: 'reducing',
      context: { errors: 0 },
      initial: 'on',
      invoke: {
        id: 'c',
        src: 'counting',
        ...(input !== undefined && { input }),
        onError: { target: '.off', actions: assign({ errors: ({ context }) => context.errors + 1 }) },
      },
      states: { on: {}, off: { type: 'final' } },
      on: { up: { actions: sendTo('c', { type: 'up' }) }, break: { actions: sendTo('c', { type: 'break' }) } },
    })
  const options = { events: events('up', 'break') }

  test('hears events, keeps what it has come to, and ends only when it throws', () => {
    const exploration = explored(reducing() as never, options)
    const seen = exploration.graph.states.map(({ local, children }) => [
      local.configuration?.value,
      children.map(({ local }) => local.reduced),
    ])
    expect(seen).toEqual([
      ['on', [0]],
      ['on', [1]],
      ['off', []],
      ['on', [2]],
    ])
    expect(exploration.model.choices.all.all.map(({ label }) => label)).toEqual(['up', 'break'])
  })

  test('is what a live one is, in every step, and may be looked at', () => {
    for (const machine of [reducing(), reducing(1)]) expect(mismatches(explored(machine as never, options), { every: 'edge' })).toEqual([])
    const [answer] = check(explore(reducing(), { events: [{ type: 'up' }] } as never), [
      {
        id: 'count',
        text: 'it stays below two',
        violation: ({ graph }) =>
          graph.states.some(({ children }) => children[0]?.local.reduced === 2) ? { finding: 'two', edges: [0] } : undefined,
      },
    ])
    expect(printTrace(answer?.trace as never)).toContain('=> two')
  })

  test('and custom actions and children without a name are none of the real ones', () => {
    let ran = 0
    const run = (): void => {
      ran++
    }
    const work = fromPromise(async () => run())
    const machine = setup({}).createMachine({
      id: 'inline',
      entry: [run, spawnChild(work, { id: 'spawned' }), enqueueActions(({ enqueue }) => enqueue(run))],
      invoke: { id: 'invoked', src: work, onDone: { actions: run }, onError: {} },
      on: { 'xstate.error.actor.spawned': {} },
      initial: 'a',
      states: { a: { exit: run, on: { go: { target: 'b', actions: () => run() } } }, b: {} },
    } as never)
    expect(mismatches(explored(machine as never, { events: [{ type: 'go' }] as never }), { every: 'edge' })).toEqual([])
    expect(ran).toBe(0)
  })

  test('of which something else is said is opaque', () => {
    const opaque = explored(reducing() as never, { ...options, children: { counting: { outcomes: [rejects()] } } })
    expect(opaque.graph.stateCount).toBe(2)
    expect(mismatches(opaque, { every: 'edge' })).toEqual([])
    expect(() => explored(reducing() as never, { ...options, children: { counting: { outcomes: [resolves()] } } })).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL_OPTION',
        message: 'children.counting.outcomes: a transition never resolves, allowed: rejects',
      }),
    )
  })
})

test('what a callback may send is found, where nothing was said of it', () => {
  const machine = createMachine({
    initial: 'a',
    invoke: { id: 'cb', src: fromCallback(({ sendBack }) => sendBack({ type: 'X' })), onError: {} },
    states: { a: { on: { X: 'b' } }, b: { type: 'final' } },
  })
  const exploration = explored(machine)
  expect(verdict(exploration, noErrors()).holds).toBe(true)
  expect(untaken(exploration)).toEqual([])
})

describe('what a live actor does is among it', () => {
  /** How a live child ends, or what it sends. */
  async function heard(logic: AnyActorLogic): Promise<string> {
    const actor = createActor(parentOf(logic)).start()
    for (let turns = 0; turns < 10; turns++) await Promise.resolve()
    const { value } = actor.getSnapshot()
    actor.stop()
    return String(value)
  }
  test.each<[string, AnyActorLogic, string]>([
    [
      'a callback throws',
      fromCallback(() => {
        throw new Error('at once')
      }),
      'failed',
    ],
    ['a callback sends', fromCallback(({ sendBack }) => sendBack({ type: 'item' })), 'got'],
    ['a promise resolves', fromPromise(() => Promise.resolve()), 'done'],
    ['a promise rejects', fromPromise(() => Promise.reject(new Error('no'))), 'failed'],
    ['an observable completes', fromObservable(() => EMPTY), 'done'],
    ['an observable fails', fromEventObservable(() => throwError(() => new Error('no'))), 'failed'],
  ])('%s', async (_, logic, state) => {
    expect(await heard(logic)).toBe(state)
    const reached = explored(parentOf(logic)).graph.states.map(({ local }) => local.configuration?.value)
    expect(reached).toContain(state)
  })
})
