import { assign, enqueueActions, fromPromise, raise, setup } from 'xstate'
import type { ErrorRecord, StopReason } from '../base/events.ts'
import { instantMs, type StopProfile, type StopProfiles } from '../base/stop-profile.ts'
import { type ExitCode, exitCodeOfOutcome, moreSevere } from './exit-codes.ts'
import { closeConnectionsMachine } from './phases/close-connections.ts'
import { closeListenerMachine } from './phases/close-listener.ts'
import { type DestroyOrder, destroyMachine, destroySequence, type PlannedDestroy } from './phases/destroy.ts'
import { handlersMachine } from './phases/handlers.ts'
import { type HookPlan, hookMachine } from './phases/hook.ts'
import { lastCallMachine } from './phases/last-call.ts'
import { muxCompleteMachine } from './phases/mux-complete.ts'
import { notifyClientsMachine } from './phases/notify-clients.ts'
import { type OwnLimit, type PhaseOutput, record } from './phases/phase.ts'
import { type PlannedHook, preShutdownHooksMachine } from './phases/pre-shutdown-hooks.ts'
import { reportMachine } from './phases/report.ts'
import { requestDrainMachine } from './phases/request-drain.ts'
import { shutdownDelayMachine } from './phases/shutdown-delay.ts'
import { watchDrainMachine } from './phases/watch-drain.ts'
import { BUDGET_INSTANTS, type BudgetInstant, type SignalName } from './signals.ts'

/**
 * The words of the root machine: its context, the events the outside may send, and every actor,
 * action, guard and delay its regions use by name. The regions themselves are generated in
 * `region.ts` and composed in `lifecycle.ts`.
 */

/** What a life is given; complete, checked and in milliseconds. */
export interface LifecycleInput {
  /**
   * Delay, deadline and cut instants by kind of stop, for what is registered by now; one is chosen
   * when the stop is requested.
   */
  readonly profiles: StopProfiles
  readonly notifyClients: 'gradual' | 'at-once' | 'after-delay'
  /** Limit of the request drain; without one it has what the budget leaves it. */
  readonly requestDrainTimeoutMs?: number
  readonly connectionTimeoutMs: number
  readonly preShutdownHooks: readonly PlannedHook[]
  readonly destroyFunctions: readonly PlannedDestroy[]
  /** Default: registration. */
  readonly destroyOrder?: DestroyOrder
}

export interface LifecycleContext extends LifecycleInput {
  /** Set once, by the first thing that asks for the end. */
  readonly stop?: { readonly reason: StopReason; readonly profile: StopProfile }
  /** The most severe so far; it never decreases. */
  readonly exitCode: ExitCode
  /** The error of the first post-start hook that failed. */
  readonly hookFailure?: ErrorRecord
  /** The signals that have come of several that a phase waits for. */
  readonly [ofPhase: `arrived.${string}`]: readonly string[] | undefined
}

/** An arrival of one of the signals that a phase waits for. */
export interface Arrival {
  readonly phase: string
  readonly signal: string
  /** All signals that it waits for. */
  readonly after: readonly string[]
}

/** Events that come to a life from outside. */
export type LifecycleInEvent =
  | { readonly type: 'start' }
  /** What was registered does not fit together. */
  | { readonly type: 'start.refused'; readonly error: ErrorRecord }
  /** With a profile of its own when the one who asks gives it less time. */
  | { readonly type: 'stop.requested'; readonly reason: StopReason; readonly profile?: StopProfile }
  /** To a stop that is under way. */
  | { readonly type: 'stop.now'; readonly reason: string }
  | { readonly type: 'process.signalled'; readonly signal: string; readonly interactive: boolean }
  | { readonly type: 'process.crashed'; readonly origin: string; readonly error: ErrorRecord }
  | { readonly type: 'listener.died'; readonly address: string; readonly error: ErrorRecord }
  | { readonly type: 'readyz.passed' }
  /**
   * Work that no request stands for outlived what it uses: 4 when it has ended since, 5 when the
   * process ends before it does.
   */
  | { readonly type: 'work.left'; readonly exitCode: 4 | 5 }
  | { readonly type: 'pre-shutdown-hooks.changed'; readonly hooks: readonly PlannedHook[] }
  | { readonly type: 'destroy-functions.changed'; readonly functions: readonly PlannedDestroy[] }
  /**
   * Because something is registered that time has to be kept for, or nothing any more. After
   * StopRequested it changes nothing.
   */
  | { readonly type: 'budget.changed'; readonly profiles: StopProfiles }

/** Events that the regions send each other. */
export type InternalEvent =
  | { readonly type: Exclude<SignalName, 'StartFailed'> }
  | { readonly type: 'StartFailed'; readonly phase: string; readonly error: ErrorRecord }
  | { readonly type: 'PostStartHookFailed'; readonly hook: string; readonly error: ErrorRecord }
  | { readonly type: 'PostStartHooksAborted' }
  /** A mux-complete signal that will never come. */
  | { readonly type: 'mux-signal.failed' }
  | { readonly type: 'StopNow'; readonly reason: string }
  | { readonly type: 'SecondSignal'; readonly signal: string }
  | { readonly type: 'SecondCrash'; readonly error: ErrorRecord }
  | { readonly type: `due.${string}` }

/**
 * Longest time that one step of start-up may take: audit backend, listeners, telling the platform.
 */
const START_BOUND_MS = 10_000
/**
 * OS signals within this time of the first count as the same one: parents that forward deliver
 * twice within a millisecond (V10).
 */
const SIGNAL_DEBOUNCE_MS = 500
/**
 * Crashes of the same origin within this time of the first count as the same one: a defect that
 * rejects two promises does so in one tick (V10).
 */
const CRASH_DEBOUNCE_MS = 500

/**
 * The signals that have arrived, in the order of the table and not in that of their coming, which
 * nothing may depend on.
 */
const arrivedWith = (context: LifecycleContext, { phase, signal, after }: Arrival): string[] =>
  after.filter((other) => other === signal || context[`arrived.${phase}`]?.includes(other))

const effect = fromPromise<void>(() => Promise.resolve())
const budgetOf = (context: LifecycleContext): StopProfile => context.stop?.profile ?? context.profiles.default
/**
 * Delays between the budget's instants, relative (docs/decisions/0004): after a pause of the whole
 * process the gaps, and with them the reserves, still hold.
 */
const budgetDelays = <P extends string>(prefix: P, profileOf: (context: LifecycleContext) => StopProfile) => {
  const until =
    (instant: BudgetInstant, previous?: BudgetInstant) =>
    ({ context }: { context: LifecycleContext }) => {
      const at = (name: BudgetInstant) => instantMs(profileOf(context), name)
      return at(instant) - (previous ? at(previous) : 0)
    }
  return Object.fromEntries(
    BUDGET_INSTANTS.map((instant, i) => [`${prefix}until.${instant}`, until(instant, BUDGET_INSTANTS[i - 1])]),
  ) as Record<`${P}until.${BudgetInstant}`, ReturnType<typeof until>>
}
/** The works that are machines with states of their own. */
const PHASE_MACHINES = {
  muxComplete: muxCompleteMachine,
  'notify-clients': notifyClientsMachine,
  shutdownDelay: shutdownDelayMachine,
  preShutdownHooks: preShutdownHooksMachine,
  requestDrain: requestDrainMachine,
  watchDrain: watchDrainMachine,
  closeListener: closeListenerMachine,
  lastCall: lastCallMachine,
  closeConnections: closeConnectionsMachine,
  handlers: handlersMachine,
  destroy: destroyMachine,
  report: reportMachine,
  userPhase: hookMachine,
}
const hookEffect = fromPromise<void, HookPlan>(() => Promise.resolve())

/**
 * Most ends cost nothing, and for each assignment xstate builds the whole snapshot anew. Typed as
 * the plain function that it is not: setup() cannot infer the parameters of such an action.
 */
const settle = enqueueActions(({ context, enqueue }, { output }: { output: PhaseOutput }) => {
  const exitCode = moreSevere((context as LifecycleContext).exitCode, output.exitCode ?? exitCodeOfOutcome(output.outcome))
  if (exitCode !== context['exitCode']) enqueue.assign({ exitCode })
}) as unknown as (_: unknown, params: { output: PhaseOutput }) => void

/** The action by which a region tells the others. */
export const RAISE_ACTION = 'xstate.raise'

export const vocabulary = setup({
  types: {} as {
    input: LifecycleInput
    context: LifecycleContext
    events: LifecycleInEvent | InternalEvent
    output: { readonly exitCode: ExitCode }
  },
  actors: {
    auditRun: effect,
    bind: effect,
    announce: effect,
    runPostStartHook: hookEffect,
    abortPostStartHooks: effect,
    ...PHASE_MACHINES,
    auditShutdown: effect,
    closeAdmin: effect,
    force: effect,
  },
  actions: {
    record,
    [RAISE_ACTION]: raise((_, { event }: { event: InternalEvent }) => event),
    worsen: assign(({ context }, { exitCode }: { exitCode: ExitCode }) => ({ exitCode: moreSevere(context.exitCode, exitCode) })),
    settle,
    requestStop: assign((_, { reason, profile }: { reason: StopReason; profile: StopProfile }) => ({ stop: { reason, profile } })),
    arrive: assign(({ context }, arrival: Arrival) => ({ [`arrived.${arrival.phase}`]: arrivedWith(context, arrival) })),
    noteHookFailure: assign(({ context }, { error }: { error: ErrorRecord }) => ({ hookFailure: context.hookFailure ?? error })),
    replaceHooks: assign(({ context, event }) =>
      event.type === 'pre-shutdown-hooks.changed' ? { preShutdownHooks: event.hooks } : context,
    ),
    replaceDestroyFunctions: assign(({ context, event }) =>
      event.type === 'destroy-functions.changed' ? { destroyFunctions: event.functions } : context,
    ),
    replaceProfiles: assign(({ context, event }) => (event.type === 'budget.changed' ? { profiles: event.profiles } : context)),
  },
  guards: {
    isLast: ({ context }, arrival: Arrival) => arrivedWith(context, arrival).length === arrival.after.length,
    isRejection: ({ event }) => event.type === 'process.crashed' && event.origin === 'unhandledRejection',
    isException: ({ event }) => event.type === 'process.crashed' && event.origin !== 'unhandledRejection',
    postStartHookFailed: ({ context }) => context.hookFailure !== undefined,
    workFailed: ({ event }) => (event as { readonly output?: PhaseOutput }).output?.outcome === 'failed',
  },
  delays: {
    startBound: START_BOUND_MS,
    signalDebounce: SIGNAL_DEBOUNCE_MS,
    crashDebounce: CRASH_DEBOUNCE_MS,
    ...budgetDelays('', budgetOf),
    ...budgetDelays('crash.', (context) => context.profiles.crash),
  },
})

/**
 * What each named work is started with, unless its row says so. Works that need nothing are not
 * listed.
 */
export const WORK_INPUT: Readonly<Record<string, (args: { readonly context: LifecycleContext }) => unknown>> = {
  'notify-clients': ({ context }) => {
    const { delayMs } = budgetOf(context)
    return { how: delayMs === 0 ? 'at-once' : context.notifyClients, delayMs }
  },
  shutdownDelay: ({ context }) => ({ delayMs: budgetOf(context).delayMs }),
  preShutdownHooks: ({ context }) => ({ hooks: context.preShutdownHooks }),
  requestDrain: ({ context }) => ({ limitMs: context.requestDrainTimeoutMs }),
  watchDrain: ({ context }) => ({ graceMs: budgetOf(context).watchGraceMs }),
  closeListener: ({ context }) => ({ lastCallMs: budgetOf(context).lastCallMs }),
  lastCall: ({ context }) => ({ lastCallMs: budgetOf(context).lastCallMs }),
  closeConnections: ({ context }) => ({ connectionTimeoutMs: context.connectionTimeoutMs }),
  // The roll-back of a failed start runs in reverse; an orderly end keeps upstream's order of
  // registration (ER-09), unless told otherwise.
  destroy: ({ context }) => ({
    functions: destroySequence(
      context.destroyFunctions,
      context.stop?.reason.kind === 'start-failed' ? 'reverse' : (context.destroyOrder ?? 'registration'),
    ),
  }),
}

/**
 * The limit that a work has of its own, as its machine states it; without one, only the budget ends
 * it.
 * @param given what its row starts it with, if that says so
 */
export function ownLimitOf(work: string, given?: unknown): ((context: LifecycleContext) => number | undefined) | undefined {
  const machine = Object.hasOwn(PHASE_MACHINES, work) ? PHASE_MACHINES[work as keyof typeof PHASE_MACHINES] : undefined
  const { limitMs } = (machine?.root.meta ?? {}) as Partial<OwnLimit<unknown>>
  return limitMs && ((context) => limitMs(given ?? WORK_INPUT[work]?.({ context })))
}
