import {
  type ActorView,
  alongEdges,
  always,
  atMostOnce,
  broken,
  type Choice,
  canonical,
  confluent,
  type Edge,
  endReachable,
  handlesOrIgnores,
  isDone,
  type Monitor,
  monitored,
  noDeadlock,
  noErrors,
  type Property,
  terminates,
  timersAnd,
} from '#model'
import type { LifePlan } from '../../machines/lifecycle.ts'
import { stateKey } from '../../machines/region.ts'
import type { LifecycleContext, LifecycleInEvent } from '../../machines/vocabulary.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { acquiredReleased, bracketsOf, complete, eachSaysItsEnd, hookBracket, inDestroyOrder, phaseBracket } from './brackets.ts'
import {
  cutIsHeard,
  cutsInOrder,
  exitsInTime,
  forcedIsSaid,
  furtherDecides,
  getsItsTurn,
  isBudgetPending,
  isCrashBudgetPending,
  neverBack,
  ownCutFirst,
} from './budget-properties.ts'
import { doesWhatItOwes } from './consequence-properties.ts'
import { edgesOf } from './edge-properties.ts'
import {
  atLeastEarned,
  changesForAReason,
  handlersCost,
  lostAnswersCost,
  lostWatchesCost,
  muxFailureCosts,
  workLeftCosts,
} from './exit-code-properties.ts'
import { factOf, signalOf } from './facts.ts'
import {
  ABORT_POST_START_HOOKS,
  abortsSignals,
  endsAsItsHooks,
  endsByItsFunction,
  hooksEndWith,
  hooksInOrder,
  POST_START_HOOK,
} from './hook-properties.ts'
import { IGNORED_EVENTS } from './ignored-events.ts'
import { exitCodeOf, isForcing, isStopping, isWaitingForSomething, placeOf, regionOf, severity, stopOf } from './life-views.ts'
import { PROMPT } from './lifecycle-timed.ts'
import { hasItsLimits } from './limit-properties.ts'
import { AWAITS_MUX_SIGNAL, muxProperties } from './mux-properties.ts'
import { cutOnlyAfter, firesOnSuccess } from './order-properties.ts'
import { specifiedWiring } from './specified.ts'
import { everyEdgeTaken } from './wiring-coverage.ts'
import { beginsItsWork, begunBefore, endsByItsWork, isAtWork } from './work-properties.ts'

/**
 * What holds for every life, whatever its hooks, phases and mode: stated once, checked on every
 * configuration. The ids are stable; the names in the texts are upstream's. docs/model-checking.md
 * lists them.
 */
export function lifecycleInvariants(plan: LifePlan): Property[] {
  const wiring = specifiedWiring(plan)
  const stopRows = Object.values(wiring).filter(({ lane }) => lane === 'stop')
  return [
    noErrors(),
    noDeadlock(),
    handlesOrIgnores('events/handled-or-ignored', IGNORED_EVENTS),
    endReachable('end/possible', 'from every state the end can be reached'),
    terminates(
      'end/certain',
      'after StopRequested the end comes even if no effect ever answers, except the synchronous forced end, which has to answer',
      {
        from: isStopping,
        isFair: timersAnd('force'),
      },
    ),
    always(
      'end/never-waiting-on-nothing',
      'from Start to the end a timer, an open listener or a running effect keeps the process alive',
      (root) => !hasBegun(root) || isDone(root) || isWaitingForSomething(root, AWAITS_MUX_SIGNAL) || isListening(root),
    ),
    alongEdges(
      'end/second-signal',
      'a second OS signal that is no echo of the first ends the life by force, and so does a program that asks for an immediate end',
      secondMeansNow,
    ),
    monitored(
      'end/second-crash',
      'a second crash ends the life by force when it is of another origin or comes later; an echo of the first one does not',
      secondCrashMeansNow(),
    ),
    alongEdges(
      'end/at-once',
      'after Ended the life is over, and no effect or timer keeps the process alive',
      (_before, after, { effects }) => !effects.some((effect) => signalOf(effect) === 'Ended') || isDone(after),
    ),
    alongEdges('end/said', 'the life reports its end and its exit code in the step in which it ends', saysItsEnd),
    always(
      'start/bounded',
      'every step of start-up has its limit of 10 s, but for an owner who has still to call listen(), and the echo of a signal is waited for 500 ms',
      isStartBounded(wiring),
    ),
    monitored('start/not-after-stop', 'a life that was told to stop does not start any more', startsBeforeStop()),
    atMostOnce('signals/once', 'every signal fires at most once', signalOf),
    monitored(
      'signals/complete',
      'before an unforced end every phase of the stop lane has fired its signal',
      complete(stopRows.map(({ fires }) => fires)),
    ),
    monitored('signals/success', 'a signal of the start lane fires only when its phase has succeeded', firesOnSuccess(wiring)),
    monitored(
      'signals/does',
      'what a signal causes outside the machines is done in the step of that signal, and by no other signal',
      doesWhatItOwes(),
    ),
    ...muxProperties(plan.muxSignals ?? []),
    monitored('signals/forced', 'the end is forced by the deadline only after Forced', forcedIsSaid()),
    ...edgesOf(plan),
    everyEdgeTaken('order/every-edge', wiring),
    monitored('order/cuts', 'the budget cuts in its order', cutsInOrder()),
    monitored(
      'order/post-start-hooks',
      'a post-start hook is cut only after the HTTP server was told to stop',
      cutOnlyAfter('post-start', wiring['post-start-hooks']?.until?.[plan.mode]),
    ),
    alongEdges('work/answered', 'a phase succeeds as soon as its work has answered, and only then', endsByItsWork(wiring, 'ok')),
    alongEdges(
      'work/failed',
      'a phase fails as soon as one of its effects fails or its limit is over, and only then',
      endsByItsWork(wiring, 'failed'),
    ),
    alongEdges(
      'work/cut',
      'a phase that is cut, or whose own limit is over, does its last work, and ends with that or with the next instant of the budget',
      endsByItsWork(wiring, 'cut'),
    ),
    always(
      'work/limits',
      'the shutdown delay, the ramp of notifications, the limit of the request drain, the watch grace, the connection timeout and the bound of every hook are pending while they count',
      hasItsLimits(wiring),
    ),
    monitored(
      'work/begun',
      'no phase succeeds without having begun its work',
      begunBefore(wiring, plan.postStartHooks?.length ? [] : ['post-start-hooks']),
    ),
    alongEdges('work/begins', 'a phase or hook that is reported as started runs its work when that step is over', beginsItsWork(wiring)),
    always('work/running', 'while a phase works, one of its effects, hooks or timers is running', isAtWork(wiring)),
    alongEdges(
      'work/post-start-hooks',
      'post-start hooks, and what tells them to end, have ended when the report is due',
      hooksEndWith(wiring['post-start-hooks']?.abandonedAt),
    ),
    alongEdges(
      'work/post-start-signals',
      'the signals of all post-start hooks that were launched are aborted when the HTTP server is told to stop, and not before',
      abortsSignals(wiring['post-start-hooks']?.until?.[plan.mode]),
    ),
    monitored(
      'work/hooks',
      'a pre-shutdown hook starts as soon as those that it follows have ended, and PreShutdownHooksStopped fires as soon as all have',
      hooksInOrder(plan.input.preShutdownHooks),
    ),
    alongEdges(
      'work/hook-answers',
      'a hook ends as soon as its function answers or its time is over, with that outcome, and otherwise only by a cut',
      endsByItsFunction,
    ),
    ...HOOK_PHASES.map(({ phase, kind, counts, text }) => monitored(`work/${kind}-outcome`, text, endsAsItsHooks(phase, kind, counts))),
    monitored('brackets/phases', 'every phase that was started ends, once, unless the end was forced', bracketsOf(phaseBracket)),
    monitored('brackets/hooks', 'every hook that was started ends, once, unless the end was forced', bracketsOf(hookBracket)),
    monitored(
      'brackets/every-phase',
      'every phase says that it ended, once, before its signal and before an unforced end, even if it was skipped',
      eachSaysItsEnd(wiring),
    ),
    monitored(
      'brackets/acquired-released',
      'whenever the stop comes, what start-up acquired is released before Destroyed: audit backend and listeners',
      acquiredReleased(),
    ),
    monitored(
      'brackets/destroy',
      'every destroy function runs, once, in the order of registration or the reverse, after those it names; in reverse after a failed start',
      inDestroyOrder(plan.input),
    ),
    alongEdges(
      'exit-code/never-milder',
      'the exit code never becomes less severe',
      (before, after) => severity(exitCodeOf(after)) >= severity(exitCodeOf(before)),
    ),
    monitored('exit-code/earned', 'the exit code is at least as severe as what happened', atLeastEarned(wiring)),
    alongEdges('exit-code/for-a-reason', 'the exit code changes only with a failure, a cut, a crash or an end by force', changesForAReason),
    alongEdges('exit-code/handlers', 'exit code 5 when handlers are cut that certainly ran', handlersCost),
    alongEdges('exit-code/mux', 'a mux-complete signal that fails before StopRequested costs exit code 4, later nothing', muxFailureCosts),
    alongEdges('exit-code/work-left', 'exit code 5 when the end of the process cuts work that belongs to no request', workLeftCosts),
    alongEdges(
      'exit-code/watches',
      'watches that are cut at their grace cost exit code 5 when some were lost, and else nothing',
      lostWatchesCost,
    ),
    alongEdges(
      'exit-code/connections',
      'connections that are closed by force cost exit code 5 when a client had not had all of its answer, and else nothing',
      lostAnswersCost,
    ),
    alongEdges(
      'registrations/taken',
      'hooks and destroy functions that are added to a life take part in it, and in its budget until a stop is requested',
      registrationsAreTaken,
    ),
    alongEdges('stop/asked', 'a requested stop happens, and its reason is recorded', askersAreHeard),
    alongEdges(
      'stop/first-reason-stands',
      'the first reason of a stop is kept',
      (before, after) => !isStopping(before) || canonical(stopOf(before), 'stop') === canonical(stopOf(after), 'stop'),
    ),
    always('stop/budget-of-its-kind', 'a stop has the delay and the deadline of its kind (signal, Ctrl-C or crash)', hasItsProfile),
    always(
      'deadline/pending',
      'from StopRequested to the end the next instant of the budget is pending, at its distance from the one before',
      isBudgetPending,
    ),
    always(
      'deadline/crash-pending',
      'after a crash during a stop the next instant of the budget of a crash is pending as well',
      isCrashBudgetPending,
    ),
    always('deadline/first-decides', 'an instant of the budget is reached when the first of the two budgets reaches it', furtherDecides),
    alongEdges('deadline/never-back', 'the budget never goes back to an earlier instant, and its last one ends the life', neverBack),
    alongEdges(
      'deadline/exit',
      'the process has ended by the deadline: the time for it to end by itself is part of the budget',
      exitsInTime,
    ),
    monitored('budget/own-cut', 'no phase is cut before its own instant of the budget', ownCutFirst(wiring, plan.input)),
    alongEdges('budget/heard', 'a phase at work when its instant comes is cut', cutIsHeard(wiring)),
    getsItsTurn(
      'budget/reserves',
      'unless a cut itself hangs, Destroy has the time that is kept for it, and so have the report and the logs',
      {
        turns: { destroy: 'Cut.destroy', report: 'Cut.flush' },
        synchronous: PROMPT,
        // The bound of the last call ends before the next instant of the budget.
        short: ['lastCall'],
      },
    ),
    confluent('confluence/answers', 'two phases whose effects answer give the same state in either order', areAnswersOfTwoPhases(wiring)),
    confluent(
      'confluence/independent',
      'what is no stop and no instant of the budget gives the same state in either order, unless one ends what the other waits for',
      areQuiet(wiring),
      { mayDisable: () => true },
    ),
  ]
}

/** How the phases of hooks end, by what becomes of the hooks. */
const HOOK_PHASES = [
  {
    phase: 'post-start-hooks',
    kind: 'post-start',
    counts: ['failed', 'cut'],
    text: 'the post-start hooks have failed when one of them has, and only then',
  },
  {
    phase: 'pre-shutdown-hooks',
    kind: 'pre-shutdown',
    counts: ['cut', 'failed'],
    text: 'the pre-shutdown hooks have failed when one of them has, unless they were cut, and only then',
  },
  {
    phase: 'destroy',
    kind: 'destroy',
    counts: ['cut', 'failed'],
    text: 'Destroy has failed when one of its functions has, unless it was cut, and only then',
  },
] as const

const hasBegun = (root: ActorView): boolean => isStopping(root) || regionOf(root, 'start') === 'started'
const isListening = (root: ActorView): boolean =>
  placeOf(root, 'bind') === 'fired' && ['close-listener', 'close-listener-after-drain'].every((phase) => placeOf(root, phase) !== 'fired')

function secondMeansNow(before: ActorView, after: ActorView, { choice }: Edge): boolean {
  const isSecond =
    (choice.event.type === 'stop.now' && regionOf(before, 'stop') === 'requested') ||
    (choice.event.type === 'process.signalled' && regionOf(before, 'second-signal') === 'armed')
  return choice.kind !== 'event' || !isSecond || isForcing(after)
}

type Crash = Extract<LifecycleInEvent, { type: 'process.crashed' }>

/**
 * The states: none, the origin of the first crash, `armed` when its echoes are over, `due` when the
 * end by force has to come in this step, `over`.
 */
function secondCrashMeansNow(): Monitor {
  return {
    initial: 'none',
    heard: (state, { kind, event, path }) => {
      if (state === 'over') return state
      if (kind === 'timer' && path.text === '' && event.type.startsWith('xstate.after.crashDebounce.')) return 'armed'
      if (kind !== 'event' || event.type !== 'process.crashed') return state
      const { origin } = event.object as unknown as Crash
      if (state === 'none') return origin
      return state === origin ? state : 'due'
    },
    next: (state, effect) => {
      const fact = factOf(effect)
      if (fact?.type !== 'forced' && fact?.type !== 'ended') return state
      const isEarly = state !== 'over' && state !== 'due' && fact.type === 'forced' && fact.why === 'second-crash'
      return isEarly ? broken('an echo of the first crash ends the life by force') : 'over'
    },
    atRest: (state) => (state === 'due' ? 'a second crash does not end the life by force' : undefined),
  }
}

const startsBeforeStop = (): Monitor => ({
  initial: '',
  next: (stopped, effect) => {
    const signal = signalOf(effect)
    if (signal === 'Start' && stopped !== '') return broken('Start is said after StopRequested')
    return signal === 'StopRequested' ? 'stopped' : stopped
  },
})

function saysItsEnd(before: ActorView, after: ActorView, { effects }: Edge): true | string {
  const said = effects.map(factOf).find((fact) => fact?.type === 'ended')
  if (!isDone(after) || isDone(before)) return said === undefined || 'the life says that it is over, and goes on'
  if (said?.type !== 'ended') return 'the life is over, and has not said so'
  const { exitCode } = after.output as { readonly exitCode: number }
  return said.exitCode === exitCode || `the life is over with exit code ${exitCode}, and says ${said.exitCode}`
}

const ASKERS: readonly string[] = ['stop.requested', 'process.signalled', 'process.crashed', 'listener.died', 'start.refused']

function askersAreHeard(before: ActorView, after: ActorView, { choice, effects }: Edge): boolean {
  if (isDone(after) || isForcing(before)) return true
  // A start is refused only once, and before it.
  const isAsker = choice.kind === 'event' && ASKERS.includes(choice.event.type)
  const asks = isAsker && (choice.event.type !== 'start.refused' || regionOf(before, 'start') === 'idle')
  const isSaid = effects.some((effect) => ['StopRequested', 'PostStartHookFailed', 'StartFailed'].includes(signalOf(effect) ?? ''))
  const hasFailed = choice.kind === 'outcome' && isPostStartHook(choice) && choice.event.type.startsWith('xstate.error.')
  return !(asks || isSaid || hasFailed) || isStopping(after)
}

function registrationsAreTaken(before: ActorView, after: ActorView, { choice }: Edge): boolean {
  if (choice.kind !== 'event' || isDone(after) || isForcing(before)) return true
  const event = choice.event.object as LifecycleInEvent
  const { preShutdownHooks, destroyFunctions, profiles } = after.context as LifecycleContext
  if (event.type === 'pre-shutdown-hooks.changed') return canonical(preShutdownHooks, 'hooks') === canonical(event.hooks, 'hooks')
  if (event.type === 'destroy-functions.changed')
    return canonical(destroyFunctions, 'functions') === canonical(event.functions, 'functions')
  if (event.type === 'budget.changed') {
    const due = isStopping(before) ? (before.context as LifecycleContext).profiles : event.profiles
    return canonical(profiles, 'profiles') === canonical(due, 'profiles')
  }
  return true
}

/** Stated apart from the machines: docs/architecture.md, and V10 of docs/divergences.md. */
const START_BOUND_MS = 10_000
const ECHO_MS = 500

function isStartBounded(wiring: Wiring): (root: ActorView) => true | string {
  const phases = Object.entries(wiring).flatMap(([phase, { lane, workKind, unbounded = false }]) =>
    lane === 'start' && workKind !== 'regions' ? [{ phase, bound: `startBound.lifecycle.running.${stateKey(phase)}`, unbounded }] : [],
  )
  return (root) => {
    const isPending = (event: string, ms: number): boolean =>
      root.timers.some((timer) => timer.event.type.startsWith(`xstate.after.${event}.`) && timer.delayMs === ms)
    if (regionOf(root, 'second-signal') === 'debouncing' && !isPending('signalDebounce', ECHO_MS))
      return `the echo of a signal is not waited for ${ECHO_MS} ms`
    if (['rejected', 'thrown'].includes(regionOf(root, 'crash') as string) && !isPending('crashDebounce', ECHO_MS))
      return `the echo of a crash is not waited for ${ECHO_MS} ms`
    for (const { phase, bound, unbounded } of phases)
      if (placeOf(root, phase) === 'working' && isPending(bound, START_BOUND_MS) === unbounded)
        return `${phase} has ${unbounded ? 'a' : 'no'} bound of ${START_BOUND_MS} ms`
    return true
  }
}

function hasItsProfile(root: ActorView): true | string {
  const stop = stopOf(root)
  if (!stop) return true
  const { profiles } = root.context as LifecycleContext
  const { kind } = stop.reason
  const allowed =
    kind === 'crash'
      ? [profiles.crash]
      : kind === 'start-failed'
        ? [profiles.startFailed]
        : kind === 'os-signal'
          ? [profiles.default, profiles.interactive]
          : [profiles.default]
  const own = canonical(stop.profile, 'profile')
  return allowed.some((profile) => canonical(profile, 'profile') === own) || `a stop by ${kind} has the budget of another kind`
}

/**
 * An answer that ends a phase is independent of one that ends another. Effects of one phase are
 * not: one may replace the other. Nor are answers that ask for a stop, which ends start-up wherever
 * it stands, or those of post-start hooks, which are ended by how far the stop has come: of those,
 * only the weaker `confluence/independent` holds.
 */
function areAnswersOfTwoPhases(wiring: Wiring): (one: Choice, other: Choice) => boolean {
  const failsStart = mayFailStart(wiring)
  const isAnswer = (choice: Choice): boolean => choice.kind === 'outcome' && !isOfPostStartHooks(choice) && !failsStart(choice)
  return (one, other) => isAnswer(one) && isAnswer(other) && ownerOf(one) !== ownerOf(other)
}

/** A failure of one of these phases, or the end of its bound, asks for a stop. */
function mayFailStart(wiring: Wiring): (choice: Choice) => boolean {
  const owners = new Set(Object.entries(wiring).flatMap(([phase, { onFailure }]) => (onFailure === 'StartFailed' ? [stateKey(phase)] : [])))
  return (choice) => owners.has(ownerOf(choice)) && (choice.kind === 'timer' || choice.event.type.startsWith('xstate.error.'))
}

const isPostStartHook = ({ path }: Choice): boolean => path.id.startsWith(POST_START_HOOK)
/**
 * A hook, or what tells all of them to end: with AdminClosed nothing of theirs is waited for any
 * more.
 */
const isOfPostStartHooks = (choice: Choice): boolean => isPostStartHook(choice) || choice.path.id === ABORT_POST_START_HOOKS
/** The child of the root below which something happens. */
const ownerOf = ({ path }: Choice): string => path.text.split('/')[0] as string

/**
 * Neither asks for a stop, of which the first decides, nor is an instant of the budget, which cuts
 * what has begun by then.
 */
function areQuiet(wiring: Wiring): (one: Choice, other: Choice) => boolean {
  const failsStart = mayFailStart(wiring)
  const isQuiet = (choice: Choice): boolean => {
    const { kind, path, event } = choice
    if (kind === 'event') return event.type === 'readyz.passed'
    if (kind === 'timer' && path.text === '') return false
    return !failsStart(choice) && !(isPostStartHook(choice) && event.type.startsWith('xstate.error.'))
  }
  return (one, other) => isQuiet(one) && isQuiet(other) && ownerOf(one) !== ownerOf(other)
}
