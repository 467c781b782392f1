import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Protocol } from '../../base/protocol.ts'
import type { Wire, WireAnswer, WireConnection, WireExchange } from '../ports.ts'
import { tlsOf } from '../tls/version.ts'
import { Lingering } from '../traffic/lingering.ts'
import { Movement, movedOn } from './movement.ts'

/**
 * A connection of a protocol of which nothing is known: a tunnel of CONNECT, what it was upgraded
 * to, or what a handler speaks on a socket that it has taken. It cannot be told in its own words,
 * and what it would lose cannot be known, so that it has something to lose as long as bytes move.
 *
 * In its turn it is looked at whether they do. When they stand still our side ends. What
 * is left is destroyed with the grace, and has lost what still moved. A handler that has asked for
 * its signal knows of all that, and has the grace to end by itself.
 *
 * What is about its request, and about those before it on the connection, stays the business of the
 * wire that it has replaced.
 */
export class UpgradedWire implements Wire {
  readonly socket: Socket
  readonly connection: WireConnection
  readonly protocol: Protocol = 'tunnel'
  readonly stage = undefined
  readonly notifiesAnyTime = false
  protected readonly clock: Clock
  protected readonly exchange: WireExchange | undefined
  readonly #before: Wire
  #movement: Movement | undefined
  #lingering: Lingering | undefined
  readonly #onClose = (): void => this.closed()

  /**
   * Takes the place of the wire that the connection has.
   * @param exchange by which it has changed its protocol; undefined: by none that is under way
   */
  constructor(connection: WireConnection, clock: Clock, exchange?: WireExchange) {
    this.exchange = exchange
    this.connection = connection
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

  isMoving(): boolean {
    return this.#movement?.isMoving ?? false
  }

  askedToEnd(exchange: WireExchange, _why: string, endBy: number): void {
    const leftMs = endBy - this.clock.now()
    // Without a grace there is no wait for its handler.
    if (exchange === this.exchange && !(leftMs > 0 && exchange.isSignalTaken)) this.endWhenStill(leftMs)
  }

  /** @param withinMs until it is broken off; default: nothing says when */
  endWhenStill(withinMs?: number): void {
    this.#movement ??= new Movement(this.clock, {
      moved: () => movedOn(this.socket),
      still: () => {
        this.#movement = undefined
        // It has a request, after all, which is answered first.
        if (!this.exchange && !this.connection.isIdle) this.endWhenStill()
        else this.connection.endIdle()
      },
      withinMs,
    })
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
    this.#movement?.cancel()
    this.#lingering?.cancel()
  }

  // What is about a request.

  notify(): void {}
  notifySoon(): void {}

  notifyBy(exchange: WireExchange): void {
    this.#before.notifyBy(exchange)
  }

  refuse(exchange: WireExchange, answer: WireAnswer): void {
    this.#before.refuse(exchange, answer)
  }

  fail(exchange: WireExchange, answer: WireAnswer | undefined): void {
    this.#before.fail(exchange, answer)
  }

  giveUp(exchange: WireExchange): void {
    this.#before.giveUp(exchange)
  }

  hasBegun(exchange: WireExchange): boolean {
    return this.#before.hasBegun(exchange)
  }

  isStreaming(exchange: WireExchange): boolean {
    return this.#before.isStreaming(exchange)
  }

  streamsEvents(exchange: WireExchange): boolean {
    return this.#before.streamsEvents(exchange)
  }

  awaitHead(exchange: WireExchange): void {
    this.#before.awaitHead(exchange)
  }

  onlyWaits(exchange: WireExchange): boolean {
    return this.#before.onlyWaits(exchange)
  }

  mayStillEnd(exchange: WireExchange): boolean {
    return this.#before.mayStillEnd(exchange)
  }

  onLateEnd(exchange: WireExchange, ended: () => void): void {
    this.#before.onLateEnd(exchange, ended)
  }

  over(exchange: WireExchange): void {
    this.#before.over(exchange)
  }

  lostWith<E extends WireExchange>(outstanding: Iterable<E>, isMeant: (exchange: E) => boolean): readonly E[] {
    return this.#before.lostWith(outstanding, isMeant)
  }

  breakOff(lost: readonly WireExchange[]): 'open' | 'closing' | 'destroyed' {
    return this.#before.breakOff(lost)
  }
}
