import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers'
import type { Clock } from '../../base/clock.ts'
import { wireExchangeOf } from '../exchange-of.ts'
import type { Wire, WireAnswer, WireConnection, WireExchange } from '../ports.ts'
import { tlsOf } from '../tls/version.ts'
import type { TrafficPort } from '../transport.ts'
import { breakStream, isBrokenOffHere, watchGivenUp, watchSessionEnd } from './broken-off.ts'
import { watchReset } from './client-reset.ts'
import { NO_ERROR, REFUSED_STREAM } from './error-codes.ts'
import { answerOn, ignore } from './exchange-objects.ts'
import { SOON_MS } from './flood-limits.ts'
import { isEnded, letGoOfExchange, mayStillEnd, onLateEnd, responseOf, streamOf } from './handler-end.ts'
import { Idling } from './idling.ts'
import { Leaving } from './leaving.ts'
import { ClientPace } from './pace.ts'
import { Patience } from './patience.ts'
import { Tunnels } from './tunnels.ts'

/** The key on the session itself: a property costs less than a look-up in a WeakMap. */
const WIRE: unique symbol = Symbol('quiesce.wire')

/** The mark of a stream whose reset by its client was counted. */
const RESET: unique symbol = Symbol('quiesce.reset')

interface Tagged {
  [WIRE]?: Http2Wire
  [RESET]?: true
}

/**
 * One connection that speaks HTTP/2. Its exchanges are streams, which are answered in any order and
 * end alone: what one of them loses costs the others nothing. It ends with its socket.
 */
export class Http2Wire implements Wire {
  readonly protocol = 'HTTP/2'
  readonly stage = undefined
  readonly notifiesAnyTime = true
  readonly socket: Socket
  readonly session: ServerHttp2Session
  readonly connection: WireConnection
  readonly pace = new ClientPace()
  /** How many are open in any direction. */
  #streams = 0
  /** Those that have closed, while listeners of that may still ask for what belongs to them. */
  readonly #closedStreams: ServerHttp2Stream[] = []
  readonly #letGo = (): void => {
    for (const stream of this.#closedStreams.splice(0)) letGoOfExchange(stream)
  }
  /** The number of the last stream that was handed over; 0: none was. */
  #lastHandedOver = 0
  readonly #clock: Clock
  readonly #traffic: TrafficPort
  readonly #leaving: Leaving
  readonly #idling: Idling | undefined
  #tunnels: Tunnels | undefined
  readonly #patience: Patience
  readonly #onClose = (): void => {
    this.#cancel()
    this.connection.closed()
  }
  /** The listener of all streams: it costs a stream less than to know its wire. */
  readonly #onStreamClose = onStreamCloseOf(this)
  readonly #onReset = (stream: ServerHttp2Stream): void => {
    this.#noteReset(stream)
    wireExchangeOf(stream)?.end()
  }

  /** @param connection that the session goes on with; default: a new one */
  constructor(
    session: ServerHttp2Session,
    socket: Socket,
    traffic: TrafficPort,
    { connection, idleMs }: { readonly connection: WireConnection | undefined; readonly idleMs: number },
  ) {
    this.session = session
    this.socket = socket
    ;(session as Tagged)[WIRE] = this
    this.#clock = traffic.clock
    this.#traffic = traffic
    this.#leaving = new Leaving(this, traffic.clock)
    socket.once('close', this.#onClose)
    session.once('goaway', () => this.#leaving.peerLeaves())
    this.connection = connection ?? traffic.opened(this)
    connection?.goOnWith(this)
    this.#patience = new Patience(this, traffic)
    const { outstanding } = this.connection
    watchSessionEnd(session, () => outstanding.oldest !== outstanding.newest)
    if (idleMs > 0) this.#idling = new Idling(this.connection, traffic.clock, idleMs)
  }

  get tls(): string {
    return tlsOf(this.socket)
  }

  /** Half of a request needs no patience: its client is told, and sends it elsewhere. */
  get hasSent(): boolean {
    return false
  }

  hasPromised(stream: ServerHttp2Stream): boolean {
    return this.connection.wasNotified && this.#leaving.hasPromised(stream.id as number)
  }

  notify(): void {
    this.#leaving.notify()
  }

  sendAway(code: number): void {
    this.#leaving.notify(code)
  }

  /**
   * Notifies soon, with an answer at once if its client asks in turn: it has nothing on its way
   * then.
   */
  notifySoon(withAnswer = false): void {
    if (this.#traffic.holdsBack(this.connection, !withAnswer && this.pace.isQuick)) return
    if (withAnswer && this.pace.isInTurn) this.notify()
    else this.#leaving.notifySoon()
  }

  /** The exchanges whose answers are awaited. */
  get owed(): readonly WireExchange[] {
    return [...this.connection.outstanding].filter(({ countedAs }) => countedAs !== 'watch')
  }

  /** A client is told when its turn has come, or with an answer that has to tell. */
  notifyBy(): void {}

  refuse(exchange: WireExchange, { status, headers, body }: WireAnswer): void {
    answerOn(streamOf(exchange), status, headers, body)
    // What it asks next would be refused, too.
    if (exchange.mustNotify && !this.#traffic.holdsBack(this.connection, false)) this.notify()
  }

  fail(exchange: WireExchange, answer: WireAnswer | undefined): void {
    const stream = streamOf(exchange)
    if (stream.headersSent || !answer) {
      // It may have failed in the step in which it was handed over.
      if (!isEnded(exchange)) afterThisStep(() => breakStream(stream))
    } else answerOn(stream, answer.status, answer.headers, answer.body)
  }

  askedToEnd(exchange: WireExchange, _why: string, endBy: number): void {
    const leftMs = endBy - this.#clock.now()
    // Without a grace there is no wait for its handler.
    if (!exchange.isUpgrade || (leftMs > 0 && exchange.isSignalTaken)) return
    this.#tunnels ??= new Tunnels(this.#clock, this.socket)
    this.#tunnels.endWhenStill(streamOf(exchange), leftMs)
  }

  isMoving(exchange?: WireExchange): boolean {
    return exchange !== undefined && (this.#tunnels?.isMoving(streamOf(exchange)) ?? false)
  }

  giveUp(exchange: WireExchange): void {
    afterThisStep(() => breakStream(streamOf(exchange)))
  }

  hasBegun(exchange: WireExchange): boolean {
    return streamOf(exchange).headersSent
  }

  isStreaming(exchange: WireExchange): boolean {
    return streamOf(exchange).headersSent && !isEnded(exchange)
  }

  streamsEvents(exchange: WireExchange): boolean {
    return responseOf(exchange)?.isEventStream === true && !isEnded(exchange)
  }

  awaitHead(exchange: WireExchange): void {
    if (this.hasBegun(exchange)) exchange.headWritten()
  }

  /** No answer waits for another one. */
  onlyWaits(): boolean {
    return false
  }

  mayStillEnd(exchange: WireExchange): boolean {
    return mayStillEnd(exchange)
  }

  onLateEnd(exchange: WireExchange, ended: () => void): void {
    onLateEnd(exchange, ended)
  }

  over({ mustNotify }: WireExchange): void {
    if (mustNotify) this.notifySoon(true)
    this.#leaving.answered()
    if (!this.connection.isIdle) return
    this.pace.answered()
    this.#idling?.begin()
    this.#leaving.ifIdle()
  }

  get hasStreams(): boolean {
    return this.#streams > 0
  }

  get lastHandedOver(): number {
    return this.#lastHandedOver
  }

  streamOpened(stream: ServerHttp2Stream): void {
    const { newest, oldest } = this.connection.outstanding
    this.pace.asked(newest === oldest)
    this.#streams++
    this.#lastHandedOver = stream.id ?? this.#lastHandedOver
    this.#leaving.asked()
    stream.on('close', this.#onStreamClose)
    watchReset(stream, this.#onReset)
    watchGivenUp(stream)
  }

  streamClosed(stream: ServerHttp2Stream): void {
    this.#noteReset(stream)
    // Of an answer that breaks off, node says nothing else. Of an exchange that is over, perhaps
    // only a handler is left: it has no connection any more.
    wireExchangeOf(stream)?.end()
    if (this.#closedStreams.push(stream) === 1) setImmediate(this.#letGo)
    this.#tunnels?.closed(stream)
    this.#streams--
    if (!this.hasStreams) this.#leaving.ifIdle()
  }

  lostWith<E extends WireExchange>(outstanding: Iterable<E>, isMeant: (exchange: E) => boolean): readonly E[] {
    return [...outstanding].filter(isMeant)
  }

  breakOff(lost: readonly WireExchange[]): 'open' {
    for (const exchange of lost) breakStream(streamOf(exchange))
    return 'open'
  }

  linger(): void {
    this.#leaving.close()
  }

  /**
   * A stream whose connection only closes has ended in order to node's client, which takes half of
   * an answer for the whole, and none for an empty one: so the streams are broken off first
   * [measured on Node 20 to 26]. Those that were given up in this step are, too.
   */
  destroy(): void {
    this.#cancel()
    const streams = [...this.connection.outstanding].map(streamOf)
    afterThisStep(() => {
      for (const stream of streams) breakStream(stream)
      // Node sends that in the second step from here.
      afterThisStep(() => afterThisStep(() => this.socket.destroy()))
    })
  }

  replaced(): void {
    this.#cancel()
    this.socket.off('close', this.#onClose)
  }

  /**
   * Whether it was broken off before it was answered: by its client, unless that was our side. One
   * that has lasted for a while has cost its client as much as one that is not reset.
   */
  #noteReset(stream: ServerHttp2Stream): void {
    const tagged = stream as Tagged
    if (!stream.aborted) {
      if (stream.rstCode === NO_ERROR) this.#patience.answered()
      return
    }
    if (isBrokenOffHere(stream) || tagged[RESET]) return
    tagged[RESET] = true
    const arrivedAt = wireExchangeOf(stream)?.arrivedAt
    if (arrivedAt === undefined || this.#clock.now() - arrivedAt < SOON_MS) this.#patience.demanded('resets')
  }

  #cancel(): void {
    this.#idling?.cancel()
    this.#leaving.cancel()
    this.#patience.cancel()
  }
}

function onStreamCloseOf(wire: Http2Wire): (this: ServerHttp2Stream) => void {
  return function () {
    wire.streamClosed(this)
  }
}

/** The wire of a session, if it has one. */
export const http2WireOf = (session: ServerHttp2Session): Http2Wire | undefined => (session as Tagged)[WIRE]

/**
 * Streams are handed over, and frames are heard, while node's library is still reading what the
 * client has sent. A RST_STREAM that is sent there and then frees the stream under it, and corrupts
 * the memory of the process [seen with valgrind on Node 20.20].
 */
const afterThisStep = (then: () => void): void => void setImmediate(then)

/** Answers that nothing was done about it, and that it may be sent again. */
export function refuseStream(stream: ServerHttp2Stream): void {
  stream.on('error', ignore)
  afterThisStep(() => {
    if (!stream.destroyed) stream.close(REFUSED_STREAM)
  })
}
