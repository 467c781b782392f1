import type { ApiServer } from '../api-server.ts'
import { loopbackResource } from '../client/loopback-resource.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import {
  type Clock,
  checkArguments,
  type Duration,
  errorRecord,
  optionError,
  parseDuration,
  systemClock,
  toError,
  withFields,
  withOptions,
} from '../engine.ts'
import { isSameJson } from '../groups/api-object.ts'
import { groupVersion } from '../groups/resource/define-resource.ts'
import { timestamp } from '../groups/rest/prepare.ts'
import type { AttemptedWrite } from '../groups/write-barrier.ts'
import { exponentialMs } from '../informer/backoff.ts'
import { identityOf, type ServerIdentity } from '../leases/identity-lease.ts'
import { LEASES } from '../leases/lease.ts'
import { pauseOn } from '../pause-on.ts'
import { qualifiedName, StatusError } from '../status-errors.ts'
import { withoutServers, withServer } from './server-entries.ts'
import { type ServerStorageVersion, STORAGE_VERSIONS, type StorageVersion, type StorageVersionStatus } from './storage-version.ts'

/** @see kubernetes/kubernetes cmd/kube-apiserver/app/server.go CreateServerChain */
export const STORAGE_VERSION_HOOK = 'built-in-resources-storage-version-updater'

const BACKOFF = { initialMs: 200, maxMs: 7_000, jitter: 0 }
/** Time between two looks for the server's own lease. */
const LEASE_POLL_MS = 100

export interface StorageVersionOptions {
  /**
   * Time between two looks at what is written: what is missing is written again, and servers whose
   * lease was gone at the look before, too, are taken out. Default 10 minutes.
   */
  readonly refreshInterval?: Duration
  /** Default: that of the process. */
  readonly clock?: Clock
}

const A_SERVER = withFields('what createApiServer() returns', 'addPostStartHook', 'holdWrites')

/**
 * Has a server say in which version it stores the objects of each of its resources, before it
 * writes the first one: writes are answered 503 until that is written, and `/readyz` waits for it.
 * So a StorageVersion says at any time in which versions objects may be written. It needs
 * {@link storageVersionGroup} in a storage that all replicas share, and {@link addIdentityLease}
 * before it, by whose lease the server is known.
 *
 * Not held are StorageVersions, leases of `kube-system`, and namespaces that the server creates
 * itself. Servers behind this one are held, too.
 * @throws QuiesceError ERR_OPTION_INVALID for a server without an identity lease, ERR_DUPLICATE,
 * ERR_TOO_LATE
 * @see kubernetes/apiserver pkg/storageversion/manager.go UpdateStorageVersions
 * @example
 * server.installApiGroups(leaseGroup(leases), storageVersionGroup(storageVersions))
 * addIdentityLease(server)
 * addStorageVersions(server)
 */
export function addStorageVersions(server: ApiServer, options: StorageVersionOptions = {}): void {
  checkArguments(
    'addStorageVersions(server, options?)',
    [server, A_SERVER],
    [options, withOptions<StorageVersionOptions>('refreshInterval', 'clock')],
  )
  const { refreshInterval = '10m', clock = systemClock } = options
  const refreshMs = parseDuration('refreshInterval of addStorageVersions()', refreshInterval)
  const identity = identityOf(server)
  if (identity === undefined)
    throw optionError('server of addStorageVersions()', server.name, 'one that addIdentityLease() was called with')
  const updater = new StorageVersionUpdater(server, identity, clock)
  server.holdWrites(updater.barrier)
  server.addPostStartHook(STORAGE_VERSION_HOOK, async ({ signal }) => {
    await updater.begin(signal)
    void updater.keep(refreshMs, signal)
  })
}

/** What is written of one resource. */
interface Written {
  readonly name: string
  readonly entry: ServerStorageVersion
}

/** The StorageVersions of one server. */
class StorageVersionUpdater {
  readonly #server: ApiServer
  readonly #identity: ServerIdentity
  readonly #clock: Clock
  readonly #objects: ResourceClient<StorageVersion>
  /** The versions that are written, by the qualified name of their resource. */
  readonly #done = new Map<string, string>()
  /** Servers that had no lease when it was looked last. */
  #missing: ReadonlySet<string> = new Set()
  #lastError: Error | undefined
  #id = ''
  /** Ends the pause before the next look. */
  #wake: () => void = () => {}

  constructor(server: ApiServer, identity: ServerIdentity, clock: Clock) {
    this.#server = server
    this.#identity = identity
    this.#clock = clock
    this.#objects = loopbackResource(server.loopback, STORAGE_VERSIONS)
  }

  readonly barrier = ({ verb, group, resource, encodingVersion, namespace, user }: AttemptedWrite): string | undefined => {
    const name = qualifiedName({ group, resource })
    if (this.#done.get(name) === encodingVersion || name === STORAGE_VERSIONS_NAME) return undefined
    if (name === LEASES_NAME && namespace === 'kube-system') return undefined
    // A server that does not authenticate does not know itself.
    if (name === 'namespaces' && verb === 'create' && (user === undefined || user.name === 'system:apiserver')) return undefined
    this.#wake()
    const error = this.#lastError?.message ?? '<nil>'
    return `wait for storage version registration to complete for resource: ${name}, last seen error: ${error}`
  }

  /** Resolves when everything is written, or with the signal. */
  async begin(signal: AbortSignal): Promise<void> {
    this.#id = this.#identity.id()
    await this.#ownLease(signal)
    await this.#write(signal)
  }

  async keep(refreshMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // A write that waits does not bring the next look at the leases forward.
      const due = this.#clock.now() + refreshMs
      let isWoken: boolean
      do {
        isWoken = await this.#sleep(Math.max(0, due - this.#clock.now()), signal)
        await this.#write(signal)
      } while (isWoken && !signal.aborted)
      if (!signal.aborted)
        await this.#collect(signal).catch((error: unknown) => this.#failed('storage versions of dead servers stay', error, signal))
    }
  }

  /** Waits until the time is over, or a write waits for a resource that is new: then it is true. */
  async #sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await pauseOn(this.#clock, ms, AbortSignal.any([signal, woken.signal]))
    this.#wake = () => {}
    return woken.signal.aborted
  }

  /** Servers without a lease count as dead. */
  async #ownLease(signal: AbortSignal): Promise<void> {
    const key = { namespace: 'kube-system', name: this.#id }
    const leases = loopbackResource(this.#server.loopback, LEASES, { namespace: 'kube-system' })
    let isWarned = false
    while (!signal.aborted) {
      try {
        if ((await leases.get(key, { signal })) !== undefined) return
      } catch (error) {
        if (!isWarned) this.#failed(`lease ${key.name} is not found`, error, signal)
        isWarned = true
      }
      await pauseOn(this.#clock, LEASE_POLL_MS, signal)
    }
  }

  async #write(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      try {
        for (const [of, written] of this.#resources()) {
          await this.#put(written, signal)
          if (signal.aborted) return
          this.#done.set(of, written.entry.encodingVersion)
        }
        this.#lastError = undefined
        return
      } catch (error) {
        this.#lastError = toError(error)
        if (failures++ === 0) this.#failed('storage versions are not written', error, signal)
        await pauseOn(
          this.#clock,
          exponentialMs(BACKOFF, failures, () => 0),
          signal,
        )
      }
    }
  }

  /** The versions of all resources that are kept, by qualified name. */
  #resources(): ReadonlyMap<string, Written> {
    const all = new Map<string, Written>()
    const served = this.#server.apiGroups.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources))
    for (const { resource, storage } of served) {
      if ((storage.create ?? storage.update ?? storage.delete) === undefined) continue
      const { group, plural, versions, storageVersion, apiVersion } = resource
      const of = qualifiedName({ group, resource: plural })
      const name = `${group === '' ? 'core' : group}.${plural}`
      const entry: ServerStorageVersion = {
        apiServerID: this.#id,
        encodingVersion: groupVersion(group, storageVersion),
        decodableVersions: Object.keys(versions).map((version) => groupVersion(group, version)),
        servedVersions: [...(all.get(of)?.entry.servedVersions ?? []), apiVersion],
      }
      all.set(of, { name, entry })
    }
    return new Map([...all].sort(([, a], [, b]) => (a.name < b.name ? -1 : 1)))
  }

  async #put({ name, entry }: Written, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const known = await this.#objects.get({ namespace: '', name }, { signal })
        const object = known ?? (await this.#objects.create(named(name), { signal }))
        return await this.#status(object, withServer(object, entry, this.#now()), signal)
      } catch (thrown) {
        // Another server was quicker. A 404 is none: the group may not be installed.
        if (codeOf(thrown) !== 409) throw thrown
      }
    }
  }

  /**
   * Takes servers out that have no lease, and had none when it was looked last: one that ends gives
   * up its lease first, and writes until its last request is answered.
   */
  async #collect(signal: AbortSignal): Promise<void> {
    const { component: labelSelector } = this.#identity
    const leases = loopbackResource(this.#server.loopback, LEASES, { namespace: 'kube-system', labelSelector })
    const alive = new Set((await leases.list({ signal })).items.map(({ metadata }) => metadata.name))
    // Who does not find itself knows nothing of others.
    if (!alive.has(this.#id)) return
    const { items } = await this.#objects.list({ signal })
    const named = items.flatMap(({ status }) => (status?.storageVersions ?? []).map(({ apiServerID }) => apiServerID))
    const missing = new Set(named.filter((each) => !alive.has(each)))
    const gone = (each: string): boolean => missing.has(each) && this.#missing.has(each)
    for (const object of items) {
      if (object.status?.storageVersions?.some(({ apiServerID }) => gone(apiServerID)) !== true) continue
      const { name, uid, resourceVersion } = object.metadata
      const left = withoutServers(object, gone, this.#now())
      try {
        if (left === undefined) await this.#objects.delete({ namespace: '', name }, { uid, resourceVersion }, { signal })
        else await this.#status(object, left, signal)
      } catch (thrown) {
        // It is looked at again the next time.
        if (![404, 409].includes(codeOf(thrown))) throw thrown
      }
    }
    this.#missing = missing
  }

  async #status(object: StorageVersion, status: StorageVersionStatus, signal: AbortSignal): Promise<void> {
    if (!isSameJson(object.status, status)) await this.#objects.update({ ...object, status }, { signal, subresource: 'status' })
  }

  #now(): string {
    return timestamp(this.#clock.wall())
  }

  #failed(what: string, error: unknown, signal: AbortSignal): void {
    if (!signal.aborted) this.#server.warn(`${what}: ${toError(error).message}; it is tried again`, { err: errorRecord(error) })
  }
}

const named = (name: string): StorageVersion => ({
  kind: 'StorageVersion',
  apiVersion: STORAGE_VERSIONS.apiVersion,
  metadata: { name },
  spec: {},
})

const STORAGE_VERSIONS_NAME = qualifiedName({ group: STORAGE_VERSIONS.group, resource: STORAGE_VERSIONS.plural })
const LEASES_NAME = qualifiedName({ group: LEASES.group, resource: LEASES.plural })

const codeOf = (thrown: unknown): number => (thrown instanceof StatusError ? thrown.failure.code : 0)
