import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Protocol } from '../../base/spoken.ts'
import { tlsOf } from '../tls/version.ts'
import type { Connection } from '../traffic/connection.ts'
import type { Exchange } from '../traffic/exchange.ts'
import { Lingering } from '../traffic/lingering.ts'
import type { Wire, WireAnswer } from '../wire.ts'

/**
 * A connection after its upgrade, of a protocol of which nothing is known, as a tunnel of CONNECT.
 * A handler that has asked for its signal ends it within the grace; of any other nothing is to be
 * expected, and our side ends in its turn, by name. Either way it is destroyed with the grace.
 *
 * What is about its request, and about those before it on the connection, stays the business of the
 * wire that it has replaced.
 */
export class UpgradedWire implements Wire {
  readonly socket: Socket
  readonly connection: Connection
  readonly protocol: Protocol = 'tunnel'
  readonly stage = undefined
  readonly tellsAnyTime = false
  protected readonly clock: Clock
  protected readonly exchange: Exchange
  readonly #before: Wire
  #lingering: Lingering | undefined
  readonly #onClose = (): void => this.closed()

  /** Takes the place of the wire that the connection has. */
  constructor(exchange: Exchange, clock: Clock) {
    this.exchange = exchange
    this.connection = exchange.connection
    this.#before = this.connection.wire
    this.socket = this.#before.socket
    this.clock = clock
    this.socket.once('close', this.#onClose)
  }

  get tls(): string {
    return tlsOf(this.socket)
  }

  get hasSent(): boolean {
    return true
  }

  askedToEnd(exchange: Exchange, _why: string, endBy: number): void {
    if (exchange !== this.exchange || exchange.isSignalTaken) return
    // Without a grace all of them are ended later, with the last connections.
    if (endBy > this.clock.now()) this.connection.endByForce()
  }

  linger(): void {
    this.end()
  }

  destroy(): void {
    this.cancel()
    this.socket.destroy()
  }

  replaced(): void {
    this.cancel()
    this.socket.off('close', this.#onClose)
  }

  /** The socket is closed. */
  protected closed(): void {
    this.cancel()
    this.connection.closed()
  }

  /** Ends our side, and waits a moment for the other one. */
  protected end(): void {
    this.#lingering ??= new Lingering(this.connection, this.clock)
  }

  /** Nothing is to happen any more. */
  protected cancel(): void {
    this.#lingering?.cancel()
  }

  // What is about a request.

  tell(): void {}

  tellBy(exchange: Exchange): void {
    this.#before.tellBy(exchange)
  }

  refuse(exchange: Exchange, answer: WireAnswer): void {
    this.#before.refuse(exchange, answer)
  }

  fail(exchange: Exchange, answer: WireAnswer | undefined): void {
    this.#before.fail(exchange, answer)
  }

  hasBegun(exchange: Exchange): boolean {
    return this.#before.hasBegun(exchange)
  }

  onlyWaits(exchange: Exchange): boolean {
    return this.#before.onlyWaits(exchange)
  }

  mayStillEnd(exchange: Exchange): boolean {
    return this.#before.mayStillEnd(exchange)
  }

  onLateEnd(exchange: Exchange, ended: () => void): void {
    this.#before.onLateEnd(exchange, ended)
  }

  over(exchange: Exchange): void {
    this.#before.over(exchange)
  }

  lostWith(isMeant: (exchange: Exchange) => boolean): readonly Exchange[] {
    return this.#before.lostWith(isMeant)
  }

  breakOff(lost: readonly Exchange[]): 'open' | 'closing' | 'destroyed' {
    return this.#before.breakOff(lost)
  }
}
