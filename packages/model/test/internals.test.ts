// Fails when: a version of xstate moves one of the members that the checker uses without a promise;
// the name of the test is the member. Or when a file other than src/engine/internals.ts begins to
// use one.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  and,
  assign,
  cancel,
  createActor,
  type ExecutableActionObject,
  emit,
  enqueueActions,
  fromPromise,
  type InspectionEvent,
  log,
  not,
  raise,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate'
import {
  AFTER,
  CANCEL,
  cancelled,
  doneEvent,
  EMIT,
  emitted,
  endIn,
  failedEvent,
  type GuardParts,
  isAssign,
  isCustom,
  isEnqueueing,
  isError,
  isSynced,
  LOG,
  nodesOf,
  parentOf,
  RAISE,
  SEND,
  SPAWN,
  STOP,
  STOP_CHILD,
  scheduledIn,
  sent,
  spawned,
  stopped,
} from '../src/engine/internals.ts'

const SOURCES = join(import.meta.dirname, '../src')
const INTERNALS = 'engine/internals.ts'

const work = fromPromise(() => Promise.resolve('done'))
const child = setup({ actors: { work } }).createMachine({ id: 'child', initial: 'on', states: { on: { on: { ping: {} } } } })
const assigns = assign({ count: 1 })
const enqueues = enqueueActions(({ enqueue, check }) => {
  if (check(() => true)) enqueue({ type: 'custom' })
})
/** Everything of xstate that leaves a trace in what it hands out to be executed. */
const machine: AnyStateMachine = setup({
  actors: { child, work },
  actions: { custom: () => {} },
  guards: { yes: () => true },
}).createMachine({
  id: 'all',
  context: { count: 0 },
  initial: 'off',
  invoke: { id: 'kept', src: 'child' },
  states: {
    off: {
      after: { 10: 'on' },
      on: {
        all: {
          target: 'on',
          actions: [
            assigns,
            enqueues,
            'custom',
            spawnChild('child', { id: 'made', syncSnapshot: true, input: 7 }),
            sendTo('kept', { type: 'ping' }, { id: 'later', delay: 5 }),
            raise({ type: 'ping' }, { id: 'soon', delay: 6 }),
            cancel('later'),
            emit({ type: 'said' }),
            log('written'),
            stopChild('kept'),
          ],
        },
      },
    },
    on: { on: { leave: { guard: and(['yes', not(stateIn('off'))]), target: 'off' } } },
  },
} as never) as unknown as AnyStateMachine

/** What xstate hands out to be executed in answer to an event, by the type of the action. */
function handedOut() {
  const found = new Map<string, ExecutableActionObject>()
  const actor = createActor(machine)
  actor.start()
  const { _actorScope: scope } = actor as unknown as { readonly _actorScope: AnyActorScope }
  machine.transition(actor.getSnapshot(), { type: 'all' }, {
    ...scope,
    actionExecutor: (handed: ExecutableActionObject) => void found.set(handed.type, handed),
  } as never)
  actor.stop()
  return found
}

/** An action of that type; a sentence when xstate makes none. */
function action(type: string) {
  const found = handedOut().get(type)
  if (!found) throw new Error(`xstate hands out no action of type ${type} any more: ${[...handedOut().keys()].join(', ')}`)
  return found
}

const moved = (member: string, use: string): string => `xstate has moved ${member}, by which the checker ${use}: mend src/${INTERNALS}`

describe('xstate still has', () => {
  test('the types of built-in actions', () => {
    const types = [...handedOut().keys()]
    expect(types, moved('action types', 'knows what a step asks for')).toEqual(
      expect.arrayContaining([SPAWN, STOP_CHILD, SEND, RAISE, CANCEL, EMIT, LOG, 'custom']),
    )
  })

  test('actorRef, src and input of xstate.spawnChild', () => {
    const { actorRef, src, input } = spawned(action(SPAWN))
    expect([actorRef?.id, actorRef?.logic, src, input], moved('params of spawnChild', 'starts children')).toEqual([
      'made',
      child,
      'child',
      7,
    ])
  })

  test('_syncSnapshot of an actor', () => {
    const { actorRef } = spawned(action(SPAWN))
    expect(actorRef && isSynced(actorRef), moved('_syncSnapshot', 'refuses children that tell every snapshot')).toBe(true)
  })

  test('the actor of xstate.stopChild', () => {
    expect(stopped(action(STOP_CHILD))?.id, moved('params of stopChild', 'stops children')).toBe('kept')
  })

  test('to, event, id and delay of xstate.sendTo and xstate.raise', () => {
    const { to, event, id, delay } = sent(action(SEND))
    expect([to?.id, event, id, delay], moved('params of sendTo', 'delivers events')).toEqual(['kept', { type: 'ping' }, 'later', 5])
    const raised = sent(action(RAISE))
    expect([raised.event, raised.id, raised.delay], moved('params of raise', 'sets timers')).toEqual([{ type: 'ping' }, 'soon', 6])
  })

  test('sendId of xstate.cancel, event of xstate.emit', () => {
    expect(cancelled(action(CANCEL)), moved('params of cancel', 'cancels timers')).toBe('later')
    expect(emitted(action(EMIT)), moved('params of emit', 'knows what is said')).toEqual({ type: 'said' })
  })

  test('_parent of an actor', () => {
    const actor = createActor(machine).start()
    const kept = actor.getSnapshot().children['kept']
    expect(kept && parentOf(kept), moved('_parent', 'knows whose child an actor is')).toBe(actor)
    actor.stop()
  })

  test('_nodes of a snapshot', () => {
    const ids = nodesOf(createActor(machine).getSnapshot() as AnyMachineSnapshot).map(({ id }) => id)
    expect(ids, moved('_nodes', 'knows which states are active')).toEqual(['all', 'all.off'])
  })

  test('_scheduledEvents of a system', () => {
    const actor = createActor(machine).start()
    const [timer] = Object.values(scheduledIn(actor.system))
    expect([timer?.source, timer?.delay], moved('_scheduledEvents', 'replays timers on live actors')).toEqual([actor, 10])
    expect(timer?.event.type, moved('the type of delayed transitions', 'names timers')).toBe(`${AFTER}10.all.off`)
    actor.stop()
  })

  test('_transitions of the inspection event @xstate.microstep', () => {
    const seen: InspectionEvent[] = []
    const actor = createActor(machine, { logger: () => {}, inspect: (event) => void seen.push(event) }).start()
    actor.send({ type: 'all' })
    const taken = seen.flatMap((event) => (event.type === '@xstate.microstep' ? event._transitions.map(({ eventType }) => eventType) : []))
    expect(taken, moved('_transitions', 'knows which transitions are taken')).toContain('all')
    actor.stop()
  })

  test('the members of a system that a step needs', () => {
    const touched = new Set<string>()
    const actor = createActor(machine).start()
    const { _actorScope: scope } = actor as unknown as { readonly _actorScope: AnyActorScope }
    const system = new Proxy(scope.system, {
      get: (target, key) => {
        touched.add(String(key))
        return Reflect.get(target, key)
      },
    })
    machine.transition(actor.getSnapshot(), { type: 'all' }, {
      ...scope,
      system,
      self: Object.assign(Object.create(actor), { system }),
      actionExecutor: () => {},
    } as never)
    const known = ['_bookId', '_register', '_unregister', '_set', '_clock', '_logger', '_sendInspectionEvent']
    expect(
      [...touched].filter((key) => !known.includes(key)),
      'xstate asks the system for more than the stand-in has',
    ).toEqual([])
    actor.stop()
  })

  test('the types of what a parent hears, and of a stop', async () => {
    const heard: string[] = []
    const parent = setup({ actors: { work, failing: fromPromise(() => Promise.reject(new Error('no'))) } }).createMachine({
      invoke: [
        { id: 'good', src: 'work' },
        { id: 'bad', src: 'failing', onError: {} },
      ],
      on: { '*': { actions: ({ event }) => void heard.push(event.type) } },
    })
    const actor = createActor(parent, { inspect: (event) => void (event.type === '@xstate.event' && heard.push(event.event.type)) }).start()
    await expect
      .poll(() => heard, { message: moved('the types of ends', 'tells parents of ended children') })
      .toEqual(expect.arrayContaining([doneEvent('good', 0).type, failedEvent('bad', 0).type]))
    expect([endIn(doneEvent('good', 0).type), endIn(failedEvent('bad', 0).type)]).toEqual(['done', 'error'])
    expect([isError(failedEvent('bad', 0).type), isError('other')]).toEqual([true, false])
    actor.stop()
    expect(STOP).toBe('xstate.stop')
  })

  test('type, assignment and resolve of assign', () => {
    expect(isAssign(assigns), moved('assign', 'tells reading from writing')).toBe(true)
    const { assignment, resolve } = assigns as unknown as { readonly assignment: unknown; readonly resolve: unknown }
    expect([assignment, typeof resolve], moved('assign', 'does assignments again')).toEqual([{ count: 1 }, 'function'])
  })

  test('type, collect and resolve of enqueueActions', () => {
    expect(isEnqueueing(enqueues), moved('enqueueActions', 'sees what is enqueued')).toBe(true)
    const { collect, resolve } = enqueues as unknown as { readonly collect: unknown; readonly resolve: unknown }
    expect([typeof collect, typeof resolve], moved('enqueueActions', 'sees what is enqueued')).toEqual(['function', 'function'])
    expect([isCustom(enqueues), isCustom(assigns), isCustom(() => {})]).toEqual([false, false, true])
  })

  test('guards of and, or, not; stateValue of stateIn; check of each', () => {
    const all = and(['yes', not(stateIn('off'))]) as GuardParts
    const [, inner] = all.guards ?? []
    const [state] = (inner as GuardParts).guards ?? []
    const parts = [all.guards?.length, typeof all.check, (state as GuardParts).stateValue]
    expect(parts, moved('the parts of guards', 'sees which look at the state')).toEqual([2, 'function', 'off'])
  })

  test('getTransitionData of a machine, transitions, always, order and initial of its states', () => {
    const { root } = machine
    const off = root.states['off'] as AnyStateNode
    expect(typeof machine.getTransitionData, moved('getTransitionData', 'sees which events are asked for')).toBe('function')
    expect([...off.transitions.keys()], moved('transitions', 'lists transitions')).toContain('all')
    expect([root.order, off.order, root.initial.target?.[0]?.id]).toEqual([0, 1, 'all.off'])
  })
})

/**
 * A member that begins with an underscore, read or destructured; a type of xstate's own, as a text
 * or in an expression.
 */
const PRIVATE = /\._[a-z]\w+|\{[^}]*\b_[a-z]\w+[^}]*\} ?[=:)]|['`/^]@?xstate\\?\.\w/

test('no other file names a member of xstate that begins with an underscore, or a type of its own', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts') && file !== INTERNALS)
  const lines = files.flatMap((file) =>
    readFileSync(join(SOURCES, file), 'utf8')
      .split('\n')
      .map((line, at) => ({ line: line.trim(), place: `${file}:${at + 1}` })),
  )
  const found = lines.filter(({ line }) => PRIVATE.test(line) && !/^(\/?\*|\/\/)/.test(line))
  expect(found).toEqual([])
  expect(
    ['ref._parent', 'const { _nodes } = snapshot', "type === 'xstate.emit'", '`xstate.done.`'].filter((line) => !PRIVATE.test(line)),
  ).toEqual([])
})
