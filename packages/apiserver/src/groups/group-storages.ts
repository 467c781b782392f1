import type { StorageProbe } from '../storage-readiness.ts'
import type { Storage } from './storage/storage.ts'

/** What a server does for the storages of its groups. */
export interface StorageHost {
  /** Has the server's readiness wait for a resource. */
  readonly awaitReady: (resource: string, probe: StorageProbe) => void
  /** Called once, when there is a first storage to destroy. */
  readonly destroyAtEnd: (destroy: () => Promise<void>) => unknown
}

/**
 * The storages of all groups that a server has, or has had: a group that is taken back, and
 * installed again, is waited for and destroyed once.
 */
export class GroupStorages {
  readonly #host: StorageHost
  readonly #byResource = new Map<string, Storage>()
  readonly #all = new Set<Storage>()

  constructor(host: StorageHost) {
    this.#host = host
  }

  /** @param resource by its group, version and resource: `apps/v1/deployments` */
  add(resource: string, storage: Storage): void {
    if (this.#all.size === 0) this.#host.destroyAtEnd(this.#destroy)
    this.#all.add(storage)
    const isKnown = this.#byResource.has(resource)
    this.#byResource.set(resource, storage)
    if (!isKnown && storage.ready !== undefined)
      this.#host.awaitReady(resource, (context) => this.#byResource.get(resource)?.ready?.(context))
  }

  readonly #destroy = async (): Promise<void> => {
    await Promise.all(Array.from(this.#all, async (storage) => void (await storage.destroy?.())))
  }
}
