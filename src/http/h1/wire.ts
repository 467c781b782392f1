import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { dropUnsent, isParsed } from '../../base/node-internals.ts'
import { type Carried, carriedBy } from '../carried.ts'
import type { Wire, WireAnswer, WireConnection, WireExchange } from '../ports.ts'
import { tlsOf } from '../tls/version.ts'
import { Lingering } from '../traffic/lingering.ts'
import type { TrafficPort } from '../transport.ts'
import { UpgradedWire } from '../upgraded/wire.ts'
import { fail, refuseHttp1 } from './answers.ts'
import { awaitHead, notifyBy } from './connection-close.ts'
import { hasBegun, isEventStream } from './response-head.ts'
import { boundBody } from './slow-body.ts'

/**
 * The key on the socket itself: a property costs the request path less than a look-up in a WeakMap.
 */
const WIRE: unique symbol = Symbol('quiesce.wire')

interface Tagged {
  [WIRE]?: Http1Wire
}

/**
 * One connection that speaks HTTP/1.1. Answers go out in the order of the requests, so that what is
 * behind an exchange is lost with it, and only the last answer may say that the connection closes
 * (`client-notification.ts`). It ends with its socket.
 */
export class Http1Wire implements Wire {
  readonly socket: Socket
  readonly connection: WireConnection
  readonly protocol = 'HTTP/1.1'
  readonly stage = undefined
  readonly notifiesAnyTime = false
  /**
   * An answer could not notify its client, because its head was sent too early; the next one does
   * for certain.
   */
  isOverdue = false
  /** A request that was answered before all of its body had come. The rest is not waited for. */
  unread: IncomingMessage | undefined = undefined
  readonly #carried: Carried
  /** How much was written when an upgrade arrived: more than that now is an answer begun. */
  #writtenBefore = 0
  /**
   * The same when the last request was answered, by whatever: more than that now is no answer to
   * one.
   */
  #writtenAsAnswers = 0
  readonly clock: Clock
  readonly server: Server
  #lingering: Lingering | undefined = undefined
  #hasClientFailed = false
  /** Until the last body of a request has to be there. */
  #bodyTimer: unknown

  /** @param connection that the socket goes on with; default: a new one */
  constructor(socket: Socket, traffic: TrafficPort, server: Server, connection?: WireConnection) {
    this.socket = socket
    this.server = server
    this.clock = traffic.clock
    this.#carried = carriedBy(socket)
    ;(socket as Tagged)[WIRE] = this
    socket.on('finish', onSocketFinish)
    socket.once('close', onSocketClose)
    this.connection = connection ?? traffic.opened(this)
    connection?.goOnWith(this)
  }

  get tls(): string {
    return tlsOf(this.socket)
  }

  get hasSent(): boolean {
    return this.#carried.bytesRead > 0
  }

  notifyBy(exchange: WireExchange): void {
    notifyBy(exchange, this)
  }

  notify(): void {}
  notifySoon(): void {}

  refuse(exchange: WireExchange, answer: WireAnswer): void {
    refuseHttp1(exchange, answer, this)
  }

  fail(exchange: WireExchange, answer: WireAnswer | undefined): void {
    fail(exchange, answer, this)
  }

  giveUp(exchange: WireExchange): void {
    if (!this.onlyWaits(exchange)) (exchange.response ?? this.socket).destroy()
  }

  /** Ends an upgrade that was refused by its own library, and left open. */
  askedToEnd(exchange: WireExchange): void {
    if (exchange.isUpgrade && this.hasBegun(exchange)) this.connection.linger()
  }

  hasBegun({ response }: WireExchange): boolean {
    return response ? hasBegun(response) : this.#carried.bytesWritten > this.#writtenBefore
  }

  isStreaming({ response }: WireExchange): boolean {
    return response !== undefined && !response.writableEnded && hasBegun(response)
  }

  streamsEvents({ response }: WireExchange): boolean {
    return response !== undefined && !response.writableEnded && isEventStream(response)
  }

  awaitHead(exchange: WireExchange): void {
    awaitHead(exchange)
  }

  onlyWaits(exchange: WireExchange): boolean {
    return exchange.response?.writableEnded === true && this.connection.outstanding.oldest !== exchange
  }

  /**
   * Whether its handler may still end the response. Excluded are: one that was piped, because what
   * is piped into a closed response never ends it; one that our side destroyed, which is what a
   * handler does that gives up; and one that waited behind another on its connection, whose end
   * node does not report.
   */
  mayStillEnd({ response }: WireExchange): boolean {
    return (
      response !== undefined &&
      !response.writableEnded &&
      this.#clientHasLeft &&
      response.errored === null &&
      response.socket !== null &&
      response.listenerCount('unpipe') === 0
    )
  }

  /**
   * Lets the socket linger from now on, whenever node would close it at once after a last response.
   * A socket closed with unread bytes in it resets its client, which may then lose the response
   * that it has just been sent.
   */
  closeGently(): void {
    this.socket.destroySoon = lingerInstead
  }

  onLateEnd({ response }: WireExchange, ended: () => void): void {
    if (!response) return
    // What node emits in the very step of `end()` when there is no socket left to send anything
    // [measured on Node 20 to 26], unless it keeps something to send.
    dropUnsent(response)
    response.once('prefinish', ended)
  }

  over({ request }: WireExchange): void {
    if (!request.complete) this.unread = request
    this.answered()
    if (this.#bodyTimer !== undefined && this.connection.isIdle) this.#clearBodyTimer()
  }

  /** What has been written so far are answers, also those of node to what no handler has seen. */
  answered(): void {
    this.#writtenAsAnswers = this.#carried.bytesWritten
  }

  /** Its client has sent what node cannot read, which was answered. */
  clientFailed(): void {
    this.#hasClientFailed = true
    this.answered()
  }

  /** An upgrade has arrived, and nothing of its answer is written. */
  upgrading(): void {
    this.#writtenBefore = this.#carried.bytesWritten
  }

  /**
   * A listener of `connection`, or a handler that goes on when it has answered, speaks for itself
   * on the socket: it has written what is no answer, or has read while node has no parser on it.
   */
  taken(): Wire | undefined {
    const { socket, connection } = this
    const isTaken = this.#carried.bytesWritten > this.#writtenAsAnswers || (!isParsed(socket) && this.hasSent)
    if (!isTaken || socket.writableEnded) return undefined
    const wire = new UpgradedWire(connection, this.clock)
    wire.endWhenStill()
    return wire
  }

  lostWith<E extends WireExchange>(outstanding: Iterable<E>, isMeant: (exchange: E) => boolean): readonly E[] {
    const all = [...outstanding]
    const first = all.findIndex(isMeant)
    return first < 0 ? [] : all.slice(first)
  }

  /**
   * Breaks off the connection: one answer cannot be taken back, because nothing can follow it on
   * its connection.
   */
  breakOff([first]: readonly WireExchange[]): 'closing' | 'destroyed' {
    return this.connection.outstanding.oldest === first ? 'destroyed' : 'closing'
  }

  linger(): void {
    this.#lingering = new Lingering(this.connection, this.clock, this.connection.outstanding.newest?.request ?? this.unread)
  }

  boundBody(exchange: WireExchange): void {
    // Only the last request may be on its way, and only once.
    if (this.connection.outstanding.newest !== exchange) return
    this.#clearBodyTimer()
    this.#bodyTimer = boundBody(exchange, this)
  }

  destroy(): void {
    this.#lingering?.cancel()
    this.socket.destroy()
  }

  replaced(): void {
    this.#lingering?.cancel()
    this.#clearBodyTimer()
    this.socket.off('finish', onSocketFinish)
    this.socket.off('close', onSocketClose)
  }

  /**
   * Our side has ended. When neither its client's end, or fault, nor ours has led to that, a
   * handler has answered on the socket itself, or hung up: nothing more can be answered on it.
   */
  finished(): void {
    if (this.socket.readableEnded || this.#hasClientFailed || this.connection.isEnding) return
    for (const exchange of [...this.connection.outstanding]) exchange.end()
  }

  closed(): void {
    this.#lingering?.cancel()
    this.#clearBodyTimer()
    for (const { response } of this.connection.outstanding) if (response?.socket === null) breakOffWaiting(response)
    this.connection.closed()
    // Node forgets it with its response: a handler that reads on would wait for ever [Node 20 to
    // 26].
    if (this.unread?.complete === false) this.unread.destroy(aborted())
  }

  #clearBodyTimer(): void {
    if (this.#bodyTimer !== undefined) this.clock.clearTimeout(this.#bodyTimer)
    this.#bodyTimer = undefined
  }

  /**
   * Whether its client has ended or broken it off: one that only we have closed has no sign of its
   * client.
   */
  get #clientHasLeft(): boolean {
    return this.socket.readableEnded || this.socket.errored !== null
  }
}

/** The wire that a socket was given, if any. */
export function http1WireOf(socket: Socket): Http1Wire | undefined {
  return (socket as Tagged)[WIRE]
}

/**
 * Ends a response that waits behind another on a connection that has closed, which its handler
 * would wait for without end [Node 20 and 22; node does it from 24 on].
 */
function breakOffWaiting(response: ServerResponse): void {
  response.destroy(aborted())
  process.nextTick(() => {
    if (!response.closed) response.emit('close')
  })
}

/** What node has for a request that breaks off before its response is sent. */
const aborted = (): Error => Object.assign(new Error('aborted'), { code: 'ECONNRESET' })

function onSocketFinish(this: Socket): void {
  http1WireOf(this)?.finished()
}

function onSocketClose(this: Socket): void {
  http1WireOf(this)?.closed()
}

function lingerInstead(this: Socket): void {
  http1WireOf(this)?.connection.linger()
}
