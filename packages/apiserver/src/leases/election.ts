import { assign, fromPromise, setup } from 'xstate'

/** What an attempt to hold the lease has come to. */
export type Attempted =
  /** It is held; `leftMs` is how long that is certain, counted from when it was asked for. */
  | { readonly isHeld: true; readonly leftMs: number }
  /** Another holds it, or what was stored was another lease than was thought. */
  | { readonly isHeld: false }

/**
 * Who of several candidates leads, by a lease: each tries to take it when its holder has not
 * renewed it for its whole duration, and the leader renews it. A leader that could not renew it
 * leads no longer before the others may take it: it counts from when it asked, they count from when
 * they saw the answer's effect. So there are never two, as long as their clocks run equally fast.
 *
 * The machine knows nothing of leases: `attempt` takes or renews one, `lead` is what only a leader
 * does, `settle` waits until that has ended, and `release` gives the lease up, which is only done
 * when it has.
 * @see kubernetes/client-go tools/leaderelection/leaderelection.go
 */
export const electionMachine = setup({
  types: {} as {
    context: { readonly leftMs: number }
    events: { readonly type: 'stop' }
  },
  actors: {
    attempt: fromPromise<Attempted>(() => Promise.resolve({ isHeld: false })),
    lead: fromPromise<void>(() => Promise.resolve()),
    settle: fromPromise<void>(() => Promise.resolve()),
    release: fromPromise<void>(() => Promise.resolve()),
  },
  actions: {
    note: assign({ leftMs: (_, leftMs: number) => leftMs }),
  },
  guards: {
    isHeld: (_, attempted: Attempted) => attempted.isHeld && attempted.leftMs > 0,
  },
  delays: {
    /** Jittered, so that candidates do not try at the same time. */
    retry: 2_000,
    renew: 2_000,
    left: ({ context }) => context.leftMs,
    releaseTimeout: 10_000,
  },
}).createMachine({
  id: 'leader-election',
  context: { leftMs: 0 },
  initial: 'candidate',
  states: {
    candidate: {
      initial: 'trying',
      states: {
        trying: {
          invoke: {
            id: 'attempt',
            src: 'attempt',
            onDone: [
              {
                guard: { type: 'isHeld', params: ({ event }) => event.output },
                target: '#leader-election.leading',
                actions: { type: 'note', params: ({ event }) => (event.output as { readonly leftMs: number }).leftMs },
              },
              { target: 'waiting' },
            ],
            onError: 'waiting',
          },
          // What was asked for may be granted still.
          on: { stop: '#leader-election.releasing' },
        },
        waiting: { after: { retry: 'trying' }, on: { stop: '#leader-election.stopped' } },
      },
    },
    leading: {
      // Ended when this is left, whatever for.
      invoke: { id: 'lead', src: 'lead', onError: 'resigning' },
      initial: 'term',
      on: { stop: 'ending' },
      states: {
        /** The time from one renewal to the next; entered anew with each. */
        term: {
          after: { left: '#leader-election.losing' },
          initial: 'resting',
          states: {
            resting: { after: { renew: 'renewing' } },
            renewing: {
              invoke: {
                id: 'renew',
                src: 'attempt',
                onDone: [
                  {
                    guard: { type: 'isHeld', params: ({ event }) => event.output },
                    target: '#leader-election.leading.term',
                    reenter: true,
                    actions: { type: 'note', params: ({ event }) => (event.output as { readonly leftMs: number }).leftMs },
                  },
                  { target: '#leader-election.losing' },
                ],
                onError: 'resting',
              },
            },
          },
        },
      },
    },
    /**
     * The candidate has lost the lease: what a leader does has to end before it can be one again.
     */
    losing: {
      invoke: { id: 'settle-lost', src: 'settle', onDone: 'candidate.waiting', onError: 'candidate.waiting' },
      on: { stop: 'stopped' },
    },
    /** What a leader does has failed: others may do better. */
    resigning: {
      invoke: { id: 'release-failed', src: 'release', onDone: 'candidate.waiting', onError: 'candidate.waiting' },
      after: { releaseTimeout: 'candidate.waiting' },
      on: { stop: 'stopped' },
    },
    /** What has not ended in time may still work: then the lease is not given up, but runs out. */
    ending: {
      after: { releaseTimeout: 'stopped' },
      invoke: { id: 'settle', src: 'settle', onDone: 'releasing', onError: 'releasing' },
    },
    releasing: {
      after: { releaseTimeout: 'stopped' },
      invoke: { id: 'release', src: 'release', onDone: 'stopped', onError: 'stopped' },
    },
    stopped: { type: 'final' },
  },
})
