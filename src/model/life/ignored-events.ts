import type { Ignored } from '#model'

/**
 * Every event that a machine of a life may hear and not react to, where, and why that is right.
 * Written by hand: whatever is not here has to be handled.
 */
export const IGNORED_EVENTS: readonly (Ignored & { readonly why: string })[] = [
  { machine: 'lifecycle', event: '*', in: ['forcing'], why: 'a forced end is one synchronous step, which no event can change' },
  {
    machine: 'lifecycle',
    event: 'start',
    in: ['started', 'refused', 'skipped'].map((start) => ({ running: { start } })),
    why: 'a server starts once, and not after it was told to stop',
  },
  {
    machine: 'lifecycle',
    event: 'start.refused',
    in: ['started', 'refused', 'skipped'].map((start) => ({ running: { start } })),
    why: 'as start',
  },
  { machine: 'lifecycle', event: 'stop.requested', in: [{ running: { stop: 'requested' } }], why: 'the first reason of a stop is kept' },
  {
    machine: 'lifecycle',
    event: 'stop.now',
    in: [{ running: { stop: 'living' } }],
    why: 'a program asks for the end before it forces the end',
  },
  { machine: 'lifecycle', event: 'listener.died', in: [{ running: { stop: 'requested' } }], why: 'as stop.requested' },
  {
    machine: 'lifecycle',
    event: 'budget.changed',
    in: [{ running: { stop: 'requested' } }],
    why: 'the times of a stop are fixed once, when it is requested',
  },
  {
    machine: 'lifecycle',
    event: 'process.signalled',
    in: [{ running: { stop: 'requested', 'second-signal': 'debouncing' } }],
    why: 'a parent that forwards a signal delivers it twice (V10)',
  },
  {
    machine: 'lifecycle',
    event: 'process.crashed',
    in: ['rejected', 'thrown'].map((crash) => ({ running: { stop: 'requested', crash } })),
    why: 'one defect may crash twice in the same tick, both times in the same way (V10)',
  },
  {
    machine: 'lifecycle',
    event: 'readyz.passed',
    in: [...['fired', 'skipped'].map((ready) => ({ running: { 'has-been-ready': ready } }))],
    why: 'HasBeenReady fires once, and not after a stop',
  },
  {
    machine: 'watch-drain',
    event: 'xstate.after.grace.*',
    in: ['draining'],
    why: 'a grace of 0 means none: the server waits for no watch and terminates none',
  },
  {
    machine: 'notify-clients',
    event: 'xstate.done.actor.begin-notifying',
    in: ['ramping'],
    why: 'the ramp of notifications decides when all clients are notified',
  },
]
