import type { Clock } from '../../engine.ts'
import type { EtcdClient } from './etcd-client.ts'
import { COMPARES, ETCD, TARGETS } from './etcd-messages.ts'

/**
 * The key of the cluster, and not of one store: servers of Kubernetes on the same etcd have the
 * same.
 */
const KEY = Buffer.from('compact_rev_key')

/**
 * Has etcd forget, in each interval, what was there before the last one: by one of all servers that
 * do so. The version of a key is their clock: who raises it compacts, and the others see that they
 * were not first, and wait for another interval.
 * @see kubernetes/apiserver pkg/storage/etcd3/compact.go
 */
export class EtcdCompactor {
  readonly #client: EtcdClient
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #failed: (error: unknown) => void
  #timer: unknown
  #version = 0
  /** The newest revision when it looked last, up to which it compacts the next time. */
  #revision = 0
  #isClosed = false

  constructor(client: EtcdClient, clock: Clock, intervalMs: number, failed: (error: unknown) => void) {
    this.#client = client
    this.#clock = clock
    this.#intervalMs = intervalMs
    this.#failed = failed
    this.#wait()
  }

  /** What it knows is of a history that is lost. */
  forget(): void {
    this.#version = 0
    this.#revision = 0
  }

  close(): void {
    this.#isClosed = true
    this.#clock.clearTimeout(this.#timer)
  }

  #wait(): void {
    if (this.#isClosed || this.#intervalMs === 0) return
    this.#timer = this.#clock.setTimeout(() => {
      void this.compact()
        .catch(this.#failed)
        .finally(() => this.#wait())
    }, this.#intervalMs)
  }

  /**
   * The revision up to which it has compacted; undefined: another one does, or it is the first
   * time.
   */
  async compact(): Promise<number | undefined> {
    const revision = this.#revision
    const { header, succeeded, responses } = await this.#client.call(
      ETCD.txn,
      {
        compare: [{ result: COMPARES.equal, target: TARGETS.version, key: KEY, version: this.#version }],
        success: [{ request_put: { key: KEY, value: Buffer.from(String(revision)) } }],
        failure: [{ request_range: { key: KEY } }],
      },
      { isRepeatable: false },
    )
    this.#revision = header?.revision ?? 0
    if (!succeeded) {
      this.#version = responses?.[0]?.response_range?.kvs?.[0]?.version ?? 0
      return undefined
    }
    this.#version++
    if (revision === 0) return undefined
    await this.#client.call(ETCD.compact, { revision })
    return revision
  }
}
