import { type ActorView, broken, canonical, type Edge, isDone, type Monitor } from '#model'
import type { LifecycleContext, LifecycleInEvent } from '../../machines/vocabulary.ts'
import { factOf, signalOf } from './facts.ts'
import { isPostStartHook } from './hook-properties.ts'
import { isForcing, isStopping, regionOf, stopOf } from './life-views.ts'

export function secondMeansNow(before: ActorView, after: ActorView, { choice }: Edge): boolean {
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
export function secondCrashMeansNow(): Monitor {
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

export function saysItsEnd(before: ActorView, after: ActorView, { effects }: Edge): true | string {
  const said = effects.map(factOf).find((fact) => fact?.type === 'ended')
  if (!isDone(after) || isDone(before)) return said === undefined || 'the life says that it is over, and goes on'
  if (said?.type !== 'ended') return 'the life is over, and has not said so'
  const { exitCode } = after.output as { readonly exitCode: number }
  return said.exitCode === exitCode || `the life is over with exit code ${exitCode}, and says ${said.exitCode}`
}

const ASKERS: readonly string[] = ['stop.requested', 'process.signalled', 'process.crashed', 'listener.died', 'start.refused']

export function askersAreHeard(before: ActorView, after: ActorView, { choice, effects }: Edge): boolean {
  if (isDone(after) || isForcing(before)) return true
  // A start is refused only once, and before it.
  const isAsker = choice.kind === 'event' && ASKERS.includes(choice.event.type)
  const asks = isAsker && (choice.event.type !== 'start.refused' || regionOf(before, 'start') === 'idle')
  const isSaid = effects.some((effect) => ['StopRequested', 'PostStartHookFailed', 'StartFailed'].includes(signalOf(effect) ?? ''))
  const hasFailed = choice.kind === 'outcome' && isPostStartHook(choice) && choice.event.type.startsWith('xstate.error.')
  return !(asks || isSaid || hasFailed) || isStopping(after)
}

export function registrationsAreTaken(before: ActorView, after: ActorView, { choice }: Edge): boolean {
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

export function hasItsProfile(root: ActorView): true | string {
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
