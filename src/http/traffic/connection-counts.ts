import type { ConnectionProtocol, ProtocolCount, ProtocolFates } from '../../base/protocol.ts'

/**
 * How a connection ended during the shutdown: `notified` that it would close; closed by us while
 * idle, and not notified (`idleUnnotified`); `ended` by its client or by node; `forced`, with
 * whatever was on it.
 */
export type Fate = 'notified' | 'idleUnnotified' | 'ended' | 'forced'

/** The connections of one kind: what they speak, how many are open, and how they have ended. */
export interface ConnectionKind extends ConnectionProtocol {
  open: number
  /** How many were when that was asked; see {@link ConnectionCounts.begin}. */
  openThen: number
  readonly fates: Record<Fate, number>
}

/**
 * Connections by what they speak: plain counters, changed when a connection opens, goes on with
 * another protocol or closes. Of each kind there is one object, which its connections share; there
 * are no more of them than protocols and versions of TLS.
 */
export class ConnectionCounts {
  readonly #kinds = new Map<string, ConnectionKind>()

  /** The kind of a connection that speaks this. */
  kindOf({ protocol, tls }: ConnectionProtocol): ConnectionKind {
    const key = `${protocol} ${tls}`
    let kind = this.#kinds.get(key)
    if (!kind) {
      kind = { protocol, tls, open: 0, openThen: 0, fates: { notified: 0, idleUnnotified: 0, ended: 0, forced: 0 } }
      this.#kinds.set(key, kind)
    }
    return kind
  }

  /** Keeps how many are open now. */
  begin(): void {
    for (const kind of this.#kinds.values()) kind.openThen = kind.open
  }

  /** How many connections speak which protocol now; one that was used before stays, with 0. */
  get byProtocol(): ProtocolCount[] {
    return Array.from(this.#kinds.values(), ({ protocol, tls, open }) => ({ protocol, tls, open }))
  }

  /** The kinds in the order of their first connection. */
  get kinds(): Iterable<ConnectionKind> {
    return this.#kinds.values()
  }

  /** What became of those that were open at {@link begin}, or have been opened since. */
  fates(): ProtocolFates[] {
    return Array.from(this.#kinds.values(), ({ protocol, tls, openThen, fates }) => ({ protocol, tls, open: openThen, ...fates })).filter(
      ({ open, notified, idleUnnotified, ended, forced }) => open + notified + idleUnnotified + ended + forced > 0,
    )
  }
}
