import { QuiesceError } from '../../base/errors.ts'
import type { Straggler } from '../../base/events.ts'
import type { ConnectionProtocol } from '../../base/protocol.ts'
import { pathAsSent } from '../../base/request-target.ts'
import type { CountedAs, ExchangeView, Passing } from '../chain.ts'
import { findBy, wireExchangeOf } from '../exchange-of.ts'
import type { WireExchange } from '../ports.ts'
import type { Connection } from './connection.ts'
import type { Member } from './wait-group.ts'

/** A name in a report is for people; a URL may have 16 KiB. */
const NAME_LENGTH_MAX = 200

/** What can be said of a request, in place of what its answer looks like. */
export type Declared = 'request' | 'watch'

/** Accounting callbacks of an exchange. */
export interface ExchangeObserver {
  /** Its response, or its socket if it has none, is closed. */
  over(exchange: Exchange): void
  /** A handler has returned a promise. */
  returned(exchange: Exchange, promise: PromiseLike<unknown>): void
  /** Work goes on after its answer. */
  goesOn(exchange: Exchange, work: PromiseLike<unknown>): void
  /** A step of the chain or a handler has thrown. */
  threw(exchange: Exchange, thrown: unknown): void
  /** Makes it a watch, as was said or as the rule for event streams has it. */
  moveToWatches(exchange: Exchange): void
  /** Makes it a request, as was said. */
  moveToRequests(exchange: Exchange): void
  /** Whether one more client is told to leave now; `isOverdue`: its turn has come before. */
  notifies(isOverdue: boolean): boolean
}

/**
 * One request with its response, from node's request event until the response is closed: what the
 * drain waits for. The handler's promise says less, because a framework returns before a stream has
 * been sent, and after its client has gone.
 *
 * What changes during its life is its owner's; steps of the chain see it as an {@link
 * ExchangeView}, and its transport as a {@link WireExchange}.
 */
export class Exchange implements WireExchange, Passing {
  readonly request: ExchangeView['request']
  /**
   * Undefined for an upgrade, whose handler gets the bare socket. For steps and for its wire: the
   * traffic does not touch it.
   */
  readonly response: ExchangeView['response']
  readonly connection: Connection<Exchange>
  /** `clock.now()` of the request event. */
  readonly arrivedAt: number
  readonly #observer: ExchangeObserver

  countedAs: CountedAs = 'nothing'
  /**
   * What `longRunning` has said that it is, or after that its handler, the last word of which
   * counts. Undefined: nothing was said, and the rule for event streams holds.
   */
  declaredAs: Declared | undefined = undefined
  stepsPassed = 0
  /** Its place among what the drain of watches waits for. */
  member: Member | undefined = undefined
  isOver = false
  /** Its answer has to tell the client that the connection closes. */
  mustNotify = false
  /**
   * How its handlers say that they are over: by a promise, or else by ending the response.
   * Undefined before they were called.
   */
  handling: 'callback' | 'promise' | undefined = undefined
  /** Promises returned by its handlers that have not settled and are waited for. */
  handlersRunning = 0
  /** Neighbours in the list that it is in. */
  older: Exchange | undefined = undefined
  newer: Exchange | undefined = undefined
  /**
   * Whether only a handler is left of it, perhaps for ever: it has a name, and no request, response
   * or connection any more.
   */
  isLongRunning = false
  #name: string | undefined = undefined
  /**
   * What was asked for, as it arrived: a router takes its own path off the URL, and programs put
   * values of any type there.
   */
  readonly #method: string
  #target: string
  #connectionProtocol: ConnectionProtocol | undefined = undefined
  #ending: AbortController | undefined = undefined
  #isSignalTaken = false
  #endReason: QuiesceError | undefined = undefined
  /** `clock.now()` until which its end is waited for once it was asked to. */
  #endBy = 0

  constructor(
    observer: ExchangeObserver,
    request: ExchangeView['request'],
    response: ExchangeView['response'],
    connection: Connection<Exchange>,
    arrivedAt: number,
  ) {
    this.#observer = observer
    this.request = request
    this.response = response
    this.connection = connection
    this.arrivedAt = arrivedAt
    const { method, url } = request
    this.#method = typeof method === 'string' ? method : 'GET'
    this.#target = typeof url === 'string' ? url : '/'
    findBy(request, this)
  }

  /**
   * `GET /path`, or `WebSocket /path` after an upgrade, without the query, which may hold secrets.
   */
  get name(): string {
    if (this.#name !== undefined) return this.#name
    const protocol = this.isUpgrade ? this.connection.upgradedTo : undefined
    const name = `${protocol ?? this.#method} ${pathAsSent(this.#target)}`
    return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name
  }

  /** The name for a caller that keeps it for long: a piece of a string keeps the whole of it. */
  copyName(): string {
    return Buffer.from(this.name).toString()
  }

  /**
   * Aborted when the handler has to come to its end. For what is over before the handler: it
   * promises nothing of that. Made when first asked for: few handlers ask.
   */
  get signal(): AbortSignal {
    if (!this.#ending) {
      this.#ending = new AbortController()
      if (this.#endReason) this.#ending.abort(this.#endReason)
    }
    return this.#ending.signal
  }

  /**
   * The same signal, for the handler, which promises by asking that it listens: if it streams
   * events, they have no end of their own, and it is a watch unless something else was said.
   */
  takeSignal(): AbortSignal {
    if (!this.#isSignalTaken) {
      this.#isSignalTaken = true
      if (!this.isOver && this.response) this.connection.wire.awaitHead(this)
    }
    return this.signal
  }

  /**
   * Learns from the wire that the head of its answer is written, of which {@link takeSignal} wants
   * to know.
   */
  headWritten(): void {
    if (this.isOver || this.declaredAs !== undefined) return
    if (this.connection.wire.streamsEvents(this)) this.#observer.moveToWatches(this)
  }

  /** Whether its answer was begun and not ended, and nothing says whether it ends by itself. */
  get isUndeclaredStream(): boolean {
    return this.#isUndeclared && this.connection.wire.isStreaming(this)
  }

  /** Whether `thrown` is only our own {@link askToEnd} coming back out of a handler. */
  wasAskedToEndWith(thrown: unknown): boolean {
    return thrown !== undefined && thrown === this.#endReason
  }

  /** Whether it is one that streams events: a drain gives it the time of any other request. */
  get isUndeclaredEventStream(): boolean {
    return this.#isUndeclared && this.connection.wire.streamsEvents(this)
  }

  get #isUndeclared(): boolean {
    return !this.isOver && this.countedAs === 'request' && this.declaredAs === undefined
  }

  /**
   * Tells the handler to come to its end, and then the wire, which may do the rest. A second call
   * does nothing.
   * @param why as the reason of its signal; a text becomes an ERR_ABORTED
   * @param endBy `clock.now()` until which that is waited for; default: nothing is
   */
  askToEnd(why: string | QuiesceError, endBy = 0): void {
    if (this.#endReason) return
    this.#endReason = typeof why === 'string' ? new QuiesceError('ERR_ABORTED', why) : why
    this.#endBy = endBy
    this.#ending?.abort(this.#endReason)
    this.notifyWire()
  }

  /** Tells its wire that it was asked to end, if it was; a new wire is told by the old one. */
  notifyWire(): void {
    if (this.#endReason) this.connection.wire.askedToEnd?.(this, this.#endReason.message, this.#endBy)
  }

  /** Whether a handler holds its signal, and so may have something to do before the end. */
  get isSignalTaken(): boolean {
    return this.#isSignalTaken
  }

  /** Whether anything hears of its end by a signal. */
  get isHeard(): boolean {
    return this.#ending !== undefined
  }

  /** Whether its handler was told to come to its end. */
  get wasAskedToEnd(): boolean {
    return this.#endReason !== undefined
  }

  /** Whether some of an answer was sent. */
  get hasBegunToAnswer(): boolean {
    return this.connection.wire.hasBegun(this)
  }

  get isUpgrade(): boolean {
    return this.response === undefined
  }

  /**
   * Whether an answer to it is awaited: not by a watch, which was told to end, nor by an upgrade
   * that was answered in one piece.
   */
  get isAwaited(): boolean {
    return this.countedAs !== 'watch' && !this.isUpgrade
  }

  /** See {@link Wire.isMoving}. */
  get isMoving(): boolean {
    return this.isUpgrade && this.connection.wire.isMoving?.(this) === true
  }

  /** Says what it is, whatever its answer looks like. Of an upgrade there is nothing to say. */
  declare(as: Declared): void {
    if (this.isOver) return
    this.declaredAs = as
    if (as === 'watch') this.#observer.moveToWatches(this)
    else this.#observer.moveToRequests(this)
  }

  /**
   * Whether its answer tells the client that the connection closes; asked by its wire at the last
   * moment at which that can be decided.
   * @param isOverdue an earlier answer on its connection should have told, and could not
   */
  shouldNotify(isOverdue: boolean): boolean {
    return this.mustNotify || this.#observer.notifies(isOverdue)
  }

  returned(promise: PromiseLike<unknown>): void {
    this.handling = 'promise'
    this.#observer.returned(this, promise)
  }

  /** Has the drain wait for work that goes on after the answer. */
  waitUntil(work: PromiseLike<unknown>): void {
    this.#observer.goesOn(this, work)
  }

  threw(thrown: unknown): void {
    this.#observer.threw(this, thrown)
  }

  /** Ends it in the books. A second call does nothing. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.connection.outstanding.remove(this)
    this.#observer.over(this)
  }

  /** Lets go of all but its name, or of that, too. It has to be over. */
  becomeLongRunning({ isNamed }: { readonly isNamed: boolean }): void {
    this.#name = isNamed ? this.copyName() : ''
    this.#connectionProtocol = this.connection.kind
    this.isLongRunning = true
    this.#target = ''
    Object.assign(this, { request: undefined, response: undefined, connection: undefined })
  }

  /** What its connection speaks. */
  get connectionProtocol(): ConnectionProtocol {
    const { protocol, tls } = this.#connectionProtocol ?? this.connection.kind
    return { protocol, tls }
  }

  straggler(now: number): Straggler {
    const { name, connectionProtocol } = this
    return { name, ageMs: now - this.arrivedAt, ...connectionProtocol, ...(this.isUndeclaredStream && { streaming: true }) }
  }
}

/** The exchange of node's request, or undefined when its server was not taken over. */
export function exchangeOf(request: object): Exchange | undefined {
  // What a transport finds there the traffic has made.
  return wireExchangeOf(request) as Exchange | undefined
}
