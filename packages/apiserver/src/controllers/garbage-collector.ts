import type { ApiServer } from '../api-server.ts'
import { loopbackResource } from '../client/loopback-resource.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import { checkArguments, errorRecord, optionError, toError, withFields } from '../engine.ts'
import { type ApiObject, keyOf, type ObjectKey, type OwnerReference } from '../groups/api-object.ts'
import type { Resource } from '../groups/resource/define-resource.ts'
import type { Informer } from '../informer/informer.ts'
import type { SharedInformers } from '../informer/shared-informers.ts'
import { createWorkQueue } from '../informer/work-queue.ts'
import { StatusError } from '../status-errors.ts'

/**
 * @see kubernetes/kubernetes cmd/kube-controller-manager/app/core.go
 * startGarbageCollectorController
 */
export const GARBAGE_HOOK = 'start-garbage-collector-controller'

export interface GarbageCollectorOptions {
  /** The informers of the server, which {@link sharedInformers} gives. */
  readonly informers: SharedInformers
  /**
   * The kinds whose objects have owners, or are owners. Of a kind that is not among them nothing is
   * deleted, and an owner of such a kind counts as there.
   */
  readonly resources: readonly Resource[]
  /** Objects that are looked at at a time. Default 2. */
  readonly workers?: number
}

/** One kind: what there is of it, and what changes it. */
interface Kind {
  readonly resource: Resource
  readonly informer: Informer
  readonly client: ResourceClient
}

/** The index by which the objects of an owner are found. */
const BY_OWNER = 'owner-uid'

const A_SERVER = withFields('what createApiServer() returns', 'addPostStartHook', 'loopback')

/**
 * Deletes objects whose owners are gone, as a controller of the server: the post-start hook
 * `start-garbage-collector-controller`. An object with several owners is kept as long as one of
 * them is there. An owner is another one when its `uid` is: who is created again under the same
 * name has not owned anything. What is deleted is deleted as it was looked at.
 * @throws QuiesceError ERR_OPTION_INVALID, ERR_DUPLICATE, ERR_TOO_LATE
 * @see kubernetes/kubernetes pkg/controller/garbagecollector/garbagecollector.go
 * @example
 * addGarbageCollector(server, { informers: sharedInformers(server), resources: [orders, cups] })
 */
export function addGarbageCollector(server: ApiServer, options: GarbageCollectorOptions): void {
  checkArguments('addGarbageCollector(server, options)', [server, A_SERVER], [options, 'an object'])
  const { informers, resources, workers = 2 } = options
  if (!Array.isArray(resources) || resources.length === 0)
    throw optionError('resources of addGarbageCollector()', resources, 'a list of what defineResource() returns')
  const indexers = { [BY_OWNER]: ownersOf }
  const kinds = (resources as readonly Resource[]).map(
    (resource): Kind => ({ resource, informer: informers.of(resource, { indexers }), client: loopbackResource(server.loopback, resource) }),
  )
  server.addPostStartHook(GARBAGE_HOOK, ({ signal }) => {
    const queue = createWorkQueue()
    for (const [at, { informer }] of kinds.entries())
      informer.events$.subscribe(({ type, object }) => {
        if (type !== 'deleted') {
          if (ownersOf(object).length > 0) queue.add(keyFor(at, object))
          return
        }
        // What it owned, of any kind, is looked at.
        for (const [of, { informer: others }] of kinds.entries())
          for (const owned of others.byIndex(BY_OWNER, object.metadata.uid ?? '')) queue.add(keyFor(of, owned))
      })
    const reconcile = async (key: string): Promise<void> => {
      const [at, of] = JSON.parse(key) as [number, ObjectKey]
      const { informer, client } = kinds[at] as Kind
      const object = informer.get(of)
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return
      // Before all owners are known, one that is not known may still be there.
      await Promise.all(kinds.map((each) => each.informer.synced(signal)))
      if (await hasOwner(kinds, object, signal)) return
      const { uid, resourceVersion } = object.metadata
      await client.delete(of, { uid, resourceVersion, propagationPolicy: 'Background' }, { signal }).catch(leaveWhatIsGone)
    }
    const failed = (key: string, error: unknown): void =>
      server.warn(`garbage collector: ${key} is tried again: ${toError(error).message}`, { error: errorRecord(error) })
    void queue.run({ reconcile, signal, workers, failed })
  })
}

const ownersOf = ({ metadata }: ApiObject): readonly string[] => metadata.ownerReferences?.map(({ uid }) => uid) ?? []

const keyFor = (at: number, object: ApiObject): string => JSON.stringify([at, keyOf(object)])

/**
 * Looks in the cache first; that an owner is gone is only believed of the server. An owner that
 * cannot be looked up counts as there: one of an unknown kind, and, for an object without a
 * namespace, one that would be in some namespace.
 */
async function hasOwner(kinds: readonly Kind[], { metadata }: ApiObject, signal: AbortSignal): Promise<boolean> {
  const { namespace = '', ownerReferences: owners = [] } = metadata
  for (const owner of owners) {
    const kind = kinds.find(({ resource }) => isKind(resource, owner))
    if (kind === undefined || (kind.resource.isNamespaced && namespace === '')) return true
    const key: ObjectKey = { namespace: kind.resource.isNamespaced ? namespace : '', name: owner.name }
    if (kind.informer.get(key)?.metadata.uid === owner.uid) return true
    if ((await kind.client.get(key, { signal }))?.metadata.uid === owner.uid) return true
  }
  return owners.length === 0
}

/** Its group and kind; the version may be another one. */
const isKind = ({ group, kind }: Resource, owner: OwnerReference): boolean =>
  owner.kind === kind && owner.apiVersion.includes('/') === (group !== '') && (group === '' || owner.apiVersion.startsWith(`${group}/`))

/** Passes over an object that is gone, or has been changed: its change has it looked at again. */
function leaveWhatIsGone(thrown: unknown): void {
  if (!(thrown instanceof StatusError && (thrown.failure.code === 404 || thrown.failure.code === 409))) throw thrown
}
