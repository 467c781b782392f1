import {
  type ActorView,
  alongEdges,
  always,
  atMostOnce,
  canonical,
  confluent,
  endReachable,
  handlesOrIgnores,
  isDone,
  monitored,
  noDeadlock,
  noErrors,
  type Property,
  terminates,
  timersAnd,
} from '#model'
import type { LifePlan } from '../../machines/lifecycle.ts'
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
import { areAnswersOfTwoPhases, areQuiet } from './confluence-properties.ts'
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
import { signalOf } from './facts.ts'
import { abortsSignals, endsAsItsHooks, endsByItsFunction, hooksEndWith, hooksInOrder } from './hook-properties.ts'
import { IGNORED_EVENTS } from './ignored-events.ts'
import { exitCodeOf, isStopping, isWaitingForSomething, placeOf, regionOf, severity, stopOf } from './life-views.ts'
import { PROMPT } from './lifecycle-timed.ts'
import { hasItsLimits } from './limit-properties.ts'
import { AWAITS_MUX_SIGNAL, muxProperties } from './mux-properties.ts'
import { cutOnlyAfter, firesOnSuccess } from './order-properties.ts'
import { specifiedWiring } from './specified.ts'
import { isStartBounded, startsBeforeStop } from './start-properties.ts'
import { askersAreHeard, hasItsProfile, registrationsAreTaken, saysItsEnd, secondCrashMeansNow, secondMeansNow } from './stop-properties.ts'
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
