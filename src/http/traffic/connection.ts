import type { Clock } from '../../base/clock.ts'
import type { Straggler } from '../../base/events.ts'
import type { ConnectionProtocol } from '../../base/protocol.ts'
import { afterPoll } from '../after-poll.ts'
import type { Passing } from '../chain.ts'
import type { Wire, WireConnection, WireExchange } from '../ports.ts'
import type { ConnectionCounts, ConnectionKind, Fate } from './connection-counts.ts'
import { ExchangeList } from './exchange-list.ts'

/** An exchange, as the connection sees it that it is outstanding on. */
interface OnConnection<Self> extends WireExchange, Passing {
  readonly isAwaited: boolean
  readonly isMoving: boolean
  older: Self | undefined
  newer: Self | undefined
}

/**
 * One connection of a server, from its accept to its end, with the exchanges that are outstanding
 * on it: several when the client does not wait for answers. What is done on it does its {@link
 * Wire}; here stands what is known of it.
 */
export class Connection<E extends OnConnection<E>> implements WireConnection {
  /** `clock.now()` when it was first seen. */
  readonly openedAt: number
  readonly outstanding = new ExchangeList<E>()
  /** Whether it was opened while clients were notified: its client may have been one of them. */
  cameLate = false
  /** Whether it ever had a request. */
  isUsed = false
  /** `clock.now()` when it became idle in the last call, without having been told. */
  idleSince: number | undefined = undefined
  /** Whether it closes by force as soon as what is outstanding is over. */
  isBrokenOff = false
  /** The protocol that it goes on with after an upgrade, when that is known: `WebSocket`. */
  upgradedTo: string | undefined = undefined
  /** How it ended in the words of that protocol: `closed 1001`. */
  endedAs: string | undefined = undefined
  /** What it was called when it was decided to end it by force. */
  forcedAs: Straggler | undefined = undefined
  /**
   * Its name when it was closed as idle while its wire was at work without a request, such as a TLS
   * handshake; a closed socket has no address that could be asked later.
   */
  unfinishedAs: Straggler | undefined = undefined
  #wire: Wire
  #kind: ConnectionKind
  readonly #clock: Clock
  readonly #onClosed: (connection: Connection<E>) => void
  readonly #counts: ConnectionCounts
  #wasNotified = false
  /** Its turn to be told has come. */
  #isDue = false
  #turn: unknown
  #isEnding = false
  #isEndedIdle = false
  #isForced = false
  #isClosed = false
  /** A handler speaks a protocol of its own on it, without a request. */
  #isTaken = false
  #undelivered = 0
  #patience: unknown
  #release: (() => void) | undefined

  constructor(wire: Wire, clock: Clock, onClosed: (connection: Connection<E>) => void, counts: ConnectionCounts) {
    this.#counts = counts
    this.#kind = counts.kindOf(wire)
    this.#kind.open++
    this.#wire = wire
    this.#clock = clock
    this.openedAt = clock.now()
    this.#onClosed = onClosed
  }

  get wire(): Wire {
    return this.#wire
  }

  /** Goes on with this wire: the connection has changed its protocol. */
  goOnWith(wire: Wire): void {
    this.#wire.replaced()
    this.#wire = wire
    this.unfinishedAs = undefined
    if (!this.#isClosed) {
      this.#kind.open--
      this.#kind = this.#counts.kindOf(wire)
      this.#kind.open++
    }
    if (this.#isEnding) wire.linger()
  }

  /** Its protocol now, or the last one; the connections of one protocol share this count. */
  get kind(): ConnectionKind {
    return this.#kind
  }

  get connectionProtocol(): ConnectionProtocol {
    const { protocol, tls } = this.#kind
    return { protocol, tls }
  }

  /** Its client has been told that the connection closes: no later request is looked at. */
  get wasNotified(): boolean {
    return this.#wasNotified
  }

  /** Its wire has told its client that it closes. A second call does nothing. */
  noteNotified(): void {
    if (this.#wasNotified) return
    this.#wasNotified = true
    this.#clearTurn()
  }

  /** Its turn to be told has come, and its wire tells it as soon as it can. */
  get isDue(): boolean {
    return this.#isDue
  }

  /**
   * Gives it its turn to be notified in `ms`, by a wire that can do so without an answer. A later
   * call gives it another turn.
   */
  notifyIn(ms: number): void {
    if (this.#wasNotified) return
    this.#clearTurn()
    const notify = (): void => {
      this.#isDue = true
      this.#clearTurn()
      if (!this.#isEnding) this.#wire.notifySoon()
    }
    if (ms > 0) this.#turn = this.#clock.setTimeout(notify, ms)
    else notify()
  }

  get isIdle(): boolean {
    return this.outstanding.newest === undefined
  }

  /** Whether its client has begun to send its first request, or its handshake. */
  get isHalfSent(): boolean {
    return !this.isUsed && this.#wire.hasSent
  }

  /**
   * False once its client knows, or will find out, that nothing more is answered here. @see RFC
   * 9112 section 9.6
   */
  get takesRequests(): boolean {
    return !this.wasNotified && !this.#isEnding
  }

  /**
   * Whether a request may be on its way that is not here yet: nothing is outstanding, and its
   * client does not know that it closes.
   */
  get mayBringRequest(): boolean {
    return this.isIdle && this.takesRequests && !this.#isClosed && !this.#isTaken
  }

  get fate(): Fate {
    if (this.#isForced) return 'forced'
    if (this.wasNotified) return 'notified'
    return this.#isEndedIdle ? 'idleUnnotified' : 'ended'
  }

  add(exchange: E): void {
    this.isUsed = true
    this.outstanding.add(exchange)
  }

  /** Closes it gently. A second call does nothing. */
  linger(): void {
    if (this.#isEnding || this.#wire.socket.destroyed) return
    this.#isEnding = true
    this.#clearPatience()
    this.#clearTurn()
    this.stopAwaiting()
    this.#wire.linger()
  }

  /**
   * Closes it gently although its client was not told; one that a handler has taken for a protocol
   * of its own, when nothing moves on it any more. One that can be told now is, and has the time to
   * hear of it.
   */
  endIdle(): void {
    if (this.#wire.notifiesAnyTime) {
      this.#wire.notify()
      this.stopAwaiting()
      if (this.#wasNotified) return
    }
    const taken = this.#wire.taken?.()
    if (taken) {
      this.#isTaken = true
      this.goOnWith(taken)
      return
    }
    this.#isEndedIdle = true
    if (this.#wire.stage) this.unfinishedAs = this.straggler(this.#clock.now())
    this.linger()
  }

  /**
   * The same in `ms`, unless it has a request then, or its client was told meanwhile. What has
   * arrived by then, and was not read because the event loop was busy, is looked at first.
   */
  endIdleIn(ms: number): void {
    this.#clearPatience()
    this.#patience = this.#clock.setTimeout(() => {
      void afterPoll().then(() => {
        if (this.mayBringRequest) this.endIdle()
      })
    }, ms)
  }

  /** Whether it is ended in a while, unless it has a request then. */
  get endsIdleLater(): boolean {
    return this.#patience !== undefined
  }

  /**
   * The drain waits for the requests that it is about to bring; those that are let in are counted
   * by themselves. A second call, while it does, changes nothing.
   * @param release ends that wait; called once: when what it has brought is over, or it ends
   */
  await(release: (() => void) | undefined): void {
    if (this.#release) release?.()
    else this.#release = release
  }

  /** Stops awaiting requests, when nothing is outstanding any more. A second call does nothing. */
  stopAwaiting(): void {
    const release = this.#release
    this.#release = undefined
    release?.()
  }

  /** Whether the drain waits for it, and for nothing on it that is counted by itself. */
  get isAwaited(): boolean {
    if (!this.#release) return false
    for (const { countedAs } of this.outstanding) if (countedAs !== 'nothing') return false
    return true
  }

  /** Whether it has requests that were not let in yet, nor refused. */
  get hasUnadmitted(): boolean {
    for (const { stepsPassed } of this.outstanding) if (stepsPassed === 0) return true
    return false
  }

  /** Closes it gently although something is on it, and what was answered before that arrives. */
  endByForce(): void {
    this.nameForced()
    this.#isForced = true
    this.linger()
  }

  /** Keeps the name that it has now, because it is going to end by force. */
  nameForced(): void {
    this.forcedAs ??= this.straggler(this.#clock.now())
  }

  /** Whether our side is ending, or has ended. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** What its client had not been sent when that was looked at. */
  get undelivered(): number {
    return this.#undelivered
  }

  noteUndelivered(bytes: number): void {
    this.#undelivered = bytes
  }

  /**
   * Whether its client loses something when it is destroyed: an answer that is still to come, or to
   * arrive, or what moves in a protocol that is not known. Other watches are the watch drain's
   * business.
   */
  get isOwed(): boolean {
    if (this.#undelivered > 0 || this.#wire.isMoving?.()) return true
    for (const exchange of this.outstanding) if (exchange.isAwaited || exchange.isMoving) return true
    return false
  }

  /**
   * Closes it at once. A connection that was told and has nothing outstanding and undelivered loses
   * nothing by that, and is not `forced`.
   */
  destroy(): void {
    this.#isForced = !(this.wasNotified && this.isIdle) || this.#undelivered > 0
    if (this.#isForced) this.nameForced()
    this.#wire.destroy()
  }

  /** `ADDRESS:PORT`, and the request that is on it, or how far it has come. */
  straggler(now: number): Straggler {
    const { socket, stage } = this.#wire
    const { remoteAddress = 'unknown', remotePort, remoteFamily } = socket
    const host = remoteFamily === 'IPv6' ? `[${remoteAddress}]` : remoteAddress
    const address = remotePort === undefined ? host : `${host}:${remotePort}`
    const beside = this.#isTaken ? 'another protocol' : this.isHalfSent ? 'half-sent request' : undefined
    const work = this.outstanding.oldest?.name ?? stage ?? beside
    return {
      name: work ? `${address} ${work}` : address,
      ageMs: now - this.openedAt,
      ...this.connectionProtocol,
      ...(this.#undelivered > 0 && { undeliveredBytes: this.#undelivered }),
    }
  }

  /**
   * A response that waits behind another one is never closed by node when its socket is: its
   * exchange ends here. A second call does nothing.
   */
  closed(): void {
    if (!this.#isClosed) this.#kind.open--
    this.#isClosed = true
    this.#clearPatience()
    this.#clearTurn()
    this.stopAwaiting()
    const { outstanding } = this
    while (outstanding.oldest) outstanding.oldest.end()
    this.#onClosed(this)
  }

  #clearTurn(): void {
    if (this.#turn !== undefined) this.#clock.clearTimeout(this.#turn)
    this.#turn = undefined
  }

  #clearPatience(): void {
    if (this.#patience !== undefined) this.#clock.clearTimeout(this.#patience)
    this.#patience = undefined
  }
}
