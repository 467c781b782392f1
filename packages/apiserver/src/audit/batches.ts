import { assign, fromPromise, setup } from 'xstate'

/** How much of a batch waits in the queue: nothing, less than one, or at least one. */
export type QueueLevel = 'none' | 'some' | 'whole'

/**
 * What is to be sent: whole batches; the one that has waited long enough, whole or not, and whole
 * ones behind it; everything.
 */
export type Due = 'whole' | 'late' | 'all'

/** How a sending has ended: the throttle has held it back, or everything that was due has left. */
export type Sent = 'throttled' | Due

/**
 * When the events of a queue leave it: as batches, each when it is whole or has waited long enough,
 * and no faster than the throttle lets them; and how that ends.
 *
 * The machine knows nothing of events. The queue says when its level changes, which is once or
 * twice for a batch; `send` takes from the queue what is due, batch after batch, until nothing is
 * or the throttle has no token. Delays come from outside (`provide`), because the throttle is a
 * counter beside the clock.
 *
 * `stop` comes when the queue takes nothing more: what is in it is sent at once, whole or not, and
 * then what is under way is waited for (`settle`). `cut` is the end of waiting: what has not been
 * delivered by then is lost, and the queue's owner counts it.
 * @see kubernetes/apiserver plugin/pkg/audit/buffered/buffered.go
 */
export const batchesMachine = setup({
  types: {} as {
    input: { readonly maxWaitMs: number }
    context: { readonly maxWaitMs: number; readonly level: QueueLevel; readonly isLate: boolean; readonly isStopping: boolean }
    events: { readonly type: 'queue'; readonly level: QueueLevel } | { readonly type: 'stop' } | { readonly type: 'cut' }
  },
  actors: {
    send: fromPromise<Sent, { readonly due: Due }>(({ input }) => Promise.resolve(input.due)),
    settle: fromPromise<void>(() => Promise.resolve()),
  },
  actions: {
    note: assign({ level: (_, level: QueueLevel) => level }),
    noteStop: assign({ isStopping: true }),
    noteLate: assign({ isLate: true }),
    noteInTime: assign({ isLate: false }),
  },
  guards: {
    becomesWhole: (_, level: QueueLevel) => level === 'whole',
    becomesSome: (_, level: QueueLevel) => level === 'some',
    isThrottled: (_, sent: Sent) => sent === 'throttled',
    isEverything: (_, sent: Sent) => sent === 'all',
    hasMore: ({ context: { level, isStopping } }) => isStopping || level === 'whole',
    hasSome: ({ context }) => context.level === 'some',
  },
  delays: {
    maxWait: ({ context }) => context.maxWaitMs,
    toNextToken: 0,
  },
}).createMachine({
  id: 'audit-batches',
  context: ({ input }) => ({ ...input, level: 'none', isLate: false, isStopping: false }),
  initial: 'empty',
  on: {
    queue: { actions: { type: 'note', params: ({ event }) => event.level } },
    stop: { actions: 'noteStop' },
    cut: '.abandoned',
  },
  states: {
    empty: {
      on: {
        queue: [
          {
            guard: { type: 'becomesWhole', params: ({ event }) => event.level },
            target: 'sending',
            actions: { type: 'note', params: 'whole' },
          },
          {
            guard: { type: 'becomesSome', params: ({ event }) => event.level },
            target: 'collecting',
            actions: { type: 'note', params: 'some' },
          },
        ],
        stop: { target: 'settling', actions: 'noteStop' },
      },
    },
    collecting: {
      after: { maxWait: { target: 'sending', actions: 'noteLate' } },
      on: {
        queue: {
          guard: { type: 'becomesWhole', params: ({ event }) => event.level },
          target: 'sending',
          actions: { type: 'note', params: 'whole' },
        },
        stop: { target: 'sending', actions: 'noteStop' },
      },
    },
    sending: {
      invoke: {
        id: 'send',
        src: 'send',
        input: ({ context: { isStopping, isLate } }) => ({ due: isStopping ? 'all' : isLate ? 'late' : 'whole' }),
        onDone: [
          { guard: { type: 'isThrottled', params: ({ event }) => event.output }, target: 'throttled' },
          { guard: { type: 'isEverything', params: ({ event }) => event.output }, target: 'settling' },
          // It became whole, or the stop came, behind what was taken.
          { guard: 'hasMore', target: 'sending', reenter: true, actions: 'noteInTime' },
          { guard: 'hasSome', target: 'collecting', actions: 'noteInTime' },
          { target: 'empty', actions: 'noteInTime' },
        ],
        // A delivery that fails is no failure of the sending: this is a defect, and what is left is
        // counted as lost.
        onError: 'abandoned',
      },
    },
    throttled: { after: { toNextToken: 'sending' } },
    settling: { invoke: { id: 'settle', src: 'settle', onDone: 'settled', onError: 'settled' } },
    settled: { type: 'final' },
    abandoned: { type: 'final' },
  },
})
