// The machine of a candidate, in every order of answers, timers and the stop. Fails when: it can
// hang, lead without the lease or behind the time for which that is certain, stand for election
// while what it did as a leader goes on, or give up a lease under that.
import { describe, expect, test } from 'vitest'
import { assign, setup } from 'xstate'
import { electionMachine } from '#apiserver/leases/election.ts'
import { always, assertHolds, check, explore, untaken } from '#model'
import { ELECTION } from '../../scripts/mutation/beside-checks.mjs'

describe('a candidate', () => {
  const exploration = explore(electionMachine, ELECTION.options)

  test('never hangs, and leads and gives up in order', () => {
    assertHolds(check(exploration, ELECTION.properties))
  })

  test('takes every way that it has', () => {
    expect(untaken(exploration)).toEqual([])
  })
})

/**
 * Two candidates and the lease between them, in ticks of one clock: requests that are served late,
 * or never, answers that come late, or never, and a look at the lease at any time.
 */
const LEASE = 3
const DEADLINE = 2

interface Candidate {
  /** Whether what it has seen of the lease is how the lease is, and for how long it has been so. */
  readonly isCurrent: boolean
  readonly unchanged: number
  /** For how long it leads. */
  readonly left: number
  /** The state of its request, and how long ago it was sent. */
  readonly request: 'none' | 'sent' | 'granted' | 'refused'
  readonly asked: number
}
interface Between {
  readonly holder: number
  readonly candidates: readonly [Candidate, Candidate]
}

const NEW: Candidate = { isCurrent: false, unchanged: 0, left: 0, request: 'none', asked: 0 }

/** @param certain for how long a leader leads whose answer came so many ticks after it had asked */
function twoCandidates(certain: (asked: number) => number) {
  const change = ({ candidates, ...rest }: Between, who: number, to: Partial<Candidate>): Between => ({
    ...rest,
    candidates: candidates.map((each, at) => (at === who ? { ...each, ...to } : each)) as unknown as Between['candidates'],
  })
  const mayAsk = ({ holder, candidates }: Between, who: number): boolean => {
    const { request, isCurrent, unchanged } = candidates[who] as Candidate
    return request === 'none' && isCurrent && (holder === -1 || holder === who || unchanged >= LEASE)
  }
  const serve = (between: Between, who: number): Between => {
    if (!(between.candidates[who] as Candidate).isCurrent) return change(between, who, { request: 'refused' })
    const served = change(between, who, { request: 'granted', isCurrent: true, unchanged: 0 })
    return change({ ...served, holder: who }, 1 - who, { isCurrent: false, unchanged: 0 })
  }
  const isWhere =
    (who: number, ...states: readonly Candidate['request'][]) =>
    ({ context }: { context: Between }): boolean =>
      states.includes((context.candidates[who] as Candidate).request)
  const of = (who: number) => ({
    [`look ${who}`]: {
      guard: ({ context }: { context: Between }) => {
        const { isCurrent, request } = context.candidates[who] as Candidate
        return !isCurrent && request === 'none'
      },
      actions: assign(({ context }: { context: Between }) => change(context, who, { isCurrent: true, unchanged: 0 })),
    },
    [`ask ${who}`]: {
      guard: ({ context }: { context: Between }) => mayAsk(context, who),
      actions: assign(({ context }: { context: Between }) => change(context, who, { request: 'sent', asked: 0 })),
    },
    [`serve ${who}`]: {
      guard: isWhere(who, 'sent'),
      actions: assign(({ context }: { context: Between }) => serve(context, who)),
    },
    [`answer ${who}`]: {
      guard: isWhere(who, 'granted', 'refused'),
      actions: assign(({ context }: { context: Between }) => {
        const { request, asked, left } = context.candidates[who] as Candidate
        return change(context, who, { request: 'none', left: request === 'granted' ? Math.max(0, certain(asked)) : left, asked: 0 })
      }),
    },
  })
  return setup({ types: {} as { context: Between; events: { readonly type: string } } }).createMachine({
    id: 'two-candidates',
    context: { holder: -1, candidates: [NEW, NEW] },
    on: {
      ...of(0),
      ...of(1),
      // A request is left alone after the deadline: it may be served still.
      tick: {
        actions: assign(({ context }: { context: Between }) => ({
          ...context,
          candidates: context.candidates.map((each) => ({
            ...each,
            unchanged: each.isCurrent ? Math.min(LEASE, each.unchanged + 1) : 0,
            left: Math.max(0, each.left - 1),
            asked: each.request === 'none' ? 0 : Math.min(LEASE + 1, each.asked + 1),
          })) as unknown as Between['candidates'],
        })),
      },
    },
  })
}

describe('two candidates whose clocks run equally', () => {
  const events = ['tick', ...[0, 1].flatMap((who) => ['look', 'ask', 'serve', 'answer'].map((act) => `${act} ${who}`))].map((type) => ({
    type,
  }))
  const neverTwo = always('lead/one', 'never do both lead', (root) => !(root.context as Between).candidates.every(({ left }) => left > 0), {
    when: (root) => (root.context as Between).candidates.some(({ left }) => left > 0),
  })

  test('never lead at the same time, as each counts from when it asked', () => {
    assertHolds(
      check(
        explore(
          twoCandidates((asked) => DEADLINE - asked),
          { events },
        ),
        [neverTwo],
      ),
    )
  })

  test('would, if they counted from when they were answered', () => {
    const [verdict] = check(
      explore(
        twoCandidates(() => DEADLINE),
        { events },
      ),
      [neverTwo],
    )
    expect(verdict?.holds).toBe(false)
  })
})
