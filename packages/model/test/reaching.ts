import {
  type AnyStateMachine,
  and,
  assign,
  createMachine,
  enqueueActions,
  fromPromise,
  not,
  raise,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate'

const say = (_: unknown, _params: { readonly text: string }): void => {}
const saying = (text: string) => ({ type: 'say' as const, params: { text } })
const work = fromPromise<string>(() => Promise.resolve(''))

/**
 * A region that goes round by itself, to be beside the one that is tested, so that steps are met
 * again in other surroundings.
 */
const beside = { initial: 'a', states: { a: { on: { turn: 'b' } }, b: { on: { turn: 'c' } }, c: { on: { turn: 'a' } } } }

/** It speaks as soon as it begins. */
const chatty = setup({ actions: { say } }).createMachine({ entry: saying('chatty begins') })

/** Each lets one thing reach from one region into another. */
export const REACHING: Readonly<Record<string, AnyStateMachine>> = {
  'a context that one region writes and another reads': setup({
    types: {} as { context: { readonly n: number; readonly m: number } },
  }).createMachine({
    context: { n: 0, m: 0 },
    type: 'parallel',
    states: {
      beside,
      writes: {
        on: {
          up: { guard: ({ context }) => context.n < 2, actions: assign({ n: ({ context }) => context.n + 1 }) },
          // Assigned without being read, sometimes to what it was already.
          reset: { actions: assign({ n: 0 }) },
          copy: { actions: assign(({ context }) => ({ ...context, m: context.n })) },
          keep: { actions: assign(({ context }) => context) },
          twice: { actions: [assign({ m: 1 }), assign({ n: ({ context }) => context.m })] },
        },
      },
      reads: {
        initial: 'low',
        states: { low: { on: { look: { guard: ({ context }) => context.n === 2, target: 'high' } } }, high: { on: { look: 'low' } } },
      },
    },
  }),
  'assignments whose outcome is looked at afterwards, or that throw at some contexts': setup({
    types: {} as { context: { readonly n: number; readonly m: number; readonly log: string } },
    actions: { say },
  }).createMachine({
    context: { n: 0, m: 0, log: '' },
    type: 'parallel',
    states: {
      beside,
      counts: { on: { up: { actions: assign({ n: ({ context }) => (context.n + 1) % 3 }) } } },
      writes: {
        initial: 'idle',
        states: {
          idle: {
            on: {
              // What is said depends on what was read only to be assigned.
              notify: {
                actions: [
                  assign({ m: ({ context }) => context.n }),
                  { type: 'say', params: ({ context }) => ({ text: `m is ${context.m}` }) },
                ],
              },
              // Which key is written depends on what is read, and a condition of the next microstep
              // reads it.
              choose: {
                target: 'chosen',
                actions: assign(({ context }) => (context.n === 1 ? { log: 'one' } : { m: context.n })),
              },
              fail: {
                actions: assign(({ context }) => {
                  if (context.n === 2) throw new Error('two')
                  return { m: context.n }
                }),
              },
            },
          },
          chosen: { always: [{ guard: ({ context }) => context.log === 'one', target: 'one' }, { target: 'idle' }] },
          one: { entry: assign({ log: '' }), on: { choose: 'idle' } },
        },
      },
    },
  }),
  'a join of all regions': createMachine({
    initial: 'both',
    states: {
      both: {
        type: 'parallel',
        states: {
          one: { initial: 'on', states: { on: { on: { x: 'off' } }, off: { type: 'final' } } },
          two: { initial: 'on', states: { on: { on: { y: 'off' } }, off: { type: 'final' } } },
          three: { initial: 'on', states: { on: { on: { x: 'half' } }, half: { on: { x: 'on', z: 'off' } }, off: { type: 'final' } } },
        },
        onDone: 'over',
      },
      over: { on: { again: 'both' } },
    },
  }),
  'an exit from all regions': setup({ actions: { say }, actors: { work } }).createMachine({
    initial: 'in',
    states: {
      in: {
        type: 'parallel',
        on: { out: 'out' },
        states: {
          beside,
          exits: {
            initial: 'a',
            states: { a: { exit: saying('a is left'), on: { go: 'b' } }, b: { on: { go: 'c' } }, c: { exit: saying('c is left') } },
          },
          works: {
            initial: 'idle',
            states: { idle: { on: { go: 'busy' } }, busy: { invoke: { id: 'work', src: 'work', onDone: 'idle' } } },
          },
          // Of two transitions that are in each other's way the first is taken, and the machine is
          // not left.
          stays: { initial: 'a', states: { a: { on: { both: 'b' } }, b: { on: { both: 'c' } }, c: {} } },
          leaves: { on: { both: '#there' } },
          jumps: { initial: 'here', states: { here: { on: { jump: '#there', out: 'gone' } }, gone: {} } },
        },
      },
      out: { id: 'there', on: { back: 'in' } },
    },
  }),
  'a region that starts anew with all others': setup({ actions: { say } }).createMachine({
    type: 'parallel',
    states: {
      beside,
      self: {
        entry: saying('in'),
        exit: saying('out'),
        initial: 'a',
        on: { again: { target: 'self', reenter: true } },
        states: { a: { on: { go: 'b' } }, b: {} },
      },
      other: { initial: 'a', states: { a: { exit: saying('other out'), on: { go: 'b' } }, b: {} } },
    },
  }),
  'a child that another region speaks to and stops': setup({
    actors: { work, worker: createMachine({ on: { hello: {} } }) },
  }).createMachine({
    type: 'parallel',
    states: {
      beside,
      owner: {
        initial: 'none',
        states: { none: { on: { hire: 'some' } }, some: { invoke: { id: 'worker', src: 'worker' }, on: { fire: 'none' } } },
      },
      speaker: { on: { greet: { actions: sendTo('worker', { type: 'hello' }) }, kill: { actions: stopChild('worker') } } },
      spawner: {
        initial: 'none',
        states: {
          none: { on: { spawn: { target: 'some', actions: spawnChild('work', { id: 'spawned' }) } } },
          some: { on: { stop: { target: 'none', actions: stopChild('spawned') } } },
        },
      },
    },
  }),
  'events that regions raise for each other': setup({ actions: { say }, actors: { chatty } }).createMachine({
    type: 'parallel',
    states: {
      beside,
      first: {
        initial: 'a',
        states: {
          a: { on: { go: { target: 'b', actions: [raise({ type: 'told' }), raise({ type: 'told.too' })] } } },
          b: { invoke: { id: 'chatty', src: 'chatty' }, on: { told: 'a', rest: 'c' } },
          c: {
            invoke: { id: 'chatty', src: 'chatty' },
            on: { go: { target: 'd', actions: [raise({ type: 'end' }), raise({ type: 'told' })] } },
          },
          // A child that begins and ends within one step never begins.
          d: { invoke: { id: 'brief', src: 'chatty' }, on: { end: 'a' } },
        },
      },
      second: {
        initial: 'a',
        states: {
          a: { on: { told: { target: 'b', actions: [saying('told'), raise({ type: 'went' })] } } },
          b: { on: { 'told.too': 'a' } },
        },
      },
      any: { initial: 'a', states: { a: { on: { 'told.*': 'b' } }, b: { on: { '*': 'a' } } } },
    },
  }),
  'eventless transitions in several regions at once': setup({
    actions: { say },
    types: {} as { context: { readonly open: boolean } },
    guards: { open: ({ context }) => context.open },
  }).createMachine({
    context: { open: false },
    type: 'parallel',
    on: { open: { actions: assign({ open: true }) }, shut: { actions: assign({ open: false }) } },
    states: {
      beside,
      left: { initial: 'a', states: { a: { on: { l: 'b' } }, b: { always: { guard: 'open', target: 'a', actions: saying('left') } } } },
      right: { initial: 'a', states: { a: { on: { r: 'b' } }, b: { always: { guard: 'open', target: 'a', actions: saying('right') } } } },
    },
  }),
  'conditions on where another region stands': setup({
    guards: { there: and([not(stateIn({ beside: 'a' })), stateIn({ other: 'x' })]), inC: stateIn({ beside: 'c' }) },
  }).createMachine({
    type: 'parallel',
    states: {
      beside,
      other: { initial: 'x', states: { x: { on: { go: 'y' } }, y: { on: { go: 'x' } } } },
      looks: {
        initial: 'a',
        states: {
          a: { on: { look: { guard: 'there', target: 'b' } } },
          b: { on: { look: { guard: 'inC', target: 'a' } } },
        },
      },
    },
  }),
  'conditions that are only met on the way': setup({ actions: { say } }).createMachine({
    type: 'parallel',
    states: {
      beside,
      looks: {
        on: {
          look: {
            actions: enqueueActions(({ enqueue, check }) => {
              if (check(stateIn({ beside: 'b' }) as never)) enqueue(saying('it is in b'))
            }),
          },
        },
      },
    },
  }),
  'what is enqueued, as the context says and another region has written it': setup({
    types: {} as { context: { readonly n: number; readonly m: number } },
    actions: { say, up: assign({ n: ({ context }: { context: { n: number } }) => (context.n + 1) % 3 }) },
  }).createMachine({
    context: { n: 0, m: 0 },
    type: 'parallel',
    states: {
      beside,
      counts: { on: { up: { actions: 'up' } } },
      enqueues: {
        on: {
          take: {
            actions: enqueueActions(({ context, enqueue, check }) => {
              if (context.n !== context.m) enqueue.assign({ m: context.n })
              if (check(({ context }: { context: { n: number } }) => context.n === 2)) enqueue(saying('two'))
              enqueue.assign(({ context }) => (context.n === 1 ? { m: 0 } : {}))
              enqueue('up')
            }),
          },
        },
      },
      reads: { on: { look: { guard: ({ context }) => context.m === 2, actions: saying('m is two') } } },
    },
  }),
  history: createMachine({
    initial: 'on',
    states: {
      on: {
        type: 'parallel',
        on: { off: 'off' },
        states: { beside, deep: { initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } }, past: { type: 'history', history: 'deep' } },
      },
      off: { on: { on: 'on.past', fresh: 'on' } },
    },
  }),
}
