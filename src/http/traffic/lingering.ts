import type { Readable } from 'node:stream'
import type { Clock } from '../../base/clock.ts'
import type { WireConnection } from '../ports.ts'
import { hasSendQueue, lookAtSendQueues } from './send-queue.ts'

/**
 * How long a closing connection reads what its client still sends, and then waits for the client's
 * own end (V16), unless that is sent something still. What bounds the end of connections ends that,
 * too: the connection timeout, and the cut of connections.
 */
const LINGER_MS = 1000
/** How often it is looked whether a slow client has been sent everything. */
const LOOK_MS = 250

/** A request body, as node has it. */
type Body = Readable & { readonly complete: boolean }

/**
 * The gentle end of a socket, in steps, the same for every protocol: first reads the rest of a
 * request whose body is still arriving, for at most a second, then ends our side, then waits for
 * the client's end: at most a second, or until its system has acknowledged everything, where that
 * can be known. The end of a client that still sends is not waited for. Our own end stands behind
 * the data, which may take a slow client much longer than a second.
 *
 * It touches the socket of its connection, and notes what is undelivered.
 * @see RFC 9112 section 9.6, and
 * docs/decisions/0014-a-response-is-delivered-when-its-client-has-it.md
 */
export class Lingering {
  readonly #connection: WireConnection
  readonly #clock: Clock
  #bound: unknown

  /** @param body of a request whose rest may still be on its way */
  constructor(connection: WireConnection, clock: Clock, body?: Body) {
    this.#connection = connection
    this.#clock = clock
    if (body && !body.complete && !this.#socket.readableEnded) {
      body.once('end', () => this.#endOurSide())
      this.#bound = clock.setTimeout(() => this.#endNow(), LINGER_MS)
    } else this.#endOurSide()
  }

  /** The socket is closed, or no longer this one's to close. */
  cancel(): void {
    if (this.#bound !== undefined) this.#clock.clearTimeout(this.#bound)
    this.#bound = undefined
  }

  get #socket() {
    return this.#connection.wire.socket
  }

  #endOurSide(): void {
    if (this.#socket.destroyed) return
    this.cancel()
    this.#socket.end()
    this.#bound = this.#clock.setTimeout(() => void this.#endWhenDelivered(), LINGER_MS)
  }

  async #endWhenDelivered(): Promise<void> {
    const socket = this.#socket
    const undelivered = hasSendQueue(socket) ? (await lookAtSendQueues())(socket) : 0
    this.#connection.noteUndelivered(undelivered)
    if (socket.destroyed) return
    if (undelivered === 0) socket.destroy()
    else this.#bound = this.#clock.setTimeout(() => void this.#endWhenDelivered(), LOOK_MS)
  }

  /**
   * The client sends for too long: there is no wait for the rest of its request, nor for its end,
   * but for what it was answered.
   */
  #endNow(): void {
    this.#bound = undefined
    this.#socket.end(() => void this.#endWhenDelivered())
  }
}
