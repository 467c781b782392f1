import {
  check,
  type Exploration,
  type ExploreOptions,
  explore,
  mayBeVacuous,
  type OpaqueChild,
  type Property,
  rejects,
  resolves,
  type Verdict,
} from '#model'
import { checkArguments, LIFE_ALLOWED } from '../../base/arguments.ts'
import { optionError } from '../../base/errors.ts'
import { isLife } from '../../lifecycle/is-life.ts'
import type { Life } from '../../lifecycle/life.ts'
import { composeLifecycle, effectiveWiring, type LifePlan } from '../../machines/lifecycle.ts'
import type { MuxAnswer } from '../../machines/phases/mux-signal.ts'
import type { Mode } from '../../machines/wiring.ts'
import {
  composeOptions,
  defineOptions,
  type OptionTable,
  option,
  type ResolvedOf,
  resolveOptions,
  type UserOptions,
} from '../../options/kit/define.ts'
import { choice, integer, list, onOff, value } from '../../options/kit/kinds.ts'
import { Problems } from '../../options/kit/problems.ts'
import { inWordsOfLife } from './life-trace.ts'
import { lifecycleInvariants } from './lifecycle-invariants.ts'
import { timedProperties } from './lifecycle-timed.ts'
import { OUTSIDE, OUTSIDE_EVENTS, type OutsideEvent } from './outside-events.ts'
import { alikeIn, type ReducedPlan, withRepresentatives } from './representatives.ts'
import { A_PLAN } from './specified.ts'

const MODEL_OPTIONS = defineOptions({
  /**
   * What may come from outside, in every order and any number of times. Mux-complete signals come
   * or fail as well.
   * @default start and stop
   */
  outside: option(list(OUTSIDE_EVENTS), { default: ['start', 'stop'], meaning: 'Events from outside that may happen' }),
  /**
   * How many states the life may have.
   * @default 1 000 000
   */
  statesMax: option(integer(1, Number.MAX_SAFE_INTEGER), {
    default: 1_000_000,
    meaning: 'How many states the life may have; the check ends with an error above that',
  }),
  /**
   * The share of steps to recheck, as in {@link explore}. All code in the steps of a life is ours,
   * and its tests recheck it.
   * @default 0: none
   */
  recheckEvery: option(integer(0, Number.MAX_SAFE_INTEGER), {
    default: 0,
    meaning: 'Every how many steps one is computed twice; 0 for none',
  }),
  /** The observer of progress, as in {@link explore}. */
  onProgress: option(
    value<(found: number, taken: number) => void>('a function', (given) => typeof given === 'function'),
    { defaultWords: 'none', meaning: 'Called now and then with how many states were found, and how many of them are explored' },
  ),
})

const MODE_OPTION = defineOptions({
  /** Instead of the life's own way of refusing. */
  mode: option(choice('refuse', 'retry-after'), {
    defaultWords: "the life's own",
    meaning: 'How new requests are refused while draining',
  }),
})

export interface LifecycleModelOptions extends UserOptions<typeof MODEL_OPTIONS> {}

const MUX_ANSWERS: readonly MuxAnswer[] = [{ type: 'complete' }, { type: 'failed', error: { name: 'Error', message: 'failed' } }]

/** Effects whose answer is looked at, and the one whose answer is not. */
export const EFFECTS = {
  abortPostStartHooks: { outcomes: [] },
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
  if (!isLife(life)) throw optionError('life', life, LIFE_ALLOWED)
  readOptions(MODE_OPTION, { mode })
  const plan = life.plan(true)
  return mode === undefined ? plan : { ...plan, mode }
}

/**
 * All states of a life: every effect and hook may answer, fail or never answer, at any time, and
 * every timer may be the next.
 * @throws QuiesceError as start() does for what does not fit together (ERR_UNKNOWN_REFERENCE,
 * ERR_CYCLE, ERR_DUPLICATE, ERR_OPTION_INVALID); ERR_MODEL_LIMIT when there are more than
 * `statesMax` states
 */
export function exploreLifecycle(plan: LifePlan, options: LifecycleModelOptions = {}): Exploration {
  checkArguments('exploreLifecycle(plan, options?)', [plan, A_PLAN], [options, 'an object of options'])
  return { ...explore(composeLifecycle(plan), environmentOf(plan, options)), sayable: sayableOf(plan) }
}

/** What `happening` may name: a property about it is no mistake, though no run may come to it. */
function sayableOf(plan: LifePlan): readonly string[] {
  const { preShutdownHooks, destroyFunctions } = plan.input
  const hooks = { 'pre-shutdown': preShutdownHooks, destroy: destroyFunctions, 'post-start': plan.postStartHooks ?? [] }
  const starting = [
    ...Object.keys(effectiveWiring(plan)),
    ...Object.entries(hooks).flatMap(([kind, named]) => named.map(({ name }) => `${kind} ${name}`)),
  ]
  const fired = Object.values(effectiveWiring(plan)).map(({ fires }) => fires)
  return [...fired, ...starting.flatMap((name) => [`${name} starts`, `${name} ends`])]
}

/** What surrounds the machine of a life. */
export function environmentOf({ endInOrder = false, ...plan }: ReducedPlan, options: LifecycleModelOptions) {
  const { outside, statesMax, recheckEvery, onProgress } = readOptions(MODEL_OPTIONS, options)
  return {
    input: plan.input,
    events: outside.map((name) => OUTSIDE[name]),
    children: EFFECTS,
    alike: endInOrder ? alikeIn(plan) : [],
    statesMax,
    recheckEvery,
    onProgress,
  } satisfies ExploreOptions
}

function readOptions<T extends OptionTable>(table: T, given: UserOptions<T>): ResolvedOf<T> {
  const problems = new Problems(table)
  const usable = problems.checkEach(given) as UserOptions<T>
  problems.throwIfAny()
  return resolveOptions(table, usable)
}

/**
 * What has to hold for a life of this plan: the list with all ids is in docs/model-checking.md.
 * They are meant for every life, so that some are about nothing in most.
 */
export function invariantsOf(plan: LifePlan): Property[] {
  checkArguments('invariantsOf(plan)', [plan, A_PLAN])
  return lifecycleInvariants(plan).map((property) => mayBeVacuous(property))
}

const CHECK_LIFE_OPTIONS = composeOptions(
  composeOptions(MODEL_OPTIONS, MODE_OPTION),
  defineOptions({
    /**
     * Bounds in time as well: the deadline, and the reserves of the late phases. It multiplies the
     * states.
     * @default false
     */
    timed: option({ ...onOff(), allowed: 'true or false' }, { default: false, meaning: 'Also check times' }),
    /** Properties of your own, checked after ours. */
    properties: option(value<readonly Property[]>('a list of properties', Array.isArray), {
      defaultWords: 'none',
      meaning: 'Further properties',
    }),
  }),
)

export interface CheckLifeOptions extends UserOptions<typeof CHECK_LIFE_OPTIONS> {}

/**
 * Checks a life of yours, as it is registered and configured, without starting it: every invariant,
 * on every state it can reach. Traces are in the words of a report. Hooks, phases of yours and
 * mux-complete signals that differ in nothing but their names end in the order of registration.
 * Three post-start hooks or mux-complete signals stand for more. With `properties`, which may name
 * any of them, all are explored in every order.
 *
 *     assertHolds(checkLife(makeServer()))
 *
 * @throws QuiesceError as {@link planOf} and {@link exploreLifecycle}, and ERR_OPTION_INVALID for
 * options that cannot be used; ModelError ERR_MODEL_UNKNOWN for a property that names what the life
 * does not have. What does not hold is no error, but a verdict
 */
export function checkLife(life: Life, options: CheckLifeOptions = {}): Verdict[] {
  const { mode, timed, properties = [], ...limits } = readOptions(CHECK_LIFE_OPTIONS, options)
  const own = planOf(life, mode)
  const plan = properties.length === 0 ? withRepresentatives(own) : own
  const exploration = exploreLifecycle(plan, limits)
  const verdicts = verdictsOf(exploration, [...invariantsOf(plan), ...(timed ? timedProperties() : []), ...properties], limits.outside)
  return verdicts.map((verdict) => (verdict.trace ? { ...verdict, trace: inWordsOfLife(verdict.trace) } : verdict))
}

/** The verdicts about a life; one that is never started is the likeliest reason of all. */
export function verdictsOf(exploration: Exploration, properties: readonly Property[], outside: readonly OutsideEvent[]): Verdict[] {
  const never = outside.includes('start') ? '' : '; no event starts the life, because `outside` has no "start"'
  return check(exploration, properties).map((verdict) =>
    verdict.vacuous === undefined ? verdict : { ...verdict, vacuous: verdict.vacuous + never },
  )
}
