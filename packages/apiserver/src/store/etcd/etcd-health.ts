import type { Clock } from '../../engine.ts'
import type { StoreCondition } from '../key-value-store.ts'
import type { StoreError } from '../store-error.ts'
import type { EtcdClient } from './etcd-client.ts'
import { HistoryLost } from './etcd-history.ts'
import { ETCD } from './etcd-messages.ts'
import { lostError } from './etcd-watch.ts'

/**
 * How long the answer to a look is waited for. @see kubernetes/apiserver
 * pkg/storage/storagebackend/config.go DefaultHealthcheckTimeout
 */
const TIMEOUT_MS = 2_000

export interface EtcdHealthParts {
  readonly client: EtcdClient
  readonly clock: Clock
  /** The name of the store, for its errors. */
  readonly name: string
  /** Milliseconds between two looks. */
  readonly intervalMs: number
  /** The key that a look reads. */
  readonly key: Buffer
  readonly changed: (condition: StoreCondition) => void
}

/**
 * Whether an etcd answers and takes writes. It is looked at in an interval, and when a call had no
 * answer.
 */
export class EtcdHealth {
  readonly #parts: EtcdHealthParts
  #condition: StoreCondition = { is: 'ready' }
  #timer: unknown
  #isLooking = false
  #isClosed = false

  constructor(parts: EtcdHealthParts) {
    this.#parts = parts
    this.#lookLater()
  }

  /** Why no member answers; undefined: one does. */
  get lost(): StoreError | undefined {
    return this.#condition.is === 'lost' ? this.#condition.error : undefined
  }

  /** Whether etcd is known to take no writes. */
  get isDegraded(): boolean {
    return this.#condition.is === 'degraded'
  }

  /** Looks at once: a call or a watch has had no answer. */
  lookSoon(): void {
    if (this.#isClosed || this.#isLooking || this.#condition.is === 'lost') return
    this.#parts.clock.clearTimeout(this.#timer)
    void this.#look()
  }

  /** What was seen of etcd is gone: it is lost until the next look, whatever it answers now. */
  lose(error: StoreError): void {
    const wasLost = this.lost !== undefined
    this.#become({ is: 'lost', error })
    // That it could not be reached before is not all there is to say.
    if (wasLost && !this.#isClosed) this.#parts.changed(this.#condition)
  }

  /** The server takes no writes, until a look finds that it does. */
  degrade(error: StoreError): void {
    this.#become({ is: 'degraded', error })
  }

  close(): void {
    this.#isClosed = true
    this.#parts.clock.clearTimeout(this.#timer)
  }

  #lookLater(): void {
    if (this.#isClosed) return
    this.#timer = this.#parts.clock.setTimeout(() => void this.#look(), this.#parts.intervalMs)
  }

  async #look(): Promise<void> {
    const { client, name, key } = this.#parts
    this.#isLooking = true
    try {
      const bound = { timeoutMs: TIMEOUT_MS }
      await client.call(ETCD.range, { key }, bound)
      const isFull = this.#condition.is === 'degraded' && ((await client.call(ETCD.alarms, {}, bound)).alarms ?? []).length > 0
      if (!isFull) this.#become({ is: 'ready' })
    } catch (thrown) {
      // One that has lost its history has been said to be lost by then.
      if (!(thrown instanceof HistoryLost)) this.#become({ is: 'lost', error: lostError(name, thrown) })
    }
    this.#isLooking = false
    this.#lookLater()
  }

  #become(condition: StoreCondition): void {
    if (this.#isClosed) return
    const before = this.#condition
    this.#condition = condition
    if (before.is !== condition.is) this.#parts.changed(condition)
  }
}
