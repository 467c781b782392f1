// @ts-check
// Lives in which mutants are looked for, cheapest first: a mutant is caught by the first that shows
// it. `about` says which mutants, by name, a life could show at all; without it every one.

import { rejects, resolves } from '#model'
import { RESERVES_DEFAULT_MS } from '../../build/src/base/stop-profile.js'
import { EFFECTS } from '../../build/src/model/life/lifecycle-model.js'
import { stopProfile } from '../../build/src/options/budget.js'

/**
 * @typedef {import('../../build/src/machines/lifecycle.js').LifePlan} LifePlan
 * @typedef {import('#model').ExploreOptions} ExploreOptions
 * @typedef {{ name: string, about?: RegExp, plan: LifePlan, outside: readonly import('../../build/src/model/life/outside-events.js').OutsideEvent[], extra?: readonly { type: string }[], narrowed?: Partial<ExploreOptions> }} Scenario
 */

const profile = (/** @type {number} */ delayMs, /** @type {number} */ deadlineMs, watchGraceMs = deadlineMs / 3) =>
  stopProfile({ delayMs, lastCallMs: 200, deadlineMs, watchGraceMs, reserves: RESERVES_DEFAULT_MS })

/** @type {LifePlan} */
const bare = {
  mode: 'refuse',
  input: {
    profiles: {
      default: profile(5_000, 25_000),
      interactive: profile(0, 2_000),
      crash: profile(0, 5_000),
      startFailed: profile(0, 20_000),
    },
    notifyClients: 'gradual',
    connectionTimeoutMs: 60_000,
    preShutdownHooks: [],
    destroyFunctions: [],
  },
}
/** @type {LifePlan} */
const withHooks = {
  ...bare,
  input: {
    ...bare.input,
    preShutdownHooks: [
      { kind: 'pre-shutdown', name: 'leave', timeoutMs: 1_000, after: [] },
      { kind: 'pre-shutdown', name: 'flush', timeoutMs: 2_000, after: ['leave'] },
    ],
    destroyFunctions: [
      { kind: 'destroy', name: 'pool', timeoutMs: 1_000 },
      { kind: 'destroy', name: 'cache', timeoutMs: 500 },
    ],
  },
}

const place = (/** @type {{ value: unknown }} */ root, /** @type {string} */ region) =>
  /** @type {{ running?: Record<string, unknown> }} */ (root.value).running?.[region]

const STOP = { type: 'stop.requested', reason: { kind: 'stop', reason: 'model' } }
const OVER = ['fired', 'failed']

/** A life that is stopped once it serves, by whatever it waits for then. @param {readonly string[]} [regions] @param {readonly { type: string }[]} [events] @returns {Partial<ExploreOptions>} */
const stoppedAfter = (regions = ['announce'], events = []) => ({
  events: (root) => {
    if (place(root, 'start') === 'idle') return [{ type: 'start' }, ...events]
    const isReady = regions.every((region) => OVER.includes(String(place(root, region))))
    return isReady && place(root, 'stop') === 'living' ? [...events, STOP] : events
  },
})
/** What answers, if at all, without trouble. @param {readonly string[]} effects */
const smooth = (effects) => ({
  children: {
    ...EFFECTS,
    ...Object.fromEntries(effects.map((name) => [name, { outcomes: [resolves()] }])),
  },
})
const STARTING = ['auditRun', 'bind', 'announce']
/** The end in its few main ways, for lives that are about the beginning. */
const ENDING = {
  children: {
    ...smooth([
      'drainRequests',
      'acceptThenClose',
      'holdConnections',
      'closeIdleConnections',
      'lingerConnections',
      'waitForHandlers',
      'auditShutdown',
      'closeAdmin',
      'flushLogs',
      'writeReport',
      'runHook',
    ]).children,
    drainWatches: { outcomes: [resolves({ after: 0 })] },
  },
}
const QUIET = { children: { ...ENDING.children, ...smooth(STARTING).children } }
/** @type {NonNullable<LifePlan['postStartHooks']>} */
const postStartHooks = [{ kind: 'post-start', name: 'warm', timeoutMs: 0 }]

/** A phase of the user that waits for a signal that no phase of ours waits for. @param {string} signal */
const afterwards = (signal) => ({ name: 'afterwards', after: [signal], before: [], timeoutMs: 0 })
/** User code reports a failure by its output. */
const FAILING_BY_OUTPUT = {
  outcomes: [resolves(), rejects(), resolves({ outcome: 'failed', error: { name: 'Error', message: 'failed' } })],
}
const longer = (/** @type {readonly { timeoutMs: number }[]} */ plans) => plans.map((plan) => ({ ...plan, timeoutMs: plan.timeoutMs + 1 }))
const REGISTRATIONS = [
  { type: 'pre-shutdown-hooks.changed', hooks: longer(withHooks.input.preShutdownHooks) },
  { type: 'destroy-functions.changed', functions: longer(withHooks.input.destroyFunctions) },
  { type: 'budget.changed', profiles: { ...bare.input.profiles, default: profile(5_000, 26_000) } },
]

/** @type {readonly Scenario[]} */
export const SCENARIOS = [
  { name: 'stopped before it starts', plan: bare, outside: ['stop'] },
  {
    name: 'signalled before it starts',
    about: /second-signal|process\.signalled|signalDebounce|forc|root running:/,
    plan: bare,
    outside: ['signal'],
  },
  { name: 'crashes before it starts', about: /crash|forc|root running:/, plan: bare, outside: ['crash', 'rejection'] },
  { name: 'crashes while it stops', about: /crash|budget/, plan: bare, outside: ['stop', 'crash'] },
  { name: 'is told to stop now', about: /stop|forc|root running:/, plan: bare, outside: ['stop', 'stop-now'] },
  {
    name: 'has a limit for its requests',
    about: /request-drain/,
    plan: { ...bare, input: { ...bare.input, requestDrainTimeoutMs: 2_000 } },
    outside: [],
    narrowed: { ...stoppedAfter(), ...smooth(STARTING) },
  },
  {
    name: 'changes before it is stopped',
    about: /changed|work\.left/,
    plan: withHooks,
    outside: ['stop', 'work-left'],
    extra: REGISTRATIONS,
  },
  { name: 'refused to start', about: /root running\.(start|stop)|destroy|condition/, plan: withHooks, outside: ['start-refused'] },
  { name: 'serves, then stops', plan: withHooks, outside: [], narrowed: { ...stoppedAfter(), ...smooth(STARTING) } },
  {
    name: 'starts or fails',
    about: /audit-run|bind|serve|announce|post-start-launch|root running\.(start|stop)|destroy|condition/,
    plan: { ...withHooks, input: { ...withHooks.input, preShutdownHooks: [] } },
    outside: [],
    narrowed: {
      ...stoppedAfter(),
      children: { ...ENDING.children, ...Object.fromEntries(STARTING.map((name) => [name, FAILING_BY_OUTPUT])) },
    },
  },
  {
    name: 'retry-after',
    about: /close-listener|last-call|close-connections|request-drain|wrong mode/,
    plan: { ...bare, mode: 'retry-after' },
    outside: [],
    narrowed: { ...stoppedAfter(), ...smooth(STARTING) },
  },
  {
    name: 'without a watch grace',
    about: /watch-drain/,
    plan: { ...bare, input: { ...bare.input, profiles: { ...bare.input.profiles, default: profile(5_000, 25_000, 0) } } },
    outside: [],
    narrowed: { ...stoppedAfter(), ...smooth(STARTING) },
  },
  {
    name: 'hooks side by side',
    about: /hook/,
    plan: {
      ...bare,
      input: {
        ...bare.input,
        preShutdownHooks: ['leave', 'flush'].map((name) => ({ kind: 'pre-shutdown', name, timeoutMs: 1_000, after: [] })),
      },
    },
    outside: [],
    narrowed: { ...stoppedAfter(), ...QUIET },
  },
  {
    name: 'a post-start hook',
    about: /post-start|PostStart/,
    plan: { ...bare, postStartHooks },
    outside: [],
    narrowed: { ...stoppedAfter(['serve']), ...ENDING },
  },
  {
    name: 'mux signals, stopped before it starts',
    about: /mux/,
    plan: { ...bare, muxSignals: ['apis', 'crds'] },
    outside: ['stop'],
    narrowed: ENDING,
  },
  {
    name: 'mux signals',
    about: /mux|AdminClosed|Serving/,
    plan: { ...bare, muxSignals: ['apis', 'crds'] },
    outside: [],
    narrowed: { ...stoppedAfter(['announce']), ...QUIET },
  },
  {
    name: 'a mux signal, and a life that is told to stop now',
    about: /mux/,
    plan: { ...bare, muxSignals: ['apis'] },
    outside: ['start', 'stop', 'stop-now'],
    narrowed: QUIET,
  },
  {
    name: 'readiness',
    about: /ready/,
    plan: bare,
    outside: [],
    narrowed: { ...stoppedAfter(['announce', 'has-been-ready'], [{ type: 'readyz.passed' }]), ...ENDING },
  },
  {
    name: 'a user phase waits for the mux signals',
    about: /mux-complete/,
    plan: { ...bare, userPhases: [afterwards('MuxAndDiscoveryComplete')] },
    outside: [],
    narrowed: { ...stoppedAfter(['announce', 'mux-complete']), ...QUIET },
  },
  {
    name: 'a user phase waits for a mux signal',
    about: /mux-complete/,
    plan: { ...bare, muxSignals: ['apis'], userPhases: [afterwards('MuxAndDiscoveryComplete')] },
    outside: [],
    narrowed: { ...stoppedAfter(['announce']), ...QUIET },
  },
  {
    name: 'a user phase waits for what was announced',
    about: /announce\.fired/,
    plan: { ...bare, userPhases: [afterwards('Announced')] },
    outside: [],
    narrowed: { ...stoppedAfter(['announce']), ...QUIET },
  },
  {
    name: 'a user phase waits until it has been ready',
    about: /has-been-ready\.fired/,
    plan: { ...bare, userPhases: [afterwards('HasBeenReady')] },
    outside: [],
    narrowed: { ...stoppedAfter(['announce', 'has-been-ready'], [{ type: 'readyz.passed' }]), ...QUIET },
  },
  {
    name: 'a user phase waits for the post-start hooks',
    about: /post-start-hooks/,
    plan: { ...bare, postStartHooks, userPhases: [afterwards('PostStartHooksDone')] },
    outside: [],
    narrowed: { ...stoppedAfter(['announce']), ...QUIET },
  },
  {
    name: 'one of two post-start hooks fails',
    about: /root running\.post-start-hooks\.launched/,
    plan: { ...bare, postStartHooks: [...postStartHooks, { kind: 'post-start', name: 'sync', timeoutMs: 0 }] },
    outside: [],
    narrowed: { ...stoppedAfter(['announce']), ...QUIET },
  },
  { name: 'stopped at any time', plan: bare, outside: ['start', 'stop'], narrowed: ENDING },
  { name: 'its listener dies', about: /root running\.stop/, plan: bare, outside: ['start', 'listener-death'], narrowed: ENDING },
]
