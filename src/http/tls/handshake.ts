import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Connection } from '../traffic/connection.ts'
import { Lingering } from '../traffic/lingering.ts'
import type { Keeper, Wire } from '../wire.ts'

/**
 * The TLS handshakes that one server has under way: connections like others, without a request.
 * Node makes another socket of the accepted one, which has the address of its client in common with
 * it; one that has no such address, of a Unix socket, is known from its handshake's end on.
 */
export class Handshakes {
  readonly #keeper: Keeper
  readonly #byPeer = new Map<string, Handshake>()

  constructor(keeper: Keeper) {
    this.#keeper = keeper
  }

  /** To be called when the server has accepted a socket. */
  begun(socket: Socket): void {
    const peer = peerOf(socket)
    if (peer === undefined) return
    const handshake = new Handshake(socket, this.#keeper, () => {
      if (this.#byPeer.get(peer) === handshake) this.#byPeer.delete(peer)
    })
    this.#byPeer.set(peer, handshake)
  }

  /**
   * The connection whose handshake has made this socket, which goes on with the wire of its
   * protocol.
   */
  ended(socket: Socket): Connection | undefined {
    const peer = this.#byPeer.size > 0 ? peerOf(socket) : undefined
    if (peer === undefined) return undefined
    const handshake = this.#byPeer.get(peer)
    this.#byPeer.delete(peer)
    return handshake?.connection
  }
}

/** A connection before its protocol is known: it can only be closed. */
class Handshake implements Wire {
  readonly socket: Socket
  readonly connection: Connection
  readonly protocol = 'TLS handshake'
  readonly tls = 'pending'
  readonly stage = 'TLS handshake'
  /** Not yet: its turn counts when its protocol is known. */
  readonly tellsAnyTime = true
  readonly #clock: Clock
  readonly #onClose: () => void
  #lingering: Lingering | undefined

  constructor(socket: Socket, keeper: Keeper, failed: () => void) {
    this.socket = socket
    this.#clock = keeper.clock
    this.connection = keeper.opened(this)
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

  tell(): void {}
  tellBy(): void {}
  refuse(): void {}
  fail(): void {}
  onLateEnd(): void {}
  over(): void {}

  hasBegun(): boolean {
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

/** Undefined for a socket that is closed, or not of a network. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string | undefined =>
  remotePort === undefined ? undefined : `${remoteAddress}:${remotePort}`
