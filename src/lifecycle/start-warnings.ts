import { andMore } from '../base/and-more.ts'
import { formatDuration } from '../base/duration.ts'
import { show } from '../base/errors.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { LifeHealth } from './life-health.ts'
import type { Registrations } from './registrations.ts'
import { hasRoute } from './routes-of-applications.ts'

/** Names of hooks in one sentence. */
const NAMES_MAX = 5

/** What was registered and has no effect, in sentences. */
export const withoutEffect = (options: ResolvedOptions, registrations: Registrations, health: LifeHealth): readonly string[] => [
  ...health.unreadChecks(),
  ...uselessTimeouts(options, registrations),
]

/** Timeouts that are longer than the deadline. That of a hook that states none always fits. */
function uselessTimeouts({ hookTimeoutMs, plans }: ResolvedOptions, registrations: Registrations): readonly string[] {
  const { deadlineMs } = plans.default
  const { preShutdownHooks, destroyFunctions, phases } = registrations
  const all = [...preShutdownHooks.entries(), ...destroyFunctions.entries(), ...phases.entries()]
  const names = all.flatMap(([name, { timeoutMs }]) => (timeoutMs > deadlineMs && timeoutMs !== hookTimeoutMs ? [show(name)] : []))
  if (names.length === 0) return []
  return [
    `the timeout of ${andMore(names, NAMES_MAX)} has no effect: the whole stop has a deadline of ${formatDuration(deadlineMs)}, which comes before`,
  ]
}

/**
 * Routes of applications that health answers before them, in a sentence; undefined when there are
 * none.
 */
export function hiddenRoutes(healthPaths: readonly string[], applications: readonly unknown[]): string | undefined {
  const hidden = healthPaths.filter((path) => applications.some((application) => hasRoute(application, path)))
  if (hidden.length === 0) return undefined
  return (
    `routes of the application are never reached, because the option health answers their paths before it: ${hidden.join(', ')}; ` +
    'make checks of what they look at, give the endpoints other paths (health.paths), or set health to false and have them fail while draining'
  )
}
