import {
  type Clock,
  checkFunction,
  checkName,
  errorRecord,
  formatDuration,
  type LifecycleFact,
  QuiesceError,
  show,
  type UserCode,
} from './engine.ts'
import type { ApiServerRegistrations } from './registrations.ts'

/** Time between two questions to a storage. */
const POLL_MS = 100

/**
 * Says whether what a storage keeps its objects in can be used: it can when this returns or
 * resolves, with any value but `false`; not yet when it throws or rejects.
 */
export type StorageProbe = (context: { readonly signal: AbortSignal }) => unknown

/** What of it is logged. */
type Say = (fact: LifecycleFact) => void

/**
 * The storages of one server, and the post-start hook that waits for them. Which storages there
 * are is for those who install them to say; the server does not add the hook itself:
 *
 * ```ts
 * server.storageReadiness.register('apps/v1/deployments', () => db.ping())
 * server.addPostStartHook('storage-readiness', server.storageReadiness.hook)
 * ```
 *
 * @see kubernetes/apiserver pkg/server/storage_readiness_hook.go StorageReadinessHook
 */
export class StorageReadiness {
  readonly #clock: Clock
  /** The time after which the hook waits no longer. */
  readonly timeoutMs: number
  readonly #say: Say
  readonly #probes = new Map<string, StorageProbe>()

  /** @param timeoutMs after which the hook waits no longer */
  constructor(clock: Clock, timeoutMs: number, say: Say) {
    this.#clock = clock
    this.timeoutMs = timeoutMs
    this.#say = say
  }

  /**
   * Has the hook wait for a storage, one that is registered while it waits, too. A second probe for
   * a resource is left out, and logged as an error.
   * @param resource by its group, version and resource: `apps/v1/deployments`
   * @throws QuiesceError ERR_NAME_MISSING, ERR_FUNCTION_MISSING
   */
  register(resource: string, probe: StorageProbe): void {
    checkName('a storage', resource)
    checkFunction(`probe of storage ${show(resource)}`, resource, probe)
    if (!this.#probes.has(resource)) return void this.#probes.set(resource, probe)
    const error = new QuiesceError('ERR_DUPLICATE', `storage ${show(resource)} has a probe already; the first one stays`, {
      name: resource,
    })
    this.#say({ type: 'error', where: 'storage readiness', error: errorRecord(error) })
  }

  /**
   * Asks every storage at once and then every 100 ms, until all are ready in one round. A server
   * whose time for that is over becomes ready all the same, with a warning that names those that
   * are not; neither that nor the end of the server is a failure.
   */
  readonly hook: UserCode = ({ signal }) =>
    new Promise<void>((resolve) => {
      const over = new AbortController()
      let waiting: ReadonlySet<string> = new Set()
      let next: unknown
      const end = (): void => {
        over.abort()
        for (const timer of [bound, next]) this.#clock.clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const bound = this.#clock.setTimeout(() => {
        this.#say(tooLate(this.timeoutMs, [...waiting]))
        end()
      }, this.timeoutMs)
      const poll = async (): Promise<void> => {
        const asked = this.#probes.size
        const round = new Set(this.#probes.keys())
        waiting = round
        await Promise.all([...this.#probes].map(([resource, probe]) => this.#ask(probe, over.signal, () => round.delete(resource))))
        if (over.signal.aborted) return
        // One that was registered meanwhile has not been asked.
        if (round.size === 0 && this.#probes.size === asked) end()
        else next = this.#clock.setTimeout(() => void poll(), POLL_MS)
      }
      if (signal.aborted) return end()
      signal.addEventListener('abort', end)
      void poll()
    })

  /**
   * Asks a probe; never rejects, and does not resolve before the probe has answered, so that one
   * that hangs is asked once.
   */
  #ask(probe: StorageProbe, signal: AbortSignal, ready: () => void): Promise<void> {
    return new Promise((resolve) => resolve(probe({ signal }))).then(
      (answer) => {
        if (answer !== false) ready()
      },
      () => {
        // Not ready, whatever the reason: it is asked again.
      },
    )
  }
}

/** Waits for the storages of API groups. */
const STORAGE_HOOK = 'storage-readiness'

/**
 * Has the readiness of a server wait for storages: by one hook, which is added for the first of
 * them unless the server has been prepared. Liveness passes as long as it waits: a storage that
 * opens late is no reason to begin again.
 * @param server its name
 */
export function storageAwaiter(server: string, readiness: StorageReadiness, registered: ApiServerRegistrations) {
  let hasHook = false
  return (resource: string, probe: StorageProbe): void => {
    readiness.register(resource, probe)
    if (hasHook || registered.isGiven) return
    // That of a delegate has the name already.
    registered.addPostStartHook(
      registered.hasPostStartHook(STORAGE_HOOK) ? `${STORAGE_HOOK}-${server}` : STORAGE_HOOK,
      readiness.hook,
      readiness.timeoutMs,
    )
    hasHook = true
  }
}

const tooLate = (timeoutMs: number, waiting: readonly string[]): Parameters<Say>[0] => ({
  type: 'warning',
  message: `the storage is not ready after ${formatDuration(timeoutMs)}; readiness does not wait for it any longer: ${waiting.join(', ')}`,
  details: { waiting },
})
