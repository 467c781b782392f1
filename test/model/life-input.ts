import type { LifecycleInput } from '#src/machines/vocabulary.ts'
import { PROFILES } from '../support/fake-effects.ts'

/** What a life is started with: nothing of the user's, unless it is given. */
export const lifeInput = (given: Partial<LifecycleInput> = {}): LifecycleInput => ({
  profiles: PROFILES,
  notifyClients: 'gradual',
  connectionTimeoutMs: 60_000,
  preShutdownHooks: [],
  destroyFunctions: [],
  ...given,
})
