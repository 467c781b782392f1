import {
  check,
  type Exploration,
  type ExploreOptions,
  explore,
  type OpaqueChild,
  type Property,
  rejects,
  resolves,
  type Verdict,
} from '#model'
import { optionError } from '../../base/errors.ts'
import type { Life } from '../../lifecycle/life.ts'
import type { Lifecycle } from '../../lifecycle/lifecycle.ts'
import { composeLifecycle, type LifePlan } from '../../machines/lifecycle.ts'
import type { MuxAnswer } from '../../machines/phases/mux-signal.ts'
import type { LifecycleInEvent } from '../../machines/vocabulary.ts'
import type { Mode } from '../../machines/wiring.ts'
import { inWordsOfLife } from './life-trace.ts'
import { lifecycleInvariants } from './lifecycle-invariants.ts'
import { timedProperties } from './lifecycle-timed.ts'

/** What may come from outside, by short names. */
const OUTSIDE = {
  start: { type: 'start' },
  'start-refused': { type: 'start.refused', error: { name: 'Error', message: 'refused' } },
  stop: { type: 'stop.requested', reason: { kind: 'stop', reason: 'model' } },
  'stop-now': { type: 'stop.now', reason: 'model' },
  signal: { type: 'process.signalled', signal: 'SIGTERM', interactive: false },
  'ctrl-c': { type: 'process.signalled', signal: 'SIGINT', interactive: true },
  crash: { type: 'process.crashed', origin: 'uncaughtException', error: { name: 'Error', message: 'crash' } },
  rejection: { type: 'process.crashed', origin: 'unhandledRejection', error: { name: 'Error', message: 'rejection' } },
  'listener-death': { type: 'listener.died', address: 'listener', error: { name: 'Error', message: 'listener died' } },
  ready: { type: 'readyz.passed' },
  'work-left': { type: 'work.left', exitCode: 5 },
} as const satisfies Readonly<Record<string, LifecycleInEvent>>

/**
 * What may come from outside: `start()` and its refusal, `stop()`, a stop that means now, an OS
 * signal, Ctrl-C, a crash by an exception or by a rejection, the death of a listener, a passing
 * `/readyz`, work that the end of the process cuts.
 */
export type OutsideEvent = keyof typeof OUTSIDE
export const OUTSIDE_EVENTS = Object.keys(OUTSIDE) as readonly OutsideEvent[]

export interface LifecycleModelOptions {
  /**
   * What may come from outside, in every order and any number of times. Mux-complete signals come
   * or fail as well. Default: start and stop.
   */
  readonly outside?: readonly OutsideEvent[] | undefined
  /** How many states the life may have. Default 1 000 000. */
  readonly statesMax?: number | undefined
  /** As in {@link explore}. Default 256. */
  readonly recheckEvery?: number | undefined
  /** As in {@link explore}. */
  readonly onProgress?: ((found: number, taken: number) => void) | undefined
}

const MUX_ANSWERS: readonly MuxAnswer[] = [{ type: 'complete' }, { type: 'failed', error: { name: 'Error', message: 'failed' } }]

/** Effects whose answer is looked at. */
export const EFFECTS = {
  drainWatches: { outcomes: [resolves({ after: 0 }), resolves({ after: 1 }), rejects()] },
  terminateWatches: { outcomes: [resolves({ lost: 0 }), resolves({ lost: 1 }), rejects()] },
  destroyConnections: { outcomes: [resolves({ lost: 0 }), resolves({ lost: 1 }), rejects()] },
  awaitMuxSignal: { outcomes: [], sends: MUX_ANSWERS },
  nameHandlers: { outcomes: [resolves({ running: 0 }), resolves({ running: 1 }), rejects()] },
} satisfies Readonly<Record<string, OpaqueChild>>

/**
 * What a life is made of, to be explored: its mode, hooks, phases, mux-complete signals and budget.
 * Nothing of it is started, and more may be added to the life later.
 * @param mode explores the other way of refusing, without changing the life
 * @throws QuiesceError ERR_OPTION_INVALID for anything but what createServer or attachLifecycle
 * returned; ERR_UNKNOWN_REFERENCE when the `after` of a hook names no hook
 */
export function planOf(life: Life, mode?: Mode): LifePlan {
  if (!isLife(life)) throw optionError('life', life, 'what createServer() or attachLifecycle() returned')
  const plan = life.plan()
  return mode === undefined ? plan : { ...plan, mode }
}

/** By its looks: it may have been made by another copy of this package. */
export const isLife = (given: unknown): given is Lifecycle =>
  typeof given === 'object' && given !== null && typeof (given as Partial<Lifecycle>).plan === 'function'

/**
 * All states of a life: every effect and hook may answer, fail or never answer, at any time, and
 * every timer may be the next.
 * @throws QuiesceError as start() does for what does not fit together (ERR_UNKNOWN_REFERENCE,
 * ERR_CYCLE, ERR_DUPLICATE, ERR_OPTION_INVALID); ERR_MODEL_LIMIT when there are more than
 * `statesMax` states
 */
export function exploreLifecycle(plan: LifePlan, options: LifecycleModelOptions = {}): Exploration {
  return explore(composeLifecycle(plan), environmentOf(plan, options))
}

/** What surrounds the machine of a life. */
export function environmentOf(
  { input }: LifePlan,
  { outside = ['start', 'stop'], statesMax, recheckEvery, onProgress }: LifecycleModelOptions,
) {
  return {
    input,
    events: outside.map((name) => OUTSIDE[name]),
    children: EFFECTS,
    ...(statesMax !== undefined && { statesMax }),
    ...(recheckEvery !== undefined && { recheckEvery }),
    ...(onProgress && { onProgress }),
  } satisfies ExploreOptions
}

/** What has to hold for a life of this plan: the list with all ids is in docs/model-checking.md. */
export const invariantsOf = (plan: LifePlan): Property[] => lifecycleInvariants(plan)

export interface CheckLifeOptions extends LifecycleModelOptions {
  /** Instead of the life's own way of refusing. */
  readonly mode?: Mode | undefined
  /**
   * Bounds in time as well: the deadline, and the reserves of the late phases. It multiplies the
   * states, so the default is false.
   */
  readonly timed?: boolean | undefined
  /** Of your own, checked after ours. */
  readonly properties?: readonly Property[] | undefined
}

/**
 * Checks a life of yours, as it is registered and configured, without starting it: every invariant,
 * on every state it can reach. Traces are in the words of a report.
 *
 *     assertHolds(checkLife(makeServer()))
 *
 * @throws QuiesceError as {@link planOf} and {@link exploreLifecycle}; what does not hold is no
 * error, but a verdict
 */
export function checkLife(life: Life, { mode, timed = false, properties = [], ...options }: CheckLifeOptions = {}): Verdict[] {
  const plan = planOf(life, mode)
  const verdicts = check(exploreLifecycle(plan, options), [...invariantsOf(plan), ...(timed ? timedProperties() : []), ...properties])
  return verdicts.map((verdict) => (verdict.trace ? { ...verdict, trace: inWordsOfLife(verdict.trace) } : verdict))
}
