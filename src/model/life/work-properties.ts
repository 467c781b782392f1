import { type ActorView, broken, type Choice, type Edge, type Effect, isDone, type Monitor } from '#model'
import type { LifecycleFact, PhaseOutcome } from '../../base/events.ts'
import type { PhaseOutput } from '../../machines/phases/phase.ts'
import { stateKey } from '../../machines/region.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { factOf } from './facts.ts'
import { POST_START_HOOK } from './hook-properties.ts'
import { actorBelow, isForcing, isWaitingForSomething, placeOf, stopOf } from './life-views.ts'
import { has, withName } from './names.ts'
import { onceForEach } from './once.ts'

/**
 * Whose answers end a phase, by the name of its work: paths below the phase's own actor.
 * Hooks and destroy functions have properties of their own.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext, secure_serving.go
 * RunServer
 */
interface Work {
  /** Has to be done first; only its failure ends the phase. */
  readonly first?: string
  /** Its answer means that the work is done. */
  readonly done?: string
  /**
   * Ends the phase when a limit of its own is used up: the request drain's timeout, the watch
   * grace, the connection timeout.
   */
  readonly limit?: string
  /** What a machine does when it is cut. */
  readonly cut?: string
}
const EFFECT: Work = { done: '' }
const WORKS: Readonly<Record<string, Work>> = {
  auditRun: EFFECT,
  bind: EFFECT,
  announce: EFFECT,
  'notify-clients': { first: '/begin-notifying', done: '/complete-notifying', cut: '/complete-notifying-now' },
  shutdownDelay: EFFECT,
  requestDrain: { done: '/drain-requests', limit: '/break-off-requests', cut: '/cut-requests' },
  watchDrain: { done: '/drain-watches', limit: '/terminate-watches', cut: '/terminate-watches-now' },
  closeListener: { done: '/accept-then-close', cut: '/close-listener-now' },
  lastCall: { done: '/close-idle-connections', cut: '/close-idle-connections-now' },
  closeConnections: { done: '/linger-connections', limit: '/destroy-connections', cut: '/destroy-connections-now' },
  handlers: { done: '/wait-for-handlers', cut: '/name-handlers' },
  auditShutdown: EFFECT,
  destroy: { cut: '/start-rest' },
  closeAdmin: EFFECT,
  report: { done: '/write-report', cut: '/write-report-now' },
  userPhase: { done: '/run-hook' },
}

/** How a phase has to end in a step, because of what happens in it. */
interface End {
  readonly phase: string
  readonly outcome: PhaseOutcome
}

/**
 * A phase with work ends in the step in which something says so, as it says, and is never said to
 * have ended so in another one: an answer of its work, its own delay, a limit of its own, or what
 * it does when it is cut.
 */
export function endsByItsWork(
  wiring: Wiring,
  outcome: 'ok' | 'failed' | 'cut',
): (before: ActorView, after: ActorView, step: Edge) => true | string {
  const endIn = endsOf(wiring)
  const phaseOf = new Map(Object.entries(wiring).map(([phase, { fires }]) => [fires, phase]))
  const saidBy = (fact: LifecycleFact | undefined): End | undefined => {
    if (fact?.type === 'phase.ended') return fact
    const phase = fact?.type === 'signal' ? phaseOf.get(fact.name) : undefined
    return phase === undefined ? undefined : { phase, outcome: (fact as { outcome: PhaseOutcome }).outcome }
  }
  const endsSaid = onceForEach((effects: readonly Effect[]) =>
    effects.flatMap((effect) => saidBy(factOf(effect)) ?? []).filter((end) => end.outcome === outcome),
  )
  return (before, _after, { choice, effects }) => {
    const due = endIn(before, choice)
    const ends = endsSaid(effects)
    if (due?.outcome === outcome && !ends.some(({ phase }) => phase === due.phase))
      return `${due.phase} has not ended as ${outcome} by "${choice.label}"`
    for (const { phase } of ends) {
      const { done, cut } = WORKS[wiring[phase]?.work ?? ''] ?? {}
      const isDue = due?.phase === phase && due.outcome === outcome
      // Told a second time, a phase that is on its way out ends without the rest of that.
      const isKnown = outcome === 'cut' ? cut !== undefined && actorBelow(before, stateKey(phase))?.value !== 'cutting' : done !== undefined
      if (isKnown && !isDue) return `${phase} ends as ${outcome} by "${choice.label}"`
    }
    return true
  }
}

function endsOf(wiring: Wiring): (before: ActorView, choice: Choice) => End | undefined {
  const rows = Object.entries(wiring).map(([phase, { work = '' }]) => ({ phase, work, key: stateKey(phase) }))
  const byPath = new Map<string, { readonly phase: string; readonly role: keyof Work }>()
  for (const { phase, work, key } of rows)
    for (const [role, below] of Object.entries(WORKS[work] ?? {})) byPath.set(`${key}${below}`, { phase, role: role as keyof Work })
  const byTimer = new Map(
    rows.flatMap(({ phase, work, key }) => (work === 'shutdownDelay' || work === 'userPhase' ? [[key, phase] as const] : [])),
  )
  const bounds = rows.map(({ phase, key }) => ({ phase, start: `xstate.after.startBound.lifecycle.running.${key}.` }))
  const startBound = (type: string): string | undefined =>
    type.startsWith('xstate.after.startBound.') ? bounds.find(({ start }) => type.startsWith(start))?.phase : undefined

  return (before, choice) => {
    const { kind, path, event } = choice
    if (kind === 'timer') {
      const phase = path.text === '' ? startBound(event.type) : byTimer.get(path.text)
      return phase === undefined ? undefined : { phase, outcome: wiring[phase]?.work === 'shutdownDelay' ? 'ok' : 'failed' }
    }
    const answer = kind === 'outcome' ? byPath.get(path.text) : undefined
    if (answer === undefined) return undefined
    const { phase, role } = answer
    if (role === 'cut') return { phase, outcome: 'cut' }
    if (event.type.startsWith('xstate.error.')) return { phase, outcome: 'failed' }
    if (role === 'first' || leavesWatches(before, wiring[phase]?.work, choice)) return undefined
    return { phase, outcome: role === 'limit' ? 'cut' : outcomeOf(choice) }
  }
}

/** User code says by its output that it failed. */
const outcomeOf = ({ event }: Choice): PhaseOutcome => (event.object as { output?: Partial<PhaseOutput> }).output?.outcome ?? 'ok'

/**
 * The grace was over before all watches had gone: they are terminated. Without a grace those that
 * are left are not waited for.
 */
function leavesWatches(before: ActorView, work: string | undefined, { event }: Choice): boolean {
  const left = work === 'watchDrain' ? (event.object as { output?: { readonly after?: number } }).output?.after : 0
  return left !== undefined && left > 0 && (stopOf(before)?.profile.watchGraceMs ?? 0) > 0
}

/**
 * What runs as soon as a phase has started, by the name of its work: a path below the phase's own
 * actor.
 */
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(WORKS).flatMap(([work, ends]) => (ends === EFFECT ? [[work, []]] : []))),
  'notify-clients': ['begin-notifying'],
  requestDrain: ['drain-requests'],
  watchDrain: ['drain-watches'],
  closeListener: ['accept-then-close'],
  lastCall: ['hold-connections'],
  closeConnections: ['linger-connections'],
  handlers: ['wait-for-handlers'],
  report: ['flush-logs'],
  muxComplete: [],
  userPhase: ['run-hook'],
}
/** Likewise of hooks, by their kind; a path below the root. */
const HOOK_BEGINNINGS: Readonly<Record<string, (name: string) => readonly string[]>> = {
  'post-start': (name) => [`${POST_START_HOOK}${stateKey(name)}`],
  'pre-shutdown': (name) => ['pre-shutdown-hooks', `pre-shutdown-hook:${name}`, 'run-hook'],
  destroy: () => ['destroy', 'destroy-function', 'run-hook'],
}

/** The work that is said to start runs when that step is over. */
export function beginsItsWork(wiring: Wiring): (before: ActorView, after: ActorView, step: Edge) => true | string {
  const pathOf = (fact: LifecycleFact | undefined): readonly string[] | undefined => {
    if (fact?.type === 'hook.started') return HOOK_BEGINNINGS[fact.kind]?.(fact.name)
    if (fact?.type !== 'phase.started') return undefined
    return BEGINNINGS[wiring[fact.phase]?.work ?? '']?.toSpliced(0, 0, stateKey(fact.phase))
  }
  const pathsSaid = onceForEach((effects: readonly Effect[]) =>
    effects.map((effect) => pathOf(factOf(effect))).filter((path) => path !== undefined),
  )
  return (_before, after, { effects }) => {
    if (isForcing(after) || isDone(after)) return true
    const idle = pathsSaid(effects).find((path) => !actorBelow(after, ...path))
    return idle === undefined || `${idle.join('/')} does not run, though it was said to start`
  }
}

/** A phase at work ends in time by its own work alone: without any, it would wait for its cut. */
export function isAtWork(wiring: Wiring): (root: ActorView) => true | string {
  const phases = Object.entries(wiring).flatMap(([phase, { work, workKind }]) =>
    work === undefined || workKind === 'regions' || workKind === 'lasting' ? [] : [{ phase, key: stateKey(phase) }],
  )
  return (root) => {
    for (const { phase, key } of phases) {
      if (placeOf(root, phase) !== 'working') continue
      const work = actorBelow(root, key)
      if (!work || !isWaitingForSomething(work)) return `${phase} is at work, but nothing of it runs`
    }
    return true
  }
}

/** No phase with work succeeds without having begun. */
export function begunBefore(wiring: Wiring, idle: readonly string[]): Monitor {
  const phaseOf = new Map(Object.entries(wiring).map(([phase, { fires }]) => [fires, phase]))
  return {
    initial: '',
    next: (begun, effect) => {
      const fact = factOf(effect)
      if (fact?.type === 'phase.started') return withName(begun, fact.phase)
      const phase = fact?.type === 'signal' && fact.outcome === 'ok' ? phaseOf.get(fact.name) : undefined
      const isIdle = phase === undefined || wiring[phase]?.work === undefined || idle.includes(phase)
      return isIdle || has(begun, phase) ? begun : broken(`${phase} succeeds without having begun`)
    },
  }
}
