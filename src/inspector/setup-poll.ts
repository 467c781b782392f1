import type { LifePlan } from '../machines/lifecycle.ts'
import type { Poll } from './polled.ts'
import type { SetupEntry } from './protocol.ts'

/** What is registered by now, what a stop would have, and which checks have passed. */
export const setupPoll = (plan: () => LifePlan, readiness: () => SetupEntry['readiness']): Poll<SetupEntry> => ({
  read: () => setupOf(plan(), readiness()),
  signatureOf: (setup) => JSON.stringify(setup),
})

function setupOf({ input, postStartHooks = [], userPhases = [] }: LifePlan, readiness: SetupEntry['readiness']): SetupEntry {
  const { profiles, preShutdownHooks, destroyFunctions } = input
  const bounded = [...preShutdownHooks, ...userPhases.map((phase) => ({ kind: 'phase' as const, ...phase })), ...destroyFunctions]
  return {
    kind: 'setup',
    stop: profiles.default,
    crash: profiles.crash,
    hooks: [
      ...postStartHooks.map(({ name }) => ({ kind: 'post-start' as const, name })),
      ...bounded.map(({ kind, name, timeoutMs }) => ({ kind, name, limitMs: timeoutMs })),
    ],
    readiness,
  }
}
