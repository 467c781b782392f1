import type { StateValueMap } from 'xstate'
import { type ActorView, actorAt, broken, type Choice, type Edge, type Effect, isDone, type Monitor } from '#model'
import type { PhaseOutcome } from '../../base/events.ts'
import { errorRecord, type HookKind, type LifecycleFact } from '../../base/events.ts'
import type { HookPlan } from '../../machines/phases/hook.ts'
import type { PlannedHook } from '../../machines/phases/pre-shutdown-hooks.ts'
import { factOf, signalOf } from './facts.ts'
import { isForcing, placeOf, regionOf } from './life-views.ts'
import { has, withName, without } from './names.ts'
import { onceForEach } from './once.ts'

/** Post-start hooks, pre-shutdown hooks and destroy functions, each by the ends of its function. */

export const POST_START_HOOK = 'post-start-hook:'
export const ABORT_POST_START_HOOKS = 'abort-post-start-hooks'
export const isPostStartHook = ({ path }: Pick<Choice, 'path'>): boolean => path.id.startsWith(POST_START_HOOK)
/** What a hook with a bound runs. */
const FUNCTION = 'run-hook'

type HookEnded = Extract<LifecycleFact, { type: 'hook.ended' }>
/** `error` is its code or what it says. */
type End = Pick<HookEnded, 'kind' | 'name' | 'outcome'> & { readonly error?: string }

/**
 * A hook ends in the step in which its function answers or its time is over, with that outcome and
 * error; it may be cut, but never ends otherwise.
 */
export function endsByItsFunction(before: ActorView, _after: ActorView, step: Edge): true | string {
  const due = endIn(before, step)
  const ends = hooksEnded(step.effects)
  const wrong = ends.find((fact) => !due || !isSaidBy(fact, due))
  if (wrong) return `${wrong.kind} ${wrong.name} ends as ${wrong.outcome} by "${step.choice.label}"`
  return !due || ends.length > 0 || `${due.kind} ${due.name} has not ended by "${step.choice.label}"`
}

const hooksEnded = onceForEach((effects: readonly Effect[]) =>
  effects.flatMap((effect) => {
    const fact = factOf(effect)
    return fact?.type === 'hook.ended' && (fact.outcome === 'ok' || fact.outcome === 'failed') ? [fact] : []
  }),
)

const isSaidBy = ({ kind, name, outcome, error }: HookEnded, due: End): boolean =>
  kind === due.kind &&
  name === due.name &&
  outcome === due.outcome &&
  (due.error === undefined ? error === undefined : due.error === error?.code || due.error === error?.message)

/**
 * What has to be said of a hook in a step. What a user's phase runs is a hook as well, but there
 * the phase says it.
 */
function endIn(before: ActorView, { choice: { kind, path, event } }: Edge): End | undefined {
  const isTimer = kind === 'timer' && event.type.startsWith('xstate.after.hookTimeout.')
  const isAnswer = kind === 'outcome' && (path.id === FUNCTION || isPostStartHook({ path }))
  if (!isTimer && !isAnswer) return undefined
  const hook = actorAt(before, isAnswer && path.id === FUNCTION && path.parent ? path.parent : path)
  const plan = (hook?.context ?? hook?.input) as HookPlan
  if (plan.kind === 'phase') return undefined
  const end = { kind: plan.kind, name: plan.name }
  if (isTimer) return { ...end, outcome: 'failed', error: 'ERR_TIMEOUT' }
  if (!event.type.startsWith('xstate.error.')) return { ...end, outcome: 'ok' }
  return { ...end, outcome: 'failed', error: errorRecord((event.object as { error?: unknown }).error).message }
}

/** No post-start hook, and nothing that tells them to end, runs from a signal on. */
export const hooksEndWith =
  (signal: string | undefined) =>
  (_before: ActorView, after: ActorView, { effects }: Edge): true | string => {
    if (signal === undefined || !effects.some((effect) => signalOf(effect) === signal)) return true
    const left = after.children.find(({ id }) => id.startsWith(POST_START_HOOK) || id === ABORT_POST_START_HOOKS)
    return left === undefined || `${left.id} goes on after ${signal}`
  }

/**
 * Launched hooks are told to end with this signal, and no other, whether or not they have returned.
 */
export const abortsSignals =
  (until: string | undefined) =>
  (before: ActorView, after: ActorView, { effects }: Edge): true | string => {
    if (isForcing(after) || isDone(after)) return true
    const isAborting = (root: ActorView): boolean => root.children.some(({ id }) => id === ABORT_POST_START_HOOKS)
    const begins = isAborting(after) && !isAborting(before)
    const isDue = placeOf(after, 'post-start-hooks') === 'launched' && effects.some((effect) => signalOf(effect) === until)
    const unaware = isDue ? hooksThatRun(after) : []
    if (unaware.length > 0) return `${unaware.join(' and ')} is not shown as told to end`
    return begins === isDue || `the signals of post-start hooks are ${begins ? '' : 'not '}aborted${isDue ? ` with ${until}` : ''}`
  }

/** The hooks that have not been told to end, by the machine's state, which the inspector shows. */
function hooksThatRun(root: ActorView): string[] {
  const { launched } = regionOf(root, 'post-start-hooks') as {
    readonly launched?: { readonly hooks?: { readonly working?: StateValueMap } }
  }
  return Object.entries(launched?.hooks?.working ?? {}).flatMap(([name, at]) =>
    at && typeof at === 'object' && at['live'] === 'running' ? [name] : [],
  )
}

/**
 * A phase of hooks ends as they did: of several outcomes the first of `counts` does, and it is ok
 * only when all of them are.
 */
export const endsAsItsHooks = (phase: string, kind: HookKind, counts: readonly PhaseOutcome[]): Monitor => ({
  initial: '',
  next: (seen, effect) => {
    const fact = factOf(effect)
    // One that is skipped is one that a cut leaves out.
    if (fact?.type === 'hook.ended' && fact.kind === kind) return withName(seen, fact.outcome === 'skipped' ? 'cut' : fact.outcome)
    if (fact?.type !== 'phase.ended' || fact.phase !== phase || fact.outcome === 'skipped') return seen
    const due = counts.find((outcome) => has(seen, outcome)) ?? 'ok'
    return fact.outcome === due ? seen : broken(`${phase} ends as ${fact.outcome}, but as its hooks ended it is ${due}`)
  },
})

/**
 * Each pre-shutdown hook starts after those that it follows have ended, and as soon as they have;
 * several at once in the order of registration (V2). PreShutdownHooksStopped fires after all of
 * them, unless they are cut or skipped, and as soon as they have ended.
 */
export function hooksInOrder(hooks: readonly PlannedHook[]): Monitor {
  const byName = new Map(hooks.map((hook) => [hook.name, hook]))
  const hasEnded = (seen: string, name: string): boolean => has(seen, `-${name}`)
  /** The next of several that may start: the one that was registered first. */
  const nextOf = (seen: string): string | undefined =>
    hooks.find(({ name, after }) => !has(seen, `+${name}`) && after.every((other) => hasEnded(seen, other)))?.name
  return {
    initial: '',
    next: (seen, effect) => {
      const fact = factOf(effect)
      if (fact?.type === 'phase.started' && fact.phase === 'pre-shutdown-hooks') return withName(seen, WORKING)
      if (fact?.type === 'forced') return without(seen, WORKING)
      if (fact?.type === 'hook.started' && fact.kind === 'pre-shutdown') {
        const missing = byName.get(fact.name)?.after.find((other) => !hasEnded(seen, other))
        if (missing !== undefined) return broken(`${fact.name} starts before ${missing} has ended`)
        const first = nextOf(seen)
        return first === fact.name ? withName(seen, `+${first}`) : broken(`${fact.name} starts when it is the turn of ${first ?? 'none'}`)
      }
      if (fact?.type === 'hook.ended' && fact.kind === 'pre-shutdown') return withName(seen, `-${fact.name}`)
      if (fact?.type === 'signal' && fact.name === 'PreShutdownHooksStopped') {
        const left = fact.outcome === 'skipped' ? undefined : hooks.find(({ name }) => !hasEnded(seen, name))
        return left ? broken(`PreShutdownHooksStopped before ${left.name} has ended`) : without(seen, WORKING)
      }
      return seen
    },
    atRest: (seen) => {
      if (!has(seen, WORKING)) return undefined
      const idle = nextOf(seen)
      if (idle !== undefined) return `${idle} has not started, though all that it follows has ended`
      return hooks.every(({ name }) => hasEnded(seen, name))
        ? 'PreShutdownHooksStopped has not fired, though all hooks have ended'
        : undefined
    },
  }
}

/** The phase has started and not ended; no name of a hook, as those have a sign. */
const WORKING = 'working'
