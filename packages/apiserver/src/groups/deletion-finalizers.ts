import type { ObjectMeta } from './api-object.ts'
import type { GarbageCollectionPolicy } from './resource/strategy.ts'

/**
 * Has what an object owns live on without it.
 * @see kubernetes/apimachinery pkg/apis/meta/v1/types.go FinalizerOrphanDependents
 */
export const ORPHAN_DEPENDENTS = 'orphan'

/** Has what an object owns be deleted before it, as `FinalizerDeleteDependents`. */
export const DELETE_DEPENDENTS = 'foregroundDeletion'

/** Keeps a namespace until it is empty. @see kubernetes/api core/v1/types.go */
export const KUBERNETES_FINALIZER = 'kubernetes'

/**
 * Finalizers that need no domain.
 * @see kubernetes/kubernetes pkg/apis/core/helper/helpers.go standardFinalizers
 */
export const STANDARD_FINALIZERS: ReadonlySet<string> = new Set([ORPHAN_DEPENDENTS, DELETE_DEPENDENTS, KUBERNETES_FINALIZER])

/** What a request says about the objects that are owned by what it deletes; at most one of them. */
export interface Propagation {
  readonly propagationPolicy: 'Foreground' | 'Background' | 'Orphan' | undefined
  /** The older form: true is `Orphan`, false is `Background`. */
  readonly orphanDependents: boolean | undefined
}

/**
 * The finalizers that an object has while it is being deleted. Those of the garbage collector are
 * there when the request says so; when it says nothing, as they are on the object; and when there
 * are none, by what its kind does. The same list that the object has is returned when nothing
 * changes.
 * @see kubernetes/apiserver pkg/registry/generic/registry/store.go
 * deletionFinalizersForGarbageCollection
 */
export function deletionFinalizers(
  { finalizers = [] }: Pick<ObjectMeta, 'finalizers'>,
  asked: Propagation,
  byDefault: GarbageCollectionPolicy = 'DeleteDependents',
): readonly string[] {
  const wanted = byDefault === 'Unsupported' ? undefined : wantedFinalizer(finalizers, asked, byDefault)
  const others = finalizers.filter((each) => each !== ORPHAN_DEPENDENTS && each !== DELETE_DEPENDENTS)
  const changed = wanted === undefined ? others : [...others, wanted]
  // A client says how many there are.
  const known = new Set(finalizers)
  const isSame = changed.length === finalizers.length && changed.every((each) => known.has(each))
  return isSame ? finalizers : changed
}

function wantedFinalizer(
  finalizers: readonly string[],
  { propagationPolicy: policy, orphanDependents }: Propagation,
  byDefault: GarbageCollectionPolicy,
): string | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? ORPHAN_DEPENDENTS : undefined
  if (policy !== undefined) return policy === 'Orphan' ? ORPHAN_DEPENDENTS : policy === 'Foreground' ? DELETE_DEPENDENTS : undefined
  const own = finalizers.find((each) => each === ORPHAN_DEPENDENTS || each === DELETE_DEPENDENTS)
  return own ?? (byDefault === 'OrphanDependents' ? ORPHAN_DEPENDENTS : undefined)
}
