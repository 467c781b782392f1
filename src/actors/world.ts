import { QuiesceError } from '../base/errors.ts'
import type { HookKind, LifecycleFact } from '../base/events.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import type { OlderConnections } from '../http/transport.ts'
import type { MachineFact } from '../machines/phases/phase.ts'
import { Audit, type AuditBackend } from './audit.ts'
import type { Host } from './host.ts'
import type { Listener } from './listener.ts'
import type { Drains } from './reported-drains.ts'
import type { StopCauses } from './stop-causes.ts'
import type { ActorSystem, UserCode } from './user-code.ts'

/** What the effects of one life act on. */
export interface World {
  readonly host: Host
  readonly traffic: Traffic
  readonly record: (fact: LifecycleFact | MachineFact) => void
  /** Runs a function where `start()` was called. */
  readonly inContext: <R>(fn: () => R) => R
  /**
   * Every listener, opened on the first call: loading the adapter of a fetch handler takes a
   * moment.
   */
  readonly listeners: () => Promise<readonly Listener[]>
  readonly opened: () => readonly Listener[]
  /** Why the life ends; what is thrown is kept there, because the machine keeps its record only. */
  readonly causes: StopCauses
  readonly drains: Drains
  /** What an attached server that listened already may have. */
  readonly older: OlderConnections | undefined
  readonly audit: AuditBackend | undefined
  readonly hook: (kind: HookKind, name: string) => UserCode | undefined
  /** What completes a mux-complete signal. */
  readonly muxSignal: (name: string) => AbortSignal | PromiseLike<unknown> | undefined
  /** Whether the listeners close only when this user code has ended. */
  readonly comesBeforeClose: (kind: HookKind, name: string) => boolean
  readonly listenerDied: (address: string, error: Error | undefined) => void
  /** The life ends, and not because the owner of an attached server has closed one. */
  readonly endsByItself: () => boolean
  readonly flushLogs: () => Promise<void>
  /** Aborted, it leaves the file alone: {@link writeReportNow} has the last word. */
  readonly writeReport: (signal: AbortSignal) => Promise<void>
  /** Writes the report in one synchronous step; `cut` when the report itself ran out of time. */
  readonly writeReportNow: (why: 'cut' | 'forced') => void
  /**
   * Resolves when no work is left that the life does not know of, or when no time is; never
   * rejects.
   */
  readonly unseenWorkOver: (signal: AbortSignal) => Promise<void>
}

/**
 * The abort signals of the post-start hooks, of those that have returned too: work that they have
 * started goes by them.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go stopHTTPServerCtx
 */
class PostStartSignals {
  readonly reason = new Error('time to stop HTTP server')
  readonly #controllers: AbortController[] = []

  open(): AbortController {
    const controller = new AbortController()
    this.#controllers.push(controller)
    return controller
  }

  /** A second call does nothing. */
  abort(): void {
    for (const controller of this.#controllers) controller.abort(this.reason)
  }
}

/** The same with what effects keep for each other. */
export interface LifeWorld extends World {
  readonly auditing: Audit
  readonly postStartSignals: PostStartSignals
}

/**
 * The worlds by their systems of actors. Machines and effects belong to no life: lives of equal
 * plans share them (machine-for.ts).
 */
const worlds = new WeakMap<ActorSystem, LifeWorld>()

/** Gives the effects of a life what they act on; to be called before its first actor runs. */
export function giveWorld(system: ActorSystem, world: World): void {
  worlds.set(system, { ...world, auditing: new Audit(world.audit), postStartSignals: new PostStartSignals() })
}

/** @throws QuiesceError ERR_INTERNAL for a system without one */
export function worldOf(system: ActorSystem): LifeWorld {
  const world = worlds.get(system)
  if (!world) throw new QuiesceError('ERR_INTERNAL', 'an effect of a life without a world')
  return world
}
