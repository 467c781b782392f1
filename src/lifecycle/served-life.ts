import type { InspectedRoot } from '../actors/inspection.ts'
import type { UserCode } from '../actors/user-code.ts'
import type { LifecycleFact } from '../base/events.ts'
import type { MetricsEndpoint } from '../endpoints/metrics-endpoint.ts'
import type { ExchangeView } from '../http/chain.ts'
import type { Health, HookCheckOptions } from '../http/health/health.ts'
import type { EventLog } from '../log/event-log.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { Life } from './life.ts'

/**
 * A life as a server that is built on it needs it, beside what users have. Types of an entry name
 * this one and not the class, whose machine would lead a strict compiler into the types of xstate.
 */
export interface ServedLife extends Life {
  readonly options: Pick<ResolvedOptions, 'disabledPostStartHooks' | 'logger' | 'requestTimeoutMs'>
  readonly record: (fact: LifecycleFact) => void
  readonly log: Pick<EventLog, 'debug' | 'error' | 'writes'>
  /** What is served at the moment. */
  requestsUnderWay(): readonly ExchangeView[]
  /** The health endpoints, for a handler that answers them itself. */
  readonly health: Health
  /** Answers `/metrics` and `/metrics/slis`. */
  readonly metricsEndpoint: MetricsEndpoint
  addPostStartHook(name: string, run: UserCode, options?: HookCheckOptions): Disposable
  /** Health endpoints of this life for a server behind the one that is run, without checks yet. */
  furtherHealth(): Health
  /** Has those who watch the life see the actors of a further system from now on. */
  watchActors(root: InspectedRoot): void
  /** Whether this post-start hook has returned. */
  hasFinishedHook(name: string): boolean
}
