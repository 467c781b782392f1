import type { Straggler } from '../../base/events.ts'
import type { ProtocolFates } from '../../base/protocol.ts'
import type { Connection } from './connection.ts'
import type { ConnectionCounts, Fate } from './connection-counts.ts'
import type { Exchange } from './exchange.ts'

/** How connections ended since ShutdownInitiated, and the names of those that were forced. */
export type ConnectionFates = Readonly<Record<Fate, number>> & {
  readonly forcedNames: readonly Straggler[]
  /**
   * The ends of connections that had changed their protocol, in its words; absent when there were
   * none.
   */
  readonly upgraded?: Readonly<Record<string, number>>
  /** The ends by the last protocol; absent when there were none. */
  readonly byProtocol?: readonly ProtocolFates[]
}

/** How connections end: counted from {@link begin} on, by their fates and by what they spoke. */
export class ConnectionEnds {
  /**
   * The connections that were closed as idle ones in the middle of what they do before their first
   * request, by name.
   */
  readonly unfinished: Straggler[] = []
  readonly #counts: ConnectionCounts
  /** The connections that were closed by force. */
  readonly #forced: Straggler[] = []
  /**
   * The ends of connections that had changed their protocol, in its words: `WebSocket closed 1001`.
   */
  readonly #upgraded: Record<string, number> = {}
  #isCounting = false

  constructor(counts: ConnectionCounts) {
    this.#counts = counts
  }

  begin(): void {
    this.#isCounting = true
    this.#counts.begin()
  }

  /** A connection has closed. */
  note(connection: Connection<Exchange>): void {
    if (!this.#isCounting) return
    const { fate, kind, unfinishedAs, forcedAs, upgradedTo, endedAs = 'ended' } = connection
    kind.fates[fate]++
    if (forcedAs) this.#forced.push(forcedAs)
    if (upgradedTo) this.#upgraded[`${upgradedTo} ${endedAs}`] = (this.#upgraded[`${upgradedTo} ${endedAs}`] ?? 0) + 1
    if (fate === 'idleUnnotified' && unfinishedAs) this.unfinished.push(unfinishedAs)
  }

  /** @param open those that are there still: some of them are being ended by force */
  fates(open: Iterable<Connection<Exchange>>): ConnectionFates {
    const fates = { notified: 0, idleUnnotified: 0, ended: 0, forced: 0 }
    for (const kind of this.#counts.kinds) for (const fate of FATES) fates[fate] += kind.fates[fate]
    const byProtocol = this.#counts.fates()
    return {
      ...fates,
      forcedNames: this.#isCounting ? [...this.#forced, ...Array.from(open).flatMap(({ forcedAs }) => forcedAs ?? [])] : [],
      ...(Object.keys(this.#upgraded).length > 0 && { upgraded: { ...this.#upgraded } }),
      ...(byProtocol.length > 0 && { byProtocol }),
    }
  }
}

const FATES: readonly Fate[] = ['notified', 'idleUnnotified', 'ended', 'forced']
