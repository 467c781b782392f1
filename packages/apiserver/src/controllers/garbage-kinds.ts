import type { ResourceClient } from '../client/resource-client.ts'
import { type ApiObject, keyOf, type ObjectKey, type ObjectMeta, type OwnerReference } from '../groups/api-object.ts'
import { DELETE_DEPENDENTS } from '../groups/deletion-finalizers.ts'
import type { Resource } from '../groups/resource/define-resource.ts'
import type { Informer } from '../informer/informer.ts'

/** One kind: what there is of it, and what changes it. */
export interface CollectedKind {
  readonly resource: Resource
  readonly informer: Informer
  /** A client of the kind in a namespace; empty: in all. */
  readonly clientIn: (namespace: string) => ResourceClient
}

/** An object, and of which kind it is. */
export interface CollectedObject {
  readonly kind: CollectedKind
  readonly object: ApiObject
}

/** The owners of an object that are not gone. */
export interface Owners {
  /** Owners that are there, or that cannot be looked up. */
  readonly solid: readonly OwnerReference[]
  /** Owners that are deleted when everything is gone that they own. */
  readonly waiting: readonly OwnerReference[]
}

/** The index by which the objects of an owner are found. */
const BY_OWNER = 'owner-uid'

export const ownersOf = ({ metadata }: ApiObject): readonly OwnerReference[] => metadata.ownerReferences ?? []

/** What an informer of a collected kind needs. */
export const GARBAGE_INDEXERS = { [BY_OWNER]: (object: ApiObject): readonly string[] => ownersOf(object).map(({ uid }) => uid) }

/** Whether it is deleted when what it owns is. */
export const waitsForDependents = ({ deletionTimestamp, finalizers }: ObjectMeta): boolean =>
  deletionTimestamp !== undefined && finalizers?.includes(DELETE_DEPENDENTS) === true

/** Whether an object has to be gone before an owner that waits for it. */
export const blocks = (object: ApiObject, owner: string): boolean =>
  ownersOf(object).some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true)

/** All kinds whose objects have owners or are owners, and what is known of who owns what. */
export class GarbageKinds {
  readonly all: readonly CollectedKind[]

  constructor(all: readonly CollectedKind[]) {
    this.all = all
  }

  /** Resolves when the copies of all kinds are complete. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.all.map(({ informer }) => informer.synced(signal)))
  }

  /** What stands for an object in the queue. */
  keyFor({ kind, object }: CollectedObject): string {
    return JSON.stringify([this.all.indexOf(kind), keyOf(object)])
  }

  /** The object of a key, as it is in the copy; undefined: it is not there. */
  find(key: string): CollectedObject | undefined {
    const [at, of] = JSON.parse(key) as [number, ObjectKey]
    const kind = this.all[at] as CollectedKind
    const object = kind.informer.get(of)
    return object && { kind, object }
  }

  /** What an owner owns, by the copies. */
  dependentsOf({ metadata }: ApiObject): readonly CollectedObject[] {
    const { uid } = metadata
    if (uid === undefined) return []
    return this.all.flatMap((kind) => kind.informer.byIndex(BY_OWNER, uid).map((object) => ({ kind, object })))
  }

  /**
   * The same, as the server says: where something becomes of an owner that cannot be undone, an
   * object that has not come to the copy yet counts, too.
   */
  async dependentsNow({ kind, object }: CollectedObject, signal: AbortSignal): Promise<readonly CollectedObject[]> {
    const { uid, namespace = '' } = object.metadata
    // An object of the whole cluster has no owner in a namespace.
    const owned = this.all.filter(({ resource }) => resource.isNamespaced || !kind.resource.isNamespaced)
    const found = await Promise.all(
      owned.map(async (each) => {
        const { items } = await each.clientIn(namespace).list({ signal })
        return items.filter((item) => ownersOf(item).some((owner) => owner.uid === uid)).map((item) => ({ kind: each, object: item }))
      }),
    )
    return found.flat()
  }

  /** The owners of an object that wait for what they own, by the copies. */
  waitingOwnersOf(object: ApiObject): readonly CollectedObject[] {
    return ownersOf(object).flatMap((owner) => {
      const place = this.#placeOf(owner, object.metadata.namespace)
      const found = place?.kind.informer.get(place.key)
      return place && found?.metadata.uid === owner.uid && waitsForDependents(found.metadata) ? [{ kind: place.kind, object: found }] : []
    })
  }

  /** The copy is believed when it has an owner; only the server is believed that it is gone. */
  async classify(object: ApiObject, signal: AbortSignal): Promise<Owners> {
    const solid: OwnerReference[] = []
    const waiting: OwnerReference[] = []
    for (const owner of ownersOf(object)) {
      const place = this.#placeOf(owner, object.metadata.namespace)
      const found = place && (await ownerAt(place, owner, signal))
      if (place === undefined) solid.push(owner)
      else if (found !== undefined) (waitsForDependents(found.metadata) ? waiting : solid).push(owner)
    }
    return { solid, waiting }
  }

  /**
   * Where an owner is; undefined for one that cannot be looked up: one of an unknown kind, and, for
   * an object without a namespace, one that would be in some namespace.
   */
  #placeOf(owner: OwnerReference, namespace = ''): Place | undefined {
    const kind = this.all.find(({ resource }) => isKind(resource, owner))
    if (kind === undefined || (kind.resource.isNamespaced && namespace === '')) return undefined
    return { kind, key: { namespace: kind.resource.isNamespaced ? namespace : '', name: owner.name } }
  }
}

interface Place {
  readonly kind: CollectedKind
  readonly key: ObjectKey
}

/** An owner of the same name with another `uid` is another one. */
async function ownerAt({ kind, key }: Place, { uid }: OwnerReference, signal: AbortSignal): Promise<ApiObject | undefined> {
  const known = kind.informer.get(key)
  if (known?.metadata.uid === uid) return known
  const found = await kind.clientIn(key.namespace).get(key, { signal })
  return found?.metadata.uid === uid ? found : undefined
}

/** Its group and kind; the version may be another one. */
const isKind = ({ group, kind }: Resource, owner: OwnerReference): boolean =>
  owner.kind === kind && owner.apiVersion.includes('/') === (group !== '') && (group === '' || owner.apiVersion.startsWith(`${group}/`))
