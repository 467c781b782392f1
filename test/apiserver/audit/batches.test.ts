// Fails when: the machine of the batches can hang, forget a stop, keep events waiting longer than
// their time, or end while something may still be sent.
import { describe, expect, test } from 'vitest'
import { batchesMachine, type Due } from '#apiserver/audit/batches.ts'
import {
  type ActorView,
  alongEdges,
  always,
  assertHolds,
  check,
  endReachable,
  explore,
  noDeadlock,
  noErrors,
  resolves,
  terminates,
  timersAnd,
  untaken,
  within,
} from '#model'

const MAX_WAIT_MS = 1_000
const queue = (level: 'none' | 'some' | 'whole') => ({ type: 'queue', level }) as const
interface Context {
  readonly level: string
  readonly isStopping: boolean
}
const contextOf = (root: ActorView) => root.context as Context

/** A queue as BufferedBackend is one: it grows until the stop, and shrinks only when it is sent. */
const explored = ({ throttled }: { readonly throttled: boolean }) =>
  explore(batchesMachine, {
    input: { maxWaitMs: MAX_WAIT_MS },
    events: (root) => {
      const { level, isStopping } = root.context as Context
      const grows = isStopping || level === 'whole' ? [] : level === 'none' ? [queue('some'), queue('whole')] : [queue('whole')]
      const shrinks =
        !root.matches('sending') || level === 'none' ? [] : level === 'whole' ? [queue('some'), queue('none')] : [queue('none')]
      return [...grows, ...shrinks, { type: 'stop' }, { type: 'cut' }]
    },
    children: {
      send: (input) => ({ outcomes: [resolves((input as { due: Due }).due), ...(throttled ? [resolves('throttled')] : [])] }),
      settle: { outcomes: [resolves()] },
    },
  })

describe('the batches', () => {
  const exploration = explored({ throttled: true })

  test('never hang, forget a stop or leave events behind', () => {
    assertHolds(
      check(exploration, [
        noErrors(),
        noDeadlock(),
        endReachable('end/possible', 'it can always end'),
        always(
          'empty/none',
          'nothing waits while it waits for the first',
          (root) => !root.matches('empty') || contextOf(root).level === 'none',
        ),
        always(
          'stop/kept',
          'after the stop nothing is waited for but what is sent, and the throttle',
          (root) => !contextOf(root).isStopping || !(root.matches('empty') || root.matches('collecting')),
        ),
        alongEdges(
          'settling/last',
          'once everything has left, nothing is sent',
          (before, after) => !before.matches('settling') || !(after.matches('sending') || after.matches('throttled')),
        ),
        alongEdges(
          'cut/ends',
          'a cut ends it',
          (_, after, { choice }) => !(choice.kind === 'event' && choice.event.type === 'cut') || after.status === 'done',
        ),
      ]),
    )
  })

  test('keep no event longer than the wait', () => {
    assertHolds(
      check(exploration, [
        within('wait', 'a batch is collected no longer than the wait', {
          from: (root) => root.matches('collecting'),
          until: (root) => !root.matches('collecting'),
          atMostMs: MAX_WAIT_MS,
        }),
      ]),
    )
  })

  test('end after the stop when what is asked answers, and the throttle lets it', () => {
    assertHolds(
      check(explored({ throttled: false }), [
        terminates('end/certain', 'it ends after the stop', {
          from: (root) => contextOf(root).isStopping,
          isFair: timersAnd('send', 'settle'),
        }),
      ]),
    )
  })

  test('have no transition that no run takes, but for work that cannot fail', () => {
    expect(
      untaken(exploration)
        .map((one) => JSON.stringify(one))
        .filter((one) => !one.includes('error')),
    ).toEqual([])
  })
})
