import { assign, cancel, emit, enqueueActions, fromCallback, fromPromise, raise, sendParent, sendTo, setup, stopChild } from 'xstate'

/**
 * Systems that use everything the explorer supports, each small enough to be followed on live
 * actors edge by edge. `say` is what they say to the outside; its order is part of what is
 * compared.
 */
const say = (_: unknown, _params: { readonly text: string }): void => {}
const saying = (text: string) => ({ type: 'say' as const, params: { text } })
const work = fromPromise<string>(() => Promise.resolve(''))

const grandchild = setup({ actions: { say }, actors: { work }, delays: { limit: 100 } }).createMachine({
  id: 'grandchild',
  initial: 'working',
  entry: saying('grandchild begins'),
  states: {
    working: {
      invoke: { id: 'work', src: 'work', onDone: { target: 'done', actions: sendParent({ type: 'grandchild.done' }) }, onError: 'failed' },
      after: { limit: 'late' },
    },
    done: { type: 'final' },
    failed: { type: 'final', output: { ok: false } },
    late: { type: 'final', output: { ok: false } },
  },
  output: ({ event }) => (event as { output?: unknown }).output ?? { ok: true },
})

const child = setup({
  actions: { say },
  actors: { grandchild },
  types: {} as { context: { readonly polite: boolean }; input: { readonly polite: boolean } },
}).createMachine({
  id: 'child',
  context: ({ input }) => input,
  initial: 'delegating',
  states: {
    delegating: {
      entry: [saying('child delegates'), sendParent({ type: 'child.began' })],
      invoke: { id: 'grandchild', src: 'grandchild', onDone: 'done', onError: 'done' },
      on: {
        'grandchild.done': { actions: [saying('child hears'), sendParent({ type: 'child.heard' })] },
        cut: 'cutting',
        hello: { actions: saying('child is greeted') },
      },
    },
    cutting: { after: { 10: 'done' }, on: { cut: 'done' } },
    done: { type: 'final', entry: saying('child ends') },
  },
})

/**
 * Three levels, two children side by side, a deadline, and events up and down in the middle of
 * steps.
 */
export const nested = setup({ actions: { say }, actors: { child } }).createMachine({
  id: 'nested',
  type: 'parallel',
  entry: saying('root begins'),
  states: {
    left: {
      initial: 'working',
      states: {
        working: {
          invoke: { id: 'left', src: 'child', input: { polite: true }, onDone: { target: 'done', actions: saying('left is done') } },
          on: {
            stop: { actions: [sendTo('left', { type: 'cut' }), saying('left is cut')] },
            'child.heard': { actions: [raise({ type: 'told' }), saying('root hears')] },
          },
        },
        done: { type: 'final' },
      },
    },
    right: {
      initial: 'waiting',
      states: {
        waiting: { on: { begin: 'working', told: 'working', stop: 'done' } },
        working: {
          entry: sendTo('right', { type: 'hello' }),
          invoke: { id: 'right', src: 'child', input: { polite: false }, onDone: 'done' },
          after: { 1000: 'done' },
          exit: saying('right is left'),
        },
        done: { type: 'final' },
      },
    },
  },
})

const worker = setup({ actions: { say }, actors: { work } }).createMachine({
  id: 'worker',
  initial: 'idle',
  states: {
    idle: { on: { go: 'busy', quit: 'gone' } },
    busy: { invoke: { id: 'job', src: 'work', onDone: 'idle', onError: 'gone' }, on: { quit: 'gone' } },
    gone: { type: 'final', entry: saying('worker is gone') },
  },
})

/**
 * Children that come and go by action: spawned, spoken to, stopped, and some that end by
 * themselves.
 */
export const spawning = setup({
  types: {} as { context: { readonly alive: readonly string[] } },
  actions: {
    say,
    hire: enqueueActions(({ enqueue, context }) => {
      const id = context.alive.includes('worker-0') ? 'worker-1' : 'worker-0'
      enqueue.spawnChild('worker', { id })
      enqueue.assign({ alive: [...context.alive, id] })
      enqueue.sendTo(id, { type: 'go' })
      enqueue(saying(`hired ${id}`))
    }),
    askToQuit: enqueueActions(({ enqueue, context }) => {
      const id = context.alive.at(-1)
      if (id !== undefined) enqueue.sendTo(id, { type: 'quit' })
    }),
    dismiss: enqueueActions(({ enqueue, context }) => {
      const id = context.alive.at(-1)
      if (id === undefined) return
      enqueue.stopChild(id)
      enqueue.assign({ alive: context.alive.slice(0, -1) })
    }),
  },
  guards: { room: ({ context }) => context.alive.length < 2, some: ({ context }) => context.alive.length > 0 },
  actors: { worker },
}).createMachine({
  id: 'spawning',
  context: { alive: [] },
  initial: 'open',
  states: {
    open: {
      on: {
        hire: { guard: 'room', actions: 'hire' },
        dismiss: { guard: 'some', actions: 'dismiss' },
        quit: { guard: 'some', actions: 'askToQuit' },
        'xstate.done.actor.*': {
          actions: [
            stopChild(({ event }) => (event as unknown as { actorId: string }).actorId),
            assign({
              alive: ({ context, event }) => context.alive.filter((id) => id !== (event as unknown as { actorId: string }).actorId),
            }),
            saying('one is gone'),
          ],
        },
        close: 'closed',
      },
    },
    closed: { type: 'final' },
  },
})

/**
 * Delays of every kind: after, delayed raise, delayed send, cancelled by name, re-entered, and to a
 * child that is gone.
 */
export const delaying = setup({
  actions: { say },
  actors: { worker },
  types: {} as { context: { readonly again: boolean } },
  guards: { once: ({ context }) => !context.again },
}).createMachine({
  id: 'delaying',
  context: { again: false },
  initial: 'idle',
  states: {
    idle: { on: { start: 'running' } },
    running: {
      invoke: { id: 'worker', src: 'worker', onDone: { actions: saying('worker ended') } },
      entry: [raise({ type: 'tick' }, { delay: 10, id: 'tick' }), sendTo('worker', { type: 'go' }, { delay: 5 })],
      after: { 100: 'over', 50: { actions: saying('half') } },
      on: {
        tick: { actions: [saying('tick'), cancel('tick')] },
        calm: { actions: cancel('tick') },
        again: { guard: 'once', target: 'running', reenter: true, actions: assign({ again: true }) },
      },
      exit: [cancel('tick'), saying('left')],
    },
    over: { type: 'final' },
  },
})

const failing = setup({ actors: { work } }).createMachine({
  id: 'failing',
  initial: 'working',
  states: { working: { invoke: { id: 'work', src: 'work', onDone: 'done' } }, done: { type: 'final' } },
})

/** A child that does not handle its own child's error, and a parent that handles the child's. */
export const erring = setup({ actions: { say }, actors: { failing } }).createMachine({
  id: 'erring',
  initial: 'trying',
  states: {
    trying: {
      invoke: { id: 'failing', src: 'failing', onDone: 'done', onError: { target: 'trying-again', actions: saying('failed once') } },
    },
    'trying-again': { invoke: { id: 'failing', src: 'failing', onDone: 'done' } },
    done: { type: 'final' },
  },
})

/**
 * A child that asks to be replaced: its parent stops it and starts another of the same name while
 * it is still at work.
 */
const restless = setup({
  actions: { say },
  types: {} as { input: { readonly round: number }; context: { readonly round: number } },
}).createMachine({
  id: 'restless',
  context: ({ input }) => input,
  initial: 'here',
  states: {
    here: {
      on: {
        leave: { target: 'leaving', actions: [sendParent({ type: 'replace' }), sendParent({ type: 'note' }), saying('asked')] },
      },
    },
    leaving: { entry: sendParent({ type: 'note' }), after: { 10: 'gone' } },
    gone: { type: 'final' },
  },
})

export const replacing = setup({
  actions: { say },
  actors: { restless },
  types: {} as { context: { readonly round: number } },
  guards: { more: ({ context }) => context.round < 2 },
}).createMachine({
  id: 'replacing',
  context: { round: 0 },
  initial: 'living',
  states: {
    living: {
      invoke: { id: 'restless', src: 'restless', input: ({ context }) => ({ round: context.round }), onDone: 'over' },
      on: {
        poke: { actions: sendTo('restless', { type: 'leave' }) },
        replace: {
          guard: 'more',
          target: 'living',
          reenter: true,
          actions: [assign({ round: ({ context }) => context.round + 1 }), saying('replaced')],
        },
        note: { actions: saying('noted') },
      },
    },
    over: { type: 'final' },
  },
})

/**
 * A callback that speaks as it likes, eventless transitions with conditions, history, and an
 * emitted event.
 */
export const talking = setup({
  actions: { say },
  actors: { feed: fromCallback(() => {}) },
  types: {} as { context: { readonly heard: number }; emitted: { readonly type: 'full' } },
  guards: { full: ({ context }) => context.heard >= 2 },
}).createMachine({
  id: 'talking',
  context: { heard: 0 },
  initial: 'listening',
  invoke: { id: 'feed', src: 'feed', onError: { actions: saying('feed broke') } },
  states: {
    listening: {
      initial: 'quiet',
      states: {
        quiet: { on: { 'feed.item': 'noisy' } },
        noisy: { entry: assign({ heard: ({ context }) => context.heard + 1 }), on: { hush: 'quiet' } },
        last: { type: 'history' },
      },
      always: { guard: 'full', target: 'full' },
      on: { pause: 'paused' },
    },
    paused: { on: { resume: 'listening.last' } },
    full: { type: 'final', entry: [emit({ type: 'full' }), saying('full')] },
  },
})
