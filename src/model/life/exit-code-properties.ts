import { type ActorView, broken, type Edge, type Monitor } from '#model'
import type { LifecycleFact } from '../../base/events.ts'
import type { ExitCode } from '../../machines/exit-codes.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { OWN_LIMIT } from './budget-properties.ts'
import { factOf } from './facts.ts'
import { exitCodeOf, isForcing, isStopping, severity } from './life-views.ts'
import { muxAnswerIn } from './mux-properties.ts'

/** What a fact costs at least, stated apart from the machines. */
function costOf(fact: LifecycleFact, wiring: Wiring): ExitCode {
  switch (fact.type) {
    case 'forced':
      return fact.why === 'deadline' ? 5 : 1
    case 'signal':
      return fact.reason ? (COST_OF_REASON[fact.reason.kind] ?? 0) : 0
    case 'hook.ended':
      return fact.kind === 'post-start' && fact.outcome === 'failed' ? 4 : 0
    case 'phase.ended': {
      const { lane, onFailure } = wiring[fact.phase] ?? {}
      if (fact.outcome === 'failed') return onFailure === 'log' ? 0 : onFailure === 'StartFailed' ? 3 : 4
      // A limit of the user's own is no failure; what handlers cost is for `handlersCost`.
      const isFree = OWN_LIMIT.includes(fact.phase) || fact.phase === LAST_CALL || fact.phase === HANDLERS
      return fact.outcome === 'cut' && lane === 'stop' && !isFree ? 5 : 0
    }
    default:
      return 0
  }
}

/** The phase whose cut costs what its last answer says. */
const HANDLERS = 'handlers'
/** The phase that holds idle connections, which have nothing to lose. */
const LAST_CALL = 'last-call'

const COST_OF_REASON: Readonly<Record<string, ExitCode>> = { crash: 1, 'start-failed': 3, 'hook-failed': 4, 'listener-died': 4 }

export const atLeastEarned = (wiring: Wiring): Monitor => ({
  initial: '0',
  next: (worst, effect) => {
    const fact = factOf(effect)
    if (!fact) return worst
    if (fact.type === 'ended')
      return severity(fact.exitCode) >= severity(Number(worst)) ? worst : broken(`exit code ${fact.exitCode} for what costs ${worst}`)
    const cost = costOf(fact, wiring)
    return severity(cost) > severity(Number(worst)) ? String(cost) : worst
  },
})

/** What costs something at once, whatever is said of it. */
const COSTLY_EVENTS: readonly string[] = ['process.crashed', 'work.left']

/** Serving goes on, but the failure costs exit code 4; after a stop it is late, for nothing. */
export function muxFailureCosts(before: ActorView, after: ActorView, { choice }: Edge): boolean {
  const answer = muxAnswerIn(choice)
  if (!answer || isForcing(before)) return true
  if (answer.kind !== 'failed' || isStopping(before)) return exitCodeOf(before) === exitCodeOf(after)
  return severity(exitCodeOf(after)) >= severity(4)
}

/** Work that the end of the process cuts costs what is said with it. */
export function workLeftCosts(before: ActorView, after: ActorView, { choice: { event } }: Edge): boolean {
  if (event.type !== 'work.left' || isForcing(before)) return true
  return severity(exitCodeOf(after)) >= severity((event.object as unknown as { readonly exitCode: number }).exitCode)
}

/**
 * A watch that was told and has used up its grace costs nothing: its client knew that it had to
 * reconnect. One that never was told, or had no byte of an answer, is lost.
 */
export function lostWatchesCost(before: ActorView, after: ActorView, { choice: { kind, path, event } }: Edge): true | string {
  if (kind !== 'outcome' || path.text !== 'watch-drain/terminate-watches' || event.type.startsWith('xstate.error.')) return true
  const { lost = 0 } = (event.object as { readonly output?: { readonly lost?: number } }).output ?? {}
  const [was, is] = [exitCodeOf(before), exitCodeOf(after)]
  if (lost > 0) return severity(is) >= severity(5) || `exit code ${is} for watches that were lost`
  return is === was || `exit code ${is} for watches that have used up their grace`
}

/**
 * Closing connections by force costs nothing, at the connection timeout or at the cut, unless a
 * client had not had all of its answer.
 */
export function lostAnswersCost(before: ActorView, after: ActorView, { choice: { kind, path, event } }: Edge): true | string {
  const isClosing = /^close-connections\/destroy-connections/.test(path.text)
  if (kind !== 'outcome' || !isClosing || event.type.startsWith('xstate.error.')) return true
  const { lost = 0 } = (event.object as { readonly output?: { readonly lost?: number } }).output ?? {}
  const [was, is] = [exitCodeOf(before), exitCodeOf(after)]
  if (lost > 0) return severity(is) >= severity(5) || `exit code ${is} for answers that were lost`
  return is === was || `exit code ${is} for connections that had nothing to lose`
}

/**
 * A cut of the wait for handlers costs exit code 5, and nothing when only such are left as may be
 * over.
 */
export function handlersCost(before: ActorView, after: ActorView, { choice, effects }: Edge): true | string {
  const { kind, path, event } = choice
  const isNamed = kind === 'outcome' && path.text === 'handlers/name-handlers' && !event.type.startsWith('xstate.error.')
  const { running = 1 } = isNamed ? ((event.object as { readonly output?: { readonly running?: number } }).output ?? {}) : {}
  const [was, is] = [exitCodeOf(before), exitCodeOf(after)]
  if (running === 0) return is === was || `exit code ${is} for handlers that may be over`
  const isCut = effects.some((effect) => {
    const fact = factOf(effect)
    return fact?.type === 'phase.ended' && fact.phase === HANDLERS && fact.outcome === 'cut'
  })
  return !isCut || isForcing(after) || severity(is) >= severity(5) || `exit code ${is} for handlers that were certain to run`
}

export function changesForAReason(before: ActorView, after: ActorView, { choice, effects }: Edge): true | string {
  if (exitCodeOf(before) === exitCodeOf(after) || COSTLY_EVENTS.includes(choice.event.type) || muxAnswerIn(choice)) return true
  const isReason = (fact: LifecycleFact | undefined): boolean =>
    fact?.type === 'forced' ||
    (fact?.type === 'phase.ended' && (fact.outcome === 'failed' || fact.outcome === 'cut')) ||
    (fact?.type === 'hook.ended' && fact.outcome === 'failed') ||
    (fact?.type === 'signal' && fact.reason !== undefined && COST_OF_REASON[fact.reason.kind] !== undefined)
  return effects.some((effect) => isReason(factOf(effect))) || `the exit code becomes ${exitCodeOf(after)} for no reason`
}
