// @ts-check
// What the machines that work beside a life are explored with, and what has to hold of them: for
// their tests, and for the mutants of them.
import {
  alongEdges,
  always,
  endReachable,
  handlesOrIgnores,
  noDeadlock,
  noErrors,
  rejects,
  resolves,
  terminates,
  timersAnd,
  within,
} from '#model'

/**
 * @typedef {import('#model').ActorView} View
 * @typedef {{ choice: { kind: string, event: { type: string } } }} Step
 * @typedef {{ options: import('#model').ExploreOptions<any, any>, properties: readonly import('#model').Property[] }} Checks
 */

const ANY = { outcomes: [resolves(), rejects()] }
const isEvent = (/** @type {Step} */ { choice }, /** @type {string} */ type) => choice.kind === 'event' && choice.event.type === type
const isTimer = (/** @type {Step} */ { choice }) => choice.kind === 'timer'

/** How long a leader may lead after a renewal. */
const LEFT_MS = 10_000

/** What runs in a state that waits for its end, by the child's id. */
const WORKS = {
  attempt: { candidate: 'trying' },
  renew: { leading: { term: 'renewing' } },
  settle: 'ending',
  'settle-lost': 'losing',
  release: 'releasing',
  'release-failed': 'resigning',
}

/** A candidate, in every order of answers, timers and the stop. @type {Checks} */
export const ELECTION = {
  options: {
    events: [{ type: 'stop' }],
    children: {
      attempt: {
        outcomes: [
          resolves({ isHeld: true, leftMs: LEFT_MS }),
          resolves({ isHeld: true, leftMs: LEFT_MS / 2 }),
          resolves({ isHeld: true, leftMs: 0 }),
          resolves({ isHeld: false }),
          rejects(),
        ],
      },
      lead: ANY,
      settle: ANY,
      release: ANY,
    },
  },
  properties: [
    noErrors(),
    noDeadlock(),
    endReachable('end/possible', 'it can always end'),
    terminates('stop/ends', 'once it is told to stop, it ends, whether anything answers or not', {
      from: (/** @type {View} */ root) => root.matches('ending') || root.matches('releasing'),
    }),
    terminates('resign/goes-on', 'one that resigns is a candidate again, whether anything answers or not', {
      from: (/** @type {View} */ root) => root.matches('resigning'),
      isEnd: (/** @type {View} */ root) => !root.matches('resigning'),
    }),
    within('lead/certain', 'it leads no longer without a renewal than it may', {
      from: (/** @type {View} */ root) => root.matches({ leading: { term: 'renewing' } }),
      until: (/** @type {View} */ root) => !root.matches({ leading: { term: 'renewing' } }),
      atMostMs: LEFT_MS,
    }),
    within('lead/renews', 'it asks for a renewal in time', {
      from: (/** @type {View} */ root) => root.matches({ leading: { term: 'resting' } }),
      until: (/** @type {View} */ root) => !root.matches({ leading: { term: 'resting' } }),
      atMostMs: 2_000,
    }),
    within('stop/limit', 'what does not end, or does not answer, is waited for no longer than that', {
      from: (/** @type {View} */ root) => root.matches('releasing'),
      until: (/** @type {View} */ root) => !root.matches('releasing'),
      atMostMs: 10_000,
    }),
    within('candidate/tries', 'a candidate tries again soon', {
      from: (/** @type {View} */ root) => root.matches({ candidate: 'waiting' }),
      until: (/** @type {View} */ root) => !root.matches({ candidate: 'waiting' }),
      atMostMs: 2_000,
    }),
    always(
      'lead/held',
      'it leads only with a lease that it holds for certain',
      (root) => !root.matches('leading') || Number(/** @type {{ leftMs: number }} */ (root.context).leftMs) > 0,
    ),
    always(
      'lead/works',
      'what only a leader does runs while it leads, and never else',
      (root) => !hasChild(root, 'lead') || root.matches('leading'),
      { when: (root) => hasChild(root, 'lead') },
    ),
    alongEdges(
      'lead/renewed',
      'a renewal that is granted has it lead on, for as long as that says; another one ends it, and an error is none',
      (_, after, { choice }) => {
        const { isHeld = undefined, leftMs = 0 } =
          /** @type {{ output?: { isHeld: boolean, leftMs?: number } }} */ (choice.event.object).output ?? {}
        if (isHeld === undefined) return after.matches({ leading: { term: 'resting' } })
        if (!isHeld || leftMs === 0) return after.matches('losing')
        return after.matches({ leading: { term: 'resting' } }) && /** @type {{ leftMs: number }} */ (after.context).leftMs === leftMs
      },
      { when: (_, __, { choice }) => choice.kind === 'outcome' && choice.path.text === 'renew' },
    ),
    ...Object.entries(WORKS).map(([child, state]) =>
      always(
        `work/${child}`,
        'what a state waits for has begun',
        (root) => !root.matches(/** @type {never} */ (state)) || hasChild(root, child),
        {
          when: (root) => root.matches(/** @type {never} */ (state)),
        },
      ),
    ),
    alongEdges(
      'lead/elected',
      'it comes to lead by an attempt alone',
      (before, after) => before.matches('leading') || !after.matches('leading') || before.matches({ candidate: 'trying' }),
    ),
    alongEdges(
      'lead/settled',
      'it stands for election again only when what it did as a leader has ended',
      (before, after) => !(before.matches('leading') && after.matches('candidate')),
    ),
    alongEdges(
      'release/settled',
      'it gives up no lease while it leads, but when that has failed',
      (before, after) => !(before.matches('leading') && after.matches('releasing')),
    ),
    alongEdges(
      'release/before-the-end',
      'a leader that is told to stop gives the lease up before that is done, unless its work does not end',
      (before, after, step) => !after.matches('stopped') || !(before.matches('leading') || (before.matches('ending') && !isTimer(step))),
    ),
    alongEdges(
      'release/what-was-asked-for',
      'one that is told to stop while it asks gives up what it may be granted still',
      (before, after, step) => !(before.matches({ candidate: 'trying' }) && isEvent(step, 'stop')) || after.matches('releasing'),
    ),
    alongEdges(
      'stop/leads-no-more',
      'told to stop, it leads no more',
      (_, after, step) => !isEvent(step, 'stop') || !after.matches('leading'),
    ),
    handlesOrIgnores('events/handled-or-ignored', [
      { machine: 'leader-election', event: 'stop', in: ['ending', 'releasing'], why: 'it is told twice' },
      { machine: 'leader-election', event: 'xstate.done.actor.lead', why: 'a leader without work keeps the lease' },
    ]),
  ],
}

const hasChild = (/** @type {View} */ root, /** @type {string} */ id) => root.children.some((child) => child.id === id)

const STORE_EVENTS = /** @type {const} */ (['open', 'close', 'recovered', 'degraded', 'lost'])
/** What a store can do, by the word of its engine. */
const SAID = /** @type {const} */ ({ recovered: 'ready', degraded: 'degraded', lost: 'lost' })

/** A store, in every order of what its engine says and its users want. @type {Checks} */
export const STORE = {
  options: {
    // What opens a store says nothing more of it before it is open, or once it is being closed.
    events: (/** @type {{ value: unknown }} */ { value }) =>
      STORE_EVENTS.filter((type) => !(type in SAID) || (typeof value === 'object' && value !== null && 'open' in value)).map((type) => ({
        type,
      })),
    children: {
      engine: {
        sends: /** @type {readonly { type: string }[]} */ ([
          { type: 'opened' },
          { type: 'failed', isFinal: false },
          { type: 'failed', isFinal: true },
        ]),
        outcomes: [],
      },
      close: ANY,
    },
  },
  properties: [
    noErrors(),
    noDeadlock(),
    endReachable('end/possible', 'it can always be closed'),
    terminates('close/ends', 'once it is told to close, it is closed, if what closes it answers', {
      from: (/** @type {View} */ root) => root.matches('closing'),
      isFair: timersAnd('close'),
    }),
    within('open/again', 'after a failed try it is opened again, in ten seconds at most', {
      from: (/** @type {View} */ root) => root.matches('waiting'),
      until: (/** @type {View} */ root) => !root.matches('waiting'),
      atMostMs: 10_000,
    }),
    alongEdges(
      'open/wanted',
      'it is opened when it is first wanted, and not before',
      (before, after, step) => !before.matches('unopened') || !after.matches('opening') || isEvent(step, 'open'),
    ),
    alongEdges(
      'open/first-use',
      'and then at once',
      (before, after, step) => !(before.matches('unopened') && isEvent(step, 'open')) || after.matches('opening'),
    ),
    alongEdges(
      'open/tries',
      'it is opened by a try alone',
      (before, after) => before.matches('open') || !after.matches('open') || before.matches('opening'),
    ),
    alongEdges(
      'open/ready',
      'it is ready when it has been opened',
      (before, after) => before.matches('open') || !after.matches('open') || after.matches({ open: 'ready' }),
    ),
    alongEdges(
      'open/slower',
      'it waits longer after each try that fails, until that is ten seconds',
      (before, after) => {
        const [was, is] = [before, after].map(({ context }) => /** @type {{ tries: number }} */ (context).tries)
        return Number(was) >= 1 && (Number(is) > Number(was) || Number(was) === 8)
      },
      { when: (before, after) => before.matches('waiting') && after.matches('opening') },
    ),
    alongEdges(
      'refused/for-good',
      'what can never be opened is not tried again',
      (before, after) => !before.matches('refused') || after.matches('refused') || after.matches('closed'),
    ),
    alongEdges(
      'refused/final-only',
      'a try that may do better later is made again, and another is not',
      (_, after, step) =>
        step.choice.event.type !== 'failed' ||
        after.matches(/** @type {{ isFinal?: boolean }} */ (step.choice.event.object).isFinal ? 'refused' : 'waiting'),
      { when: (_, __, step) => step.choice.kind === 'message' },
    ),
    ...Object.entries(SAID).map(([event, state]) =>
      alongEdges(
        `open/${event}`,
        `what its engine says is so: ${state}`,
        (_, after, step) => !isEvent(/** @type {Step} */ (step), event) || after.matches({ open: state }),
      ),
    ),
    alongEdges(
      'close/at-once',
      'told to close, it is closed or on its way, whatever it was',
      (_, after, step) => !isEvent(step, 'close') || after.matches('closing') || after.matches('closed'),
    ),
    alongEdges(
      'close/what-is-open',
      'what is open, or may still come to be, is closed and not left',
      (before, after) => !(before.matches('open') || before.matches('opening')) || !after.matches('closed'),
    ),
    alongEdges(
      'close/for-good',
      'what is being closed is never opened again',
      (before, after) => !before.matches('closing') || after.matches('closing') || after.matches('closed'),
    ),
    handlesOrIgnores('events/handled-or-ignored', [
      { machine: 'store', event: 'open', why: 'every use of it says that it is wanted' },
      { machine: 'store', event: 'close', in: 'closing', why: 'it is told twice' },
      ...Object.entries(SAID).map(([event, state]) => ({ machine: 'store', event, in: { open: state }, why: 'it is so already' })),
    ]),
  ],
}
