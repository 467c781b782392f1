import type { ApiServer } from '../api-server.ts'
import { loopbackResource } from '../client/loopback-resource.ts'
import type { DeleteChoices } from '../client/resource-client.ts'
import { checkArguments, errorRecord, optionError, toError, withFields, withOptions } from '../engine.ts'
import { type ApiObject, keyOf, type OwnerReference } from '../groups/api-object.ts'
import { DELETE_DEPENDENTS, ORPHAN_DEPENDENTS } from '../groups/deletion-finalizers.ts'
import type { Resource } from '../groups/resource/define-resource.ts'
import type { InformerEvent } from '../informer/informer.ts'
import type { SharedInformers } from '../informer/shared-informers.ts'
import { createWorkQueue } from '../informer/work-queue.ts'
import { StatusError } from '../status-errors.ts'
import {
  blocks,
  type CollectedKind,
  type CollectedObject,
  GARBAGE_INDEXERS,
  GarbageKinds,
  ownersOf,
  waitsForDependents,
} from './garbage-kinds.ts'

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

const A_SERVER = withFields('what createApiServer() returns', 'addPostStartHook', 'loopback', 'enableGarbageCollection')

/**
 * Deletes objects whose owners are gone, as a controller of the server: the post-start hook
 * `start-garbage-collector-controller`. An object with several owners is kept as long as one of
 * them is there. An owner is another one when its `uid` is: who is created again under the same
 * name has not owned anything. What is deleted is deleted as it was looked at.
 *
 * An owner that is deleted with `Foreground` is gone when all is gone that it owns and that blocks
 * it (`blockOwnerDeletion`); of one that is deleted with `Orphan`, the references are taken from
 * what it owns first.
 * @throws QuiesceError ERR_OPTION_INVALID, ERR_DUPLICATE, ERR_TOO_LATE
 * @see kubernetes/kubernetes pkg/controller/garbagecollector/garbagecollector.go
 * @example
 * addGarbageCollector(server, { informers: sharedInformers(server), resources: [orders, cups] })
 */
export function addGarbageCollector(server: ApiServer, options: GarbageCollectorOptions): void {
  checkArguments(
    'addGarbageCollector(server, options)',
    [server, A_SERVER],
    [options, withOptions<GarbageCollectorOptions>('informers', 'resources', 'workers')],
  )
  const { informers, resources, workers = 2 } = options
  if (!Array.isArray(resources) || resources.length === 0)
    throw optionError('resources of addGarbageCollector()', resources, 'a list of what defineResource() returns')
  const kinds = new GarbageKinds(
    (resources as readonly Resource[]).map(
      (resource): CollectedKind => ({
        resource,
        informer: informers.of(resource, { indexers: GARBAGE_INDEXERS }),
        clientIn: (namespace) => loopbackResource(server.loopback, resource, namespace === '' ? {} : { namespace }),
      }),
    ),
  )
  server.enableGarbageCollection(...resources)
  server.addPostStartHook(GARBAGE_HOOK, ({ signal }) => {
    const queue = createWorkQueue()
    const look = (at: readonly CollectedObject[]): void => {
      for (const each of at) queue.add(kinds.keyFor(each))
    }
    for (const kind of kinds.all) kind.informer.events$.subscribe((event) => look(concernedBy(kinds, kind, event)))
    const collector = new Collector(kinds, look, signal)
    const failed = (key: string, error: unknown): void =>
      server.warn(`garbage collector: ${key} is tried again: ${toError(error).message}`, { err: errorRecord(error) })
    void queue.run({ reconcile: (key) => collector.reconcile(key), signal, workers, failed })
  })
}

/** What has to be looked at because of what has become of an object. */
function concernedBy(kinds: GarbageKinds, kind: CollectedKind, event: InformerEvent): readonly CollectedObject[] {
  const { type, object } = event
  const isGone = type === 'deleted'
  const before = event.type === 'updated' ? event.previous : isGone ? object : undefined
  const isConcerned = !isGone && (ownersOf(object).length > 0 || object.metadata.deletionTimestamp !== undefined)
  return [
    ...(isConcerned ? [{ kind, object }] : []),
    // They have one owner less, or one that waits for them.
    ...(isGone || waitsForDependents(object.metadata) ? kinds.dependentsOf(object) : []),
    // They may have waited for this one alone.
    ...(before === undefined ? [] : kinds.waitingOwnersOf(before)),
  ]
}

/** How often what objects say of their owner is looked at before that is a failure. */
const ORPHAN_TRIES = 3

/** Decides what becomes of one object, and has it done. */
class Collector {
  readonly #kinds: GarbageKinds
  readonly #look: (at: readonly CollectedObject[]) => void
  readonly #signal: AbortSignal

  constructor(kinds: GarbageKinds, look: (at: readonly CollectedObject[]) => void, signal: AbortSignal) {
    this.#kinds = kinds
    this.#look = look
    this.#signal = signal
  }

  /**
   * @see kubernetes/kubernetes pkg/controller/garbagecollector/garbagecollector.go
   * attemptToDeleteItem
   */
  async reconcile(key: string): Promise<void> {
    // Before all owners are known, one that is not known may still be there.
    await this.#kinds.synced(this.#signal)
    const item = this.#kinds.find(key)
    if (item === undefined) return
    const { deletionTimestamp, finalizers = [] } = item.object.metadata
    if (deletionTimestamp === undefined) return this.#collect(item)
    if (finalizers.includes(ORPHAN_DEPENDENTS)) return this.#orphan(item)
    if (finalizers.includes(DELETE_DEPENDENTS)) return this.#awaitDependents(item)
  }

  /** An object that is there: it may be garbage. */
  async #collect(item: CollectedObject): Promise<void> {
    const owners = ownersOf(item.object)
    if (owners.length === 0) return
    const { solid, waiting } = await this.#kinds.classify(item.object, this.#signal)
    if (solid.length > 0) {
      // Else those that wait would wait for an object that stays.
      if (solid.length < owners.length) await this.#change(item, solid)
      return
    }
    const owned = this.#kinds.dependentsOf(item.object)
    if (waiting.length > 0 && owned.length > 0) {
      const isInCircle = owned.some(({ object }) => waitsForDependents(object.metadata))
      const free = isInCircle ? await this.#change(item, owners.map(unblocked)) : item.object
      if (free) await this.#delete({ ...item, object: free }, 'Foreground')
      return
    }
    const { finalizers = [] } = item.object.metadata
    const isAsked = finalizers.includes(ORPHAN_DEPENDENTS) ? 'Orphan' : finalizers.includes(DELETE_DEPENDENTS) ? 'Foreground' : 'Background'
    await this.#delete(item, isAsked)
  }

  /** What it owns lives on without it. */
  async #orphan(owner: CollectedObject): Promise<void> {
    for (let tries = 0; tries < ORPHAN_TRIES; tries++) {
      const owned = await this.#kinds.dependentsNow(owner, this.#signal)
      if (owned.length === 0) return this.#release(owner, ORPHAN_DEPENDENTS)
      const { uid } = owner.object.metadata
      for (const each of owned) {
        const others = ownersOf(each.object).filter((its) => its.uid !== uid)
        await this.#change(each, others)
      }
    }
    throw new Error(`what it owns has been changed ${ORPHAN_TRIES} times meanwhile`)
  }

  /** The owner is gone when everything is gone that blocks it. */
  async #awaitDependents(owner: CollectedObject): Promise<void> {
    const { uid = '' } = owner.object.metadata
    const blocking = this.#kinds.dependentsOf(owner.object).filter(({ object }) => blocks(object, uid))
    if (blocking.length > 0) return this.#look(blocking.filter(({ object }) => !waitsForDependents(object.metadata)))
    // One that comes to the copy later has itself looked at, and its owner when it is gone.
    const late = await this.#kinds.dependentsNow(owner, this.#signal)
    if (!late.some(({ object }) => blocks(object, uid))) await this.#release(owner, DELETE_DEPENDENTS)
  }

  async #release({ kind, object }: CollectedObject, finalizer: string): Promise<void> {
    const key = keyOf(object)
    const now = await kind.clientIn(key.namespace).get(key, { signal: this.#signal })
    if (now?.metadata.uid !== object.metadata.uid || now?.metadata.finalizers?.includes(finalizer) !== true) return
    const finalizers = now.metadata.finalizers.filter((each) => each !== finalizer)
    await this.#update({ kind, object: { ...now, metadata: { ...now.metadata, finalizers } } })
  }

  #change({ kind, object }: CollectedObject, ownerReferences: readonly OwnerReference[]): Promise<ApiObject | undefined> {
    return this.#update({ kind, object: { ...object, metadata: { ...object.metadata, ownerReferences } } })
  }

  #update({ kind, object }: CollectedObject): Promise<ApiObject | undefined> {
    const client = kind.clientIn(object.metadata.namespace ?? '')
    return client.update(object, { signal: this.#signal }).catch(leaveWhatIsGone)
  }

  async #delete({ kind, object }: CollectedObject, propagationPolicy: DeleteChoices['propagationPolicy'] & string): Promise<void> {
    const { uid, resourceVersion } = object.metadata
    const key = keyOf(object)
    const client = kind.clientIn(key.namespace)
    await client.delete(key, { uid, resourceVersion, propagationPolicy }, { signal: this.#signal }).catch(leaveWhatIsGone)
  }
}

const unblocked = (owner: OwnerReference): OwnerReference =>
  owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner

/** Passes over an object that is gone, or has been changed: its change has it looked at again. */
function leaveWhatIsGone(thrown: unknown): undefined {
  if (!(thrown instanceof StatusError && (thrown.failure.code === 404 || thrown.failure.code === 409))) throw thrown
}
