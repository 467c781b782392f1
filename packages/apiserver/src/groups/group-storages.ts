import type { StorageProbe } from '../storage-readiness.ts'
import type { Storage } from './storage/storage.ts'

/** What a server does for the storages of its groups. */
export interface StorageHost {
  /** Has the server's readiness wait for a resource. */
  readonly awaitReady: (resource: string, probe: StorageProbe) => void
  /** Takes the function that destroys storages, once, when there is a first one. */
  readonly destroyAtEnd: (destroy: () => Promise<void>) => unknown
  /** Is given what a storage has thrown whose end nothing waits for. */
  readonly failed: (error: unknown) => void
}

/**
 * The storages of all groups that a server has, or has had: a group that is taken back, and
 * installed again, is waited for and destroyed once.
 */
export class GroupStorages {
  readonly #host: StorageHost
  readonly #byResource = new Map<string, Storage>()
  readonly #all = new Set<Storage>()
  #isExpected = false
  #isOver = false

  constructor(host: StorageHost) {
    this.#host = host
  }

  /** Expects storages: there are some, or there will be. */
  expect(): void {
    if (!this.#isExpected) this.#host.destroyAtEnd(this.#destroy)
    this.#isExpected = true
  }

  /** @param resource by its group, version and resource: `apps/v1/deployments` */
  add(resource: string, storage: Storage): void {
    // It came when all others were gone already.
    if (this.#isOver) return void this.#destroyLate(storage)
    this.expect()
    this.#all.add(storage)
    const isKnown = this.#byResource.has(resource)
    this.#byResource.set(resource, storage)
    if (!isKnown && storage.ready !== undefined)
      this.#host.awaitReady(resource, (context) => this.#byResource.get(resource)?.ready?.(context))
  }

  async #destroyLate(storage: Storage): Promise<void> {
    try {
      await storage.destroy?.()
    } catch (thrown) {
      this.#host.failed(thrown)
    }
  }

  readonly #destroy = async (): Promise<void> => {
    this.#isOver = true
    await Promise.all(Array.from(this.#all, async (storage) => void (await storage.destroy?.())))
  }
}
