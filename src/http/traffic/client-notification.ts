import type { Clock } from '../../base/clock.ts'
import type { NotifyClientsPlan } from '../../machines/phases/notify-clients.ts'
import type { Mode } from '../../machines/wiring.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import type { Exchange } from './exchange.ts'

/**
 * Notify, then close (V6): from ShutdownInitiated on, a growing share of clients is told to leave,
 * so that they reconnect elsewhere before anything is closed under them. HTTP/1.1 clients are told
 * by an answer, HTTP/2 clients at any time. This class decides who is notified when; each transport
 * does it in its own way (`Wire.notifyBy`, `Wire.notify`).
 */
export class ClientNotification {
  /** Whether it has begun: answers tell, and connections have their turns. Latched. */
  hasBegun = false
  readonly #clock: Clock
  readonly #random: () => number
  readonly #mode: Mode
  readonly #connections: Connections
  #plan: NotifyClientsPlan | undefined
  #beganAt = 0
  #isComplete = false
  #haveListenersClosed = false

  constructor(clock: Clock, random: () => number, mode: Mode, connections: Connections) {
    this.#clock = clock
    this.#random = random
    this.#mode = mode
    this.#connections = connections
  }

  /**
   * Begins to notify clients in their answers, those to requests under way included. A second call
   * does nothing.
   */
  begin(plan: NotifyClientsPlan): void {
    if (this.hasBegun) return
    this.hasBegun = true
    this.#plan = plan
    this.#beganAt = this.#clock.now()
    for (const exchange of this.#connections.exchanges()) exchange.connection.wire.notifyBy(exchange)
    this.#giveTurns()
  }

  /**
   * Has every answer notify from now on. Clients that can be told without an answer are told, too,
   * but for those whose turns come in what is left of the delay.
   */
  complete(): void {
    this.begin({ how: 'at-once', delayMs: 0 })
    this.#isComplete = true
    if (!this.#isHalfway) this.#giveTurns()
  }

  /**
   * Nothing comes back any more: every client is told that can be at any time. What is under way
   * has no server behind it that would bound its body.
   */
  listenersClosed(): void {
    this.#haveListenersClosed = true
    for (const exchange of this.#connections.exchanges()) exchange.connection.wire.boundBody?.(exchange)
    if (this.hasBegun) this.#giveTurns()
  }

  /**
   * Marks a connection that opens while others are notified: its client may have been one of them.
   */
  opened(connection: Connection<Exchange>): void {
    if (this.hasBegun) connection.cameLate = true
  }

  /** A request has arrived. */
  arrived(exchange: Exchange): void {
    const { wire } = exchange.connection
    wire.notifyBy(exchange)
    if (this.#haveListenersClosed) wire.boundBody?.(exchange)
  }

  /** {@link TrafficPort.holdsBack} */
  holdsBack({ cameLate }: Connection<Exchange>, isQuick: boolean): boolean {
    return this.hasBegun && !this.#haveListenersClosed && (cameLate || (isQuick && this.#mode === 'refuse'))
  }

  /**
   * Whether one more client is told now.
   * @param isOverdue its turn has come before: it is told as soon as any are
   */
  draw(isOverdue: boolean): boolean {
    const probability = this.#probability
    return probability > 0 && (isOverdue || this.#random() < probability)
  }

  #giveTurns(): void {
    for (const connection of this.#connections) this.#giveTurn(connection)
  }

  /**
   * Draws for those alone that have turns: of the others each answer is drawn. One that would be
   * told now, or came while others were, is when the listeners have closed: before that its client
   * would only come back, and that is soon in the mode refuse.
   */
  #giveTurn(connection: Connection<Exchange>): void {
    if (!connection.wire.notifiesAnyTime) return
    const turn = this.#drawTurn()
    if (turn === undefined) return
    const comesBack = connection.cameLate || (this.#probability === 1 && this.#mode === 'refuse')
    if (this.#haveListenersClosed || !comesBack) connection.notifyIn(turn)
  }

  /**
   * The time in milliseconds until it is the turn of one more connection, when its client can be
   * told without an answer: spread over the second half of the delay, drawn anew with each call. A
   * proxy that sends the requests of many clients on one connection would lose what crosses a
   * GOAWAY; in the second half it has found out by itself, and sends nothing any more [measured].
   * Undefined: with {@link complete}.
   */
  #drawTurn(): number | undefined {
    if (this.#isComplete) return 0
    if (!this.#plan || this.#plan.how === 'after-delay') return undefined
    const { how, delayMs } = this.#plan
    if (how === 'at-once' || delayMs <= 0) return 0
    return Math.max(0, Math.ceil(((1 + this.#random()) * delayMs) / 2 - (this.#clock.now() - this.#beganAt)))
  }

  /** Whether half of a gradual delay is over, and was not cut short: turns are to come. */
  get #isHalfway(): boolean {
    if (this.#plan?.how !== 'gradual' || this.#plan.delayMs <= 0) return false
    return this.#clock.now() - this.#beganAt >= this.#plan.delayMs / 2
  }

  /** The share of answers that tell now. */
  get #probability(): number {
    if (this.#isComplete) return 1
    if (!this.#plan || this.#plan.how === 'after-delay') return 0
    const { how, delayMs } = this.#plan
    if (how === 'at-once' || delayMs <= 0) return 1
    return Math.min(1, (2 * (this.#clock.now() - this.#beganAt)) / delayMs)
  }
}
