// Three philosophers, three forks. Each takes the fork on its left, then the one on its right; the table gives a fork that is free, and
// otherwise remembers who waits for it. `quiesce-model examples/philosophers.mjs` finds the meal that never ends.
import { assign, enqueueActions, sendParent, setup } from 'xstate'

const SEATS = [0, 1, 2]

/** Thinks, takes two forks in the order of its input, eats, gives them back. */
export const philosopher = setup({
  delays: { hungry: 1_000, moment: 10, full: 500 },
}).createMachine({
  id: 'philosopher',
  context: ({ input }) => ({ by: input.by, first: input.first, second: input.second }),
  initial: 'thinking',
  states: {
    thinking: { after: { hungry: 'reaching' } },
    reaching: {
      entry: sendParent(({ context: { by, first } }) => ({ type: 'take', by, fork: first })),
      on: { given: 'holding' },
    },
    holding: { after: { moment: 'reachingAgain' } },
    reachingAgain: {
      entry: sendParent(({ context: { by, second } }) => ({ type: 'take', by, fork: second })),
      on: { given: 'eating' },
    },
    eating: {
      exit: sendParent(({ context: { first, second } }) => ({ type: 'put', forks: [first, second] })),
      after: { full: 'thinking' },
    },
  },
})

/** The table: who has each fork, and who waits for it. */
export const tableOf = (orders) =>
  setup({
    actors: { philosopher },
    actions: {
      take: enqueueActions(({ context, event: { by, fork }, enqueue }) => {
        if (context.holders[fork] === null) {
          enqueue.assign({ holders: context.holders.with(fork, by) })
          enqueue.sendTo(`seat-${by}`, { type: 'given' })
        } else enqueue.assign({ waiting: context.waiting.with(fork, by) })
      }),
      put: enqueueActions(({ context, event: { forks }, enqueue }) => {
        const holders = context.holders.map((holder, fork) => (forks.includes(fork) ? context.waiting[fork] : holder))
        for (const fork of forks) if (holders[fork] !== null) enqueue.sendTo(`seat-${holders[fork]}`, { type: 'given' })
        enqueue(assign({ holders, waiting: context.waiting.map((by, fork) => (forks.includes(fork) ? null : by)) }))
      }),
    },
  }).createMachine({
    id: 'table',
    context: { holders: SEATS.map(() => null), waiting: SEATS.map(() => null) },
    invoke: SEATS.map((by) => ({ id: `seat-${by}`, src: 'philosopher', input: { by, ...orders[by] } })),
    on: { take: { actions: 'take' }, put: { actions: 'put' } },
  })

export default tableOf(SEATS.map((seat) => ({ first: seat, second: (seat + 1) % SEATS.length })))
