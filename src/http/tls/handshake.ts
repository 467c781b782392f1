import { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { acceptedOf } from '../../base/node-internals.ts'
import type { Wire, WireConnection } from '../ports.ts'
import { Lingering } from '../traffic/lingering.ts'
import type { TrafficPort } from '../transport.ts'

/**
 * The TLS handshakes that one server has under way: connections like others, without a request.
 * Node makes another socket of the accepted one, which it has as its parent.
 */
export class Handshakes {
  readonly #traffic: TrafficPort
  readonly #bySocket = new Map<unknown, Handshake>()

  constructor(traffic: TrafficPort) {
    this.#traffic = traffic
  }

  /**
   * Begins a handshake, when the server has accepted a socket, or was given one that is closed by
   * now.
   */
  begun(socket: Socket): void {
    // Of any other stream node makes a socket of its own: it is known from its handshake's end on.
    if (socket instanceof Socket && !socket.closed)
      this.#bySocket.set(socket, new Handshake(socket, this.#traffic, () => this.#bySocket.delete(socket)))
  }

  /**
   * The connection whose handshake has made this socket, which goes on with the wire of its
   * protocol.
   */
  ended(socket: Socket): WireConnection | undefined {
    const accepted = acceptedOf(socket)
    const handshake = this.#bySocket.get(accepted)
    this.#bySocket.delete(accepted)
    return handshake?.connection
  }
}

/** A connection before its protocol is known: it can only be closed. */
class Handshake implements Wire {
  readonly socket: Socket
  readonly connection: WireConnection
  readonly protocol = 'TLS handshake'
  readonly tls = 'pending'
  readonly stage = 'TLS handshake'
  /** Its turn is given now, and counts when its protocol is known. */
  readonly notifiesAnyTime = true
  readonly #clock: Clock
  readonly #onClose: () => void
  #lingering: Lingering | undefined

  constructor(socket: Socket, traffic: TrafficPort, failed: () => void) {
    this.socket = socket
    this.#clock = traffic.clock
    this.connection = traffic.opened(this)
    this.#onClose = () => {
      this.#lingering?.cancel()
      failed()
      this.connection.closed()
    }
    socket.once('close', this.#onClose)
  }

  get hasSent(): boolean {
    return this.socket.bytesRead > 0
  }

  linger(): void {
    this.#lingering = new Lingering(this.connection, this.#clock)
  }

  destroy(): void {
    this.#lingering?.cancel()
    this.socket.destroy()
  }

  replaced(): void {
    this.#lingering?.cancel()
    this.socket.off('close', this.#onClose)
  }

  // No request comes before a handshake has ended.

  notify(): void {}
  notifySoon(): void {}
  notifyBy(): void {}
  refuse(): void {}
  fail(): void {}
  giveUp(): void {}
  onLateEnd(): void {}
  over(): void {}
  awaitHead(): void {}

  hasBegun(): boolean {
    return false
  }

  isStreaming(): boolean {
    return false
  }

  streamsEvents(): boolean {
    return false
  }

  onlyWaits(): boolean {
    return false
  }

  mayStillEnd(): boolean {
    return false
  }

  lostWith(): readonly [] {
    return []
  }

  breakOff(): 'destroyed' {
    return 'destroyed'
  }
}
