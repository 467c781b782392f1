import type { EtcdHeader } from './etcd-messages.ts'

/** What an etcd has answered is of another history than what it had answered before. */
export class HistoryLost extends Error {}

/** What is known of one history: its cluster, and the newest revision that was seen. */
interface Known {
  cluster: number | undefined
  revision: number
}

/**
 * Whether an etcd still has the history that was seen of it: it has not when its data was removed,
 * when it was restored from an older copy, or when another cluster is at its address. Reads and
 * transactions are linearizable: none that is sent after a revision was seen is of an older one.
 */
export class EtcdHistory {
  #known: Known = { cluster: undefined, revision: 0 }
  /** Called once for each history that is lost. */
  onLost: (error: HistoryLost) => void = () => {}

  /**
   * Called when a read or a transaction is sent; what it returns, with the header of the answer.
   * @throws HistoryLost by what it returns
   */
  sent(): (header: EtcdHeader | undefined) => void {
    const known = this.#known
    const { revision: seen } = known
    return (header) => {
      if (header === undefined) return
      if (known !== this.#known) throw new HistoryLost('its answer is late, and of a history that is lost')
      this.heard(header)
      const { revision = 0 } = header
      if (revision < seen) throw this.#lose(header, `its newest revision is ${revision}, and ${seen} was seen before`)
      known.revision = Math.max(known.revision, revision)
    }
  }

  /**
   * Called with what a watch hears, which may be older than what was seen.
   * @throws HistoryLost
   */
  heard(header: EtcdHeader | undefined): void {
    const known = this.#known
    if (header?.cluster_id === undefined) return
    known.cluster ??= header.cluster_id
    if (header.cluster_id !== known.cluster) throw this.#lose(header, 'another cluster answers at its address')
  }

  #lose({ cluster_id: cluster, revision = 0 }: EtcdHeader, why: string): HistoryLost {
    this.#known = { cluster, revision }
    const error = new HistoryLost(`${why}. Watches end, and clients list again. Was its data removed, or restored from an older copy?`)
    this.onLost(error)
    return error
  }
}
