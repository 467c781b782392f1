import type { Clock } from '../../base/clock.ts'
import { eachOf } from '../../base/each-of.ts'
import type { Straggler } from '../../base/events.ts'
import { afterPoll } from '../after-poll.ts'
import type { Wire } from '../ports.ts'
import { Connection } from './connection.ts'
import { ConnectionCounts } from './connection-counts.ts'
import { ConnectionEnds } from './connection-ends.ts'
import type { Exchange } from './exchange.ts'
import { lookAtSendQueuesNow } from './send-queue.ts'

/**
 * How long a connection that never had a request may take, from its beginning, to bring the head of
 * one, or to end its handshake, once idle connections are closed. Upstream gives it 5 s. @see
 * golang/go net/http server.go closeIdleConns
 */
const FIRST_HEAD_MS = 1_000

/** How idle connections are closed. */
export interface IdleClose {
  /** How long a connection is held that becomes idle later and was never told. */
  readonly lateCallMs: number
  /** Observes the step in which idle connections are ended. */
  readonly closing: () => void
  /**
   * Has the drain wait for a request that has so long to arrive. Returns what ends the wait;
   * undefined when it is not waited for, and refused.
   */
  readonly awaitArrival: (leftMs: number) => (() => void) | undefined
}

/** What became of connections that were destroyed. */
export interface Destroyed {
  /** The connections that were not at their end, by name. */
  readonly forced: Straggler[]
  /** How many of them had a client that had not had all of its answer. */
  readonly lost: number
}

/**
 * The connections of one or more servers. Our own set, because what node closes by itself differs
 * by version: a connection without a request survives `closeIdleConnections()` on Node 20 to 24,
 * one with half a request on all of them, and an upgraded one even `closeAllConnections()`.
 */
export class Connections {
  /** The counts by protocol. */
  readonly counts = new ConnectionCounts()
  readonly ends = new ConnectionEnds(this.counts)
  readonly #clock: Clock
  readonly #all = new Set<Connection<Exchange>>()
  readonly #whenNone = new Set<() => void>()
  readonly #onClosed = (connection: Connection<Exchange>): void => {
    if (this.#forget(connection)) this.#settle(connection)
  }
  #accepted = 0
  /** The close of idle connections, once it is done. */
  #idleClose: IdleClose | undefined
  /** The connections that the last call is held for, while it is. */
  #held: Set<Connection<Exchange>> | undefined
  #noneHeld: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#all.size
  }

  /** How many there have been. */
  get accepted(): number {
    return this.#accepted
  }

  [Symbol.iterator](): IterableIterator<Connection<Exchange>> {
    return this.#all.values()
  }

  /** The outstanding exchanges of all connections. */
  *exchanges(): Generator<Exchange> {
    for (const { outstanding } of this.#all) yield* outstanding
  }

  /** The exchanges that a drain waits for, by which one does. */
  *counted(as: Exchange['countedAs']): Generator<Exchange> {
    for (const exchange of this.exchanges()) if (exchange.countedAs === as) yield exchange
  }

  /** What the drain of watches waits for. */
  *members(): Generator<Exchange> {
    for (const exchange of this.exchanges()) if (exchange.member) yield exchange
  }

  /** Adds a connection. */
  opened(wire: Wire): Connection<Exchange> {
    const connection = new Connection<Exchange>(wire, this.#clock, this.#onClosed, this.counts)
    this.#all.add(connection)
    this.#accepted++
    this.#held?.add(connection)
    // It was there already: in the handshake of a stream that is no socket, for one.
    if (this.closesIdle) connection.endIdleIn(FIRST_HEAD_MS)
    return connection
  }

  /**
   * Whether {@link closeIdle} was called: an idle connection is there only because its client has
   * not left yet.
   */
  get closesIdle(): boolean {
    return this.#idleClose !== undefined
  }

  /**
   * Ends every connection that is idle, and from now on each one that becomes idle. A request that
   * has reached us is looked at first: it may still be in the kernel's buffer, so the event loop
   * gets time to poll before anything is ended. One with half of its first request, or of its
   * handshake, has {@link FIRST_HEAD_MS}; half of a later request is given up.
   */
  async closeIdle(how: IdleClose): Promise<void> {
    this.#idleClose = how
    await afterPoll()
    this.#held = undefined
    how.closing()
    for (const connection of this.#all) {
      // Read in the turn before this one.
      if (connection.hasUnadmitted) connection.await(how.awaitArrival(0))
      // One that has become idle in the meantime has a late call of its own.
      else if (!connection.endsIdleLater) {
        const leftMs = (connection.idleSince ?? Number.NEGATIVE_INFINITY) + how.lateCallMs - this.#clock.now()
        if (leftMs > 0 && connection.mayBringRequest) this.#endIn(leftMs, connection, how)
        else this.#endIfIdle(connection, how)
      }
    }
  }

  /** Resolves when no connection is left that may bring a request, at once if so. */
  noneIdle(): Promise<void> {
    const held = new Set<Connection<Exchange>>()
    this.#held = held
    for (const connection of this.#all) if (connection.mayBringRequest) held.add(connection)
    return new Promise((resolve) => {
      this.#noneHeld = resolve
      if (held.size === 0) resolve()
    })
  }

  /**
   * Breaks off what its wire has found to be lost; all of it is over then, and what is older is
   * answered first.
   */
  breakOff(connection: Connection<Exchange>, lost: readonly Exchange[]): void {
    const goesOn = connection.wire.breakOff(lost)
    if (goesOn === 'destroyed') {
      this.destroy((one) => one === connection)
      return
    }
    if (goesOn === 'closing') {
      connection.isBrokenOff = true
      connection.nameForced()
    }
    for (const exchange of lost) exchange.end()
  }

  /** An exchange has begun on its connection. */
  exchangeBegun(exchange: Exchange): void {
    const { connection } = exchange
    connection.add(exchange)
    this.#release(connection)
  }

  /**
   * An exchange is over, and no longer outstanding on its connection. To be called while it is
   * still counted: the drain goes on for what may come next on its connection.
   */
  exchangeOver(exchange: Exchange): void {
    const { connection } = exchange
    connection.wire.over(exchange)
    if (connection.isBrokenOff && connection.isIdle) connection.endByForce()
    if (this.#held && connection.mayBringRequest) {
      this.#held.add(connection)
      connection.idleSince = this.#clock.now()
    }
    if (!this.#idleClose) return
    if (connection.isIdle) connection.stopAwaiting()
    if (connection.mayBringRequest) this.#endLate(connection, this.#idleClose)
  }

  /** Resolves when there is none, at once if so. */
  none(): Promise<void> {
    if (this.#all.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenNone.add(resolve))
  }

  /** Destroys those that `which` picks. They are no longer ours when it returns. */
  destroy(which: (connection: Connection<Exchange>) => boolean = () => true): Destroyed {
    const forced: Straggler[] = []
    const chosen = [...this.#all].filter(which)
    const answered = chosen.filter(({ isEnding, isIdle, isUsed }) => isEnding || (isUsed && isIdle))
    if (answered.length > 0) {
      const undelivered = lookAtSendQueuesNow()
      for (const connection of answered) connection.noteUndelivered(undelivered(connection.wire.socket))
    }
    let lost = 0
    eachOf(chosen, (connection) => {
      if (connection.isOwed) lost++
      connection.destroy()
      if (connection.fate === 'forced' && connection.forcedAs) forced.push(connection.forcedAs)
      // What was on it is over now, not when the event loop comes round: its handlers are looked
      // for in the same step.
      connection.closed()
    })
    return { forced, lost }
  }

  /**
   * Its client was never told: a request may be on its way, as on every connection that the last
   * call is held for.
   */
  #endLate(connection: Connection<Exchange>, how: IdleClose): void {
    if (how.lateCallMs > 0) this.#endIn(how.lateCallMs, connection, how)
    else void afterPoll().then(() => this.#endIfIdle(connection, how))
  }

  #endIfIdle(connection: Connection<Exchange>, how: IdleClose): void {
    if (!connection.mayBringRequest) return
    const leftMs = connection.openedAt + FIRST_HEAD_MS - this.#clock.now()
    if (connection.isHalfSent && leftMs > 0) this.#endIn(leftMs, connection, how)
    else connection.endIdle()
  }

  #endIn(ms: number, connection: Connection<Exchange>, { awaitArrival }: IdleClose): void {
    connection.endIdleIn(ms)
    connection.await(awaitArrival(ms))
  }

  /** False when it was forgotten before. */
  #forget(connection: Connection<Exchange>): boolean {
    this.#release(connection)
    return this.#all.delete(connection)
  }

  /** The last call is not held for it any more. */
  #release(connection: Connection<Exchange>): void {
    if (this.#held?.delete(connection) && this.#held.size === 0) this.#noneHeld()
  }

  #settle(connection: Connection<Exchange>): void {
    this.ends.note(connection)
    if (this.#all.size > 0) return
    for (const resolve of this.#whenNone) resolve()
    this.#whenNone.clear()
  }
}
