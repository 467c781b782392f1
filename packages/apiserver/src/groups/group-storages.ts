import type { InspectedRoot } from '../engine.ts'
import type { StorageProbe } from '../storage-readiness.ts'
import type { Store, StoreState } from '../store/store.ts'
import type { Storage } from './storage/storage.ts'

/** States with a reason, which operators want to know. */
const TROUBLED: ReadonlySet<StoreState> = new Set(['waiting', 'refused', 'degraded', 'lost'])

/** What a server does for the storages of its groups. */
export interface StorageHost {
  /** Has the server's readiness wait for a resource. */
  readonly awaitReady: (resource: string, probe: StorageProbe) => void
  /** Has `/readyz` say whether a store can be used; a second one of that name is left out. */
  readonly addCheck: (name: string, check: () => void) => void
  /** Takes the function that destroys storages, once, when there is a first one. */
  readonly destroyAtEnd: (destroy: () => Promise<void>) => unknown
  /** Has those who watch the server see the actors of a store, which has a life of its own. */
  readonly watch: (root: InspectedRoot) => void
  readonly warn: (message: string, details: Readonly<Record<string, unknown>>) => void
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
  readonly #stores = new Set<Store>()
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
    const { store } = storage
    if (store !== undefined && !this.#stores.has(store)) {
      this.#stores.add(store)
      this.#warnOf(store)
      for (const root of store.actors()) this.#host.watch(root)
      if (store.check !== undefined) this.#host.addCheck(store.check, () => store.ready())
    }
    const isKnown = this.#byResource.has(resource)
    this.#byResource.set(resource, storage)
    if (!isKnown && storage.ready !== undefined)
      this.#host.awaitReady(resource, (context) => this.#byResource.get(resource)?.ready?.(context))
  }

  /** What it cannot do, and when it can again; not the same twice in a row. */
  #warnOf(store: Store): void {
    let warned: string | undefined
    store.onState((state, why) => {
      const message =
        why === undefined
          ? state === 'ready' && warned !== undefined
            ? `the storage ${store.name} is ready again`
            : undefined
          : TROUBLED.has(state)
            ? `the storage ${store.name} is ${state}: ${why.message}`
            : undefined
      if (message === undefined || message === warned) return
      warned = why === undefined ? undefined : message
      this.#host.warn(message, { storage: store.name, state })
    })
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
