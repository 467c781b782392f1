import { checkArguments, type InspectedRoot, type ServedLife } from './engine.ts'
import type { ApiGroup } from './groups/api-group.ts'
import type { Resource } from './groups/resource/define-resource.ts'
import type { WriteBarrier } from './groups/write-barrier.ts'
import type { Loopback } from './loopback/loopback.ts'
import { notFoundUntilComplete } from './mux/not-found.ts'
import type { ApiHandler } from './mux/path-mux.ts'
import { ApiServerRegistrations } from './registrations.ts'

/**
 * The next server of a chain, as the one in front of it sees it: a value that becomes a part of its
 * life, not a server that runs.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go DelegationTarget
 */
export interface Delegate {
  /** Answers behind the filters; undefined: nothing is served here. */
  readonly handler: ApiHandler | undefined
  /** Answers upgrades behind the filters; undefined: none is taken here. */
  readonly upgrades: ApiHandler | undefined
  readonly listedPaths: readonly string[]
  /** What a path is registered as, here or behind; undefined: it is not. */
  readonly routeOf?: (path: string) => string | undefined
  /** The groups that are served here or behind. */
  readonly apiGroups?: readonly ApiGroup[]
  readonly registered: ApiServerRegistrations
  /** Roots of the actors of its stores, and of those behind it. */
  readonly actors?: () => readonly InspectedRoot[]
  /** Has deletions of these kinds, here or behind, have the garbage collector's finalizers. */
  readonly enableGarbageCollection?: (...resources: readonly Resource[]) => void
  /** Has writes of objects, here or behind, wait for a barrier. */
  readonly holdWrites?: (barrier: WriteBarrier) => void
  /** The one behind it, to walk the chain; undefined at its end. */
  readonly nextDelegate: Delegate | undefined
  /** The server that is run is being prepared: its life and its own client are those of all. */
  prepareFor(life: ServedLife, loopback: Loopback): void
}

/**
 * The end of a chain: unknown paths are answered by `handler`.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go NewEmptyDelegateWithCustomHandler
 */
export function emptyDelegate(handler?: ApiHandler): Delegate {
  checkArguments('emptyDelegate(handler?)', [handler, 'a function'])
  return {
    handler,
    upgrades: undefined,
    listedPaths: [],
    registered: new ApiServerRegistrations(),
    nextDelegate: undefined,
    prepareFor: () => {},
  }
}

/** The usual end: 503 while paths may still be missing, and 404 from then on. */
export const notFoundDelegate = (): Delegate => emptyDelegate(notFoundUntilComplete)
