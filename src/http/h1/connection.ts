import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Straggler } from '../../base/events.ts'
import type { Exchange } from '../traffic/exchange.ts'
import { ExchangeList } from '../traffic/exchange-list.ts'
import { hasSendQueue, lookAtSendQueues } from './send-queue.ts'

/** On the socket itself: a property costs the request path less than a look-up in a WeakMap. */
const CONNECTION: unique symbol = Symbol('quiesce.connection')

/**
 * How long a closing connection reads what its client still sends, and then waits for the client's
 * own end (V16), unless that is sent something still. What bounds the end of connections ends that,
 * too: the connection timeout, and the cut of connections.
 */
const LINGER_MS = 1000
/** How often it is looked whether a slow client has been sent everything. */
const LOOK_MS = 250

/**
 * How a connection ended during the shutdown: `told` that it would close, by `Connection: close`; closed by us while idle
 * without having been told (`idleUntold`); `ended` by its client or by node; `forced`, with whatever was on it.
 */
export type Fate = 'told' | 'idleUntold' | 'ended' | 'forced'

/** One socket of a server, with the exchanges that are outstanding on it: several when the client pipelines. */
export class Connection {
  readonly socket: Socket
  /** `clock.now()` when it was first seen. */
  readonly openedAt: number
  readonly outstanding = new ExchangeList()
  /** Whether it ever had a request. */
  isUsed = false
  /** Its client has been told, in the head of a response, that the connection closes: no later request is looked at. */
  wasTold = false
  /** A response went out untold because its head was sent too early to tell; the next one tells for certain. */
  isOverdue = false
  /** It closes by force as soon as what is outstanding is over. */
  isBrokenOff = false
  /** A request that was answered before all of its body had come. The rest is not waited for. */
  unread: IncomingMessage | undefined
  readonly #clock: Clock
  readonly #onClosed: (connection: Connection) => void
  #isEnding = false
  #isEndedIdle = false
  #isForced = false
  #undelivered = 0
  #bound: unknown

  constructor(socket: Socket, clock: Clock, onClosed: (connection: Connection) => void) {
    this.socket = socket
    this.#clock = clock
    this.openedAt = clock.now()
    this.#onClosed = onClosed
    ;(socket as Tagged)[CONNECTION] = this
    socket.once('close', onSocketClose)
  }

  get isIdle(): boolean {
    return this.outstanding.newest === undefined
  }

  /**
   * Whether its client has ended or broken it off: one that only we have closed has no sign of its
   * client.
   */
  get clientHasLeft(): boolean {
    return this.socket.readableEnded || this.socket.errored !== null
  }

  /** Whether its client has begun to send its first request, or its handshake. */
  get isHalfSent(): boolean {
    return !this.isUsed && this.socket.bytesRead > 0
  }

  /** False once its client knows, or will find out, that nothing more is answered here. @see RFC 9112 section 9.6 */
  get takesRequests(): boolean {
    return !this.wasTold && !this.#isEnding
  }

  /** Whether a request may be on its way that is not here yet: nothing is outstanding, and its client does not know that it closes. */
  get mayBringRequest(): boolean {
    return this.isIdle && this.takesRequests
  }

  get fate(): Fate {
    if (this.#isForced) return 'forced'
    if (this.wasTold) return 'told'
    return this.#isEndedIdle ? 'idleUntold' : 'ended'
  }

  add(exchange: Exchange): void {
    this.isUsed = true
    // A request comes after the body of the one before it, which need not be kept.
    this.unread = undefined
    this.outstanding.add(exchange)
  }

  /**
   * From now on, whenever node would close the socket at once after a last response, it lingers instead. A socket closed
   * with unread bytes in it resets its client, which may then lose the response that it has just been sent.
   */
  closeGently(): void {
    this.socket.destroySoon = lingerInstead
  }

  /**
   * Closes in steps: first reads the rest of a request whose body is still arriving, for at most a
   * second, then ends our side, then waits for the client's end: at most a second, or until its
   * system has acknowledged everything, where that can be known. The end of a client that still
   * sends is not waited for. Our own end stands behind the data, which may take a slow client much
   * longer than a second. A second call does nothing.
   * @see RFC 9112 section 9.6, and docs/decisions/0014-a-response-is-delivered-when-its-client-has-it.md
   */
  linger(): void {
    if (this.#isEnding || this.socket.destroyed) return
    this.#isEnding = true
    this.#clearBound()
    const request = this.outstanding.newest?.request ?? this.unread
    if (request && !request.complete && !this.socket.readableEnded) {
      const endOurSide = (): void => this.#endOurSide()
      request.once('end', endOurSide)
      this.#bound = this.#clock.setTimeout(() => this.#endNow(), LINGER_MS)
    } else this.#endOurSide()
  }

  /** Closes it gently although its client was not told. */
  endIdle(): void {
    this.#isEndedIdle = true
    this.linger()
  }

  /** The same in `ms`, unless it has a request then, or its client was told meanwhile. */
  endIdleIn(ms: number): void {
    this.#clearBound()
    this.#bound = this.#clock.setTimeout(() => {
      if (this.mayBringRequest) this.endIdle()
    }, ms)
  }

  /** Closes it gently, so that the responses before what is lost on it arrive. */
  endByForce(): void {
    this.#isForced = true
    this.linger()
  }

  /** Whether our side is ending, or has ended. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** What its client had not been sent when that was looked at. */
  noteUndelivered(bytes: number): void {
    this.#undelivered = bytes
  }

  /** Whether its client loses something when it is destroyed: an answer that is still to come, or to arrive. Watches are the watch drain's business. */
  get isOwed(): boolean {
    if (this.#undelivered > 0) return true
    for (const exchange of this.outstanding) if (exchange.isAwaited) return true
    return false
  }

  /** Closes it at once. A connection that was told and has nothing outstanding and undelivered loses nothing by that, and is not `forced`. */
  destroy(): void {
    this.#isForced = !(this.wasTold && this.isIdle) || this.#undelivered > 0
    this.socket.destroy()
  }

  /** `ADDRESS:PORT`, and the request that is on it. */
  straggler(now: number): Straggler {
    const { remoteAddress = 'unknown', remotePort, remoteFamily } = this.socket
    const host = remoteFamily === 'IPv6' ? `[${remoteAddress}]` : remoteAddress
    const address = remotePort === undefined ? host : `${host}:${remotePort}`
    const { oldest } = this.outstanding
    return {
      name: oldest ? `${address} ${oldest.name}` : address,
      ageMs: now - this.openedAt,
      ...(this.#undelivered > 0 && { undeliveredBytes: this.#undelivered }),
    }
  }

  #endOurSide(): void {
    if (this.socket.destroyed) return
    this.#clearBound()
    this.socket.end()
    this.#bound = this.#clock.setTimeout(() => void this.#endWhenDelivered(), LINGER_MS)
  }

  async #endWhenDelivered(): Promise<void> {
    const { socket } = this
    if (hasSendQueue(socket)) this.noteUndelivered((await lookAtSendQueues())(socket))
    if (socket.destroyed) return
    if (this.#undelivered === 0) socket.destroy()
    else this.#bound = this.#clock.setTimeout(() => void this.#endWhenDelivered(), LOOK_MS)
  }

  /**
   * The client sends for too long: there is no wait for the rest of its request, nor for its end,
   * but for what it was answered.
   */
  #endNow(): void {
    this.#bound = undefined
    this.socket.end(() => void this.#endWhenDelivered())
  }

  #clearBound(): void {
    if (this.#bound !== undefined) this.#clock.clearTimeout(this.#bound)
    this.#bound = undefined
  }

  /** A response that waits behind another one is never closed by node when its socket is: its exchange ends here. */
  closed(): void {
    this.#clearBound()
    const { outstanding } = this
    while (outstanding.oldest) outstanding.oldest.end()
    this.#onClosed(this)
  }
}

interface Tagged {
  [CONNECTION]?: Connection
}

/** The connection that a socket was given, if any. */
export function connectionOf(socket: Socket): Connection | undefined {
  return (socket as Tagged)[CONNECTION]
}

function onSocketClose(this: Socket): void {
  connectionOf(this)?.closed()
}

function lingerInstead(this: Socket): void {
  connectionOf(this)?.linger()
}
