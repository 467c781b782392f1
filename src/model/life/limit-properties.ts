import type { ActorView } from '#model'
import type { StopProfile } from '../../base/stop-profile.ts'
import type { HookPlan } from '../../machines/phases/hook.ts'
import { stateKey } from '../../machines/region.ts'
import type { LifecycleContext } from '../../machines/vocabulary.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { actorBelow, stopOf } from './life-views.ts'

/** A delay or limit of a phase's own, by the name of its work. */
interface Limit {
  /** The limit in milliseconds; undefined when there is none. */
  readonly ms: (context: LifecycleContext, profile: StopProfile) => number | undefined
  /** Children of the phase that begin when it is over, or make it pointless. */
  readonly until: readonly string[]
  /** The one among them that only the end of the limit may begin. */
  readonly ends?: string
}

/** Stated apart from the machines. V-numbers are those of docs/divergences.md. */
const LIMITS: Readonly<Record<string, Limit>> = {
  // RunWithContext of upstream's genericapiserver.go: after exactly the delay.
  shutdownDelay: { ms: (_, { delayMs }) => delayMs, until: [] },
  // V6: `gradual` has told every client after half of the delay, and without a delay there is no
  // time to be gradual.
  'notify-clients': {
    ms: ({ notifyClients }, { delayMs }) => (notifyClients === 'gradual' ? delayMs / 2 : notifyClients === 'at-once' ? 0 : delayMs),
    until: ['complete-notifying', 'complete-notifying-now'],
  },
  // The last call never outlives its bound: then idle connections close.
  lastCall: { ms: (_, { lastCallMs }) => lastCallMs, until: ['close-idle-connections', 'close-idle-connections-now'] },
  // None of upstream's; ours is the user's.
  requestDrain: {
    ms: ({ requestDrainTimeoutMs }) => requestDrainTimeoutMs,
    until: ['break-off-requests', 'cut-requests'],
    ends: 'break-off-requests',
  },
  // Upstream's genericapiserver.go, RunWithContext: the grace is a hard limit; without one no watch
  // is waited for, and none terminated.
  watchDrain: {
    ms: (_, { watchGraceMs }) => (watchGraceMs > 0 ? watchGraceMs : undefined),
    until: ['terminate-watches', 'terminate-watches-now'],
    ends: 'terminate-watches',
  },
  // Upstream's secure_serving.go, RunServer: the HTTP server's Shutdown has a limit; V3: what is
  // left then is closed by force.
  closeConnections: { ms: ({ connectionTimeoutMs }) => connectionTimeoutMs, until: ['destroy-connections', 'destroy-connections-now'] },
}

/** The limits of phases and pieces of user code are pending as long as those are at work. */
export function hasItsLimits(wiring: Wiring): (root: ActorView) => true | string {
  const limits = Object.entries(wiring).flatMap(([phase, { work }]) => {
    const limit = LIMITS[work ?? '']
    return limit ? [{ phase, key: stateKey(phase), ...limit }] : []
  })
  return (root) => {
    const stop = stopOf(root)
    for (const { phase, key, ms, until, ends } of stop ? limits : []) {
      const actor = actorBelow(root, key)
      if (!actor) continue
      const limitMs = ms(root.context as LifecycleContext, (stop as NonNullable<typeof stop>).profile)
      if (limitMs === undefined && ends !== undefined && actorBelow(actor, ends)) return `${phase} runs ${ends}, though it has no limit`
      if (limitMs === undefined || until.some((id) => actorBelow(actor, id)) || isPending(actor, limitMs)) continue
      return `${phase} has no timer of ${limitMs} ms`
    }
    const unbound = root.children.map(unboundIn).find((plan) => plan !== undefined)
    return unbound === undefined || `${unbound.kind} ${unbound.name} has no timer of ${unbound.timeoutMs} ms`
  }
}

/** A piece of user code below an actor, or the actor itself, that runs without its bound. */
function unboundIn(actor: ActorView): HookPlan | undefined {
  const plan = actor.context as HookPlan
  if (actorBelow(actor, 'run-hook')) return isPending(actor, plan.timeoutMs) ? undefined : plan
  return actor.children.map(unboundIn).find((found) => found !== undefined)
}

const isPending = ({ timers }: ActorView, ms: number): boolean => timers.some(({ delayMs }) => delayMs === ms)
