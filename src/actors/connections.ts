import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Straggler } from '../events.ts'
import type { Clock } from './clock.ts'
import { Connection, connectionOf, type Fate } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { readingRequest } from './reading-request.ts'
import { lookAtSendQueuesNow } from './send-queue.ts'

/**
 * The connections of one or more servers. Our own set, because what node closes by itself differs by version: a connection
 * without a request survives `closeIdleConnections()` on Node 20 to 24, one with half a request on all of them, and an
 * upgraded one even `closeAllConnections()`.
 */
export class Connections {
  readonly #clock: Clock
  readonly #all = new Set<Connection>()
  readonly #fates: Record<Fate, number> = { told: 0, idleUntold: 0, ended: 0, forced: 0 }
  readonly #forced: Straggler[] = []
  readonly #whenNone = new Set<() => void>()
  readonly #onClosed = (connection: Connection): void => {
    if (this.#all.delete(connection)) this.#settle(connection)
  }
  #countsFates = false
  #closesIdle = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#all.size
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#all.values()
  }

  /** The outstanding exchanges of all connections. */
  *exchanges(): Generator<Exchange> {
    for (const { outstanding } of this.#all) yield* outstanding
  }

  /** The connection of a socket, tracked from now on if it was not yet. */
  of(socket: Socket): Connection {
    const known = connectionOf(socket)
    if (known) return known
    const connection = new Connection(socket, this.#clock, this.#onClosed)
    this.#all.add(connection)
    return connection
  }

  /** How the connections ended that were open when {@link countFates} was called, or opened since. */
  get fates(): Readonly<Record<Fate, number>> {
    return this.#fates
  }

  /** Those that were ended by force, by name. */
  get forced(): readonly Straggler[] {
    return this.#forced
  }

  /** Whether {@link closeIdle} was called: an idle connection is there only because its client has not left yet. */
  get closesIdle(): boolean {
    return this.#closesIdle
  }

  countFates(): void {
    this.#countsFates = true
    for (const connection of this.#all) connection.noteRead()
  }

  /**
   * Ends every connection that is idle, and from now on each one that becomes idle. A request that has reached us is looked
   * at first: it may still be in the kernel's buffer, so the event loop gets time to poll before anything is ended. One
   * with half a request stays, for whoever bounds the whole.
   *
   * @param servers those whose connections these are; one that was given back is not asked, and what its connections have read counts
   */
  closeIdle(servers: ReadonlySet<Server>): void {
    this.#closesIdle = true
    afterPoll(() => {
      if (servers.size > 0) this.#askNode(servers)
      for (const connection of this.#all) endIfIdle(connection)
    })
  }

  /** Ends a connection without its newest exchanges, which are over at once; the older ones get their responses before it closes. */
  breakOff(connection: Connection, newest: readonly Exchange[]): void {
    if (connection.outstanding.oldest === newest[0]) {
      this.destroy((one) => one === connection)
      return
    }
    connection.isBrokenOff = true
    if (this.#countsFates) this.#forced.push(connection.straggler(this.#clock.now()))
    for (const exchange of newest) exchange.end()
  }

  /** Ends a connection gently although something is on it, and names it. */
  endByForce(connection: Connection): void {
    if (this.#countsFates) this.#forced.push(connection.straggler(this.#clock.now()))
    connection.endByForce()
  }

  /** An exchange has begun on its connection. */
  exchangeBegun(exchange: Exchange): void {
    const { connection } = exchange
    connection.add(exchange)
    if (this.#countsFates) connection.noteRead()
  }

  /** An exchange is over, and no longer outstanding on its connection. */
  exchangeOver({ connection, request }: Exchange): void {
    if (!request.complete) connection.unread = request
    if (connection.isBrokenOff && connection.isIdle) connection.endByForce()
    if (!this.#countsFates) return
    // A body comes after the head. Without one, what has been read since is the beginning of another request.
    if (connection.isIdle && hasBody(request)) connection.noteRead()
    if (this.#closesIdle && connection.isIdle) afterPoll(() => endIfIdle(connection))
  }

  /** Resolves when there is none, at once if so. */
  none(): Promise<void> {
    if (this.#all.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenNone.add(resolve))
  }

  /** Destroys those that `which` picks, and names those that lost something by it. They are no longer ours when it returns. */
  destroy(which: (connection: Connection) => boolean = () => true): Straggler[] {
    const now = this.#clock.now()
    const forced: Straggler[] = []
    const chosen = [...this.#all].filter(which)
    const ending = chosen.filter(({ isEnding }) => isEnding)
    if (ending.length > 0) {
      const undelivered = lookAtSendQueuesNow()
      for (const connection of ending) connection.noteUndelivered(undelivered(connection.socket))
    }
    for (const connection of chosen) {
      const straggler = connection.straggler(now)
      connection.destroy()
      if (connection.fate === 'forced') forced.push(straggler)
      // What was on it is over now, not when the event loop comes round: its handlers are looked for in the same step.
      connection.closed()
    }
    if (this.#countsFates) this.#forced.push(...forced)
    return forced
  }

  /** Half of a request may have come long before anybody counted. */
  #askNode(servers: ReadonlySet<Server>): void {
    const reading = readingRequest(servers, new Set(Array.from(this.#all, ({ socket }) => socket)))
    for (const connection of this.#all) if (connection.isIdle) connection.noteRead(reading.has(connection.socket))
  }

  #settle(connection: Connection): void {
    if (this.#countsFates) this.#fates[connection.fate]++
    if (this.#all.size > 0) return
    for (const resolve of this.#whenNone) resolve()
    this.#whenNone.clear()
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

function endIfIdle(connection: Connection): void {
  if (connection.isIdle && connection.takesRequests && !connection.isHalfSent) connection.endIdle()
}

/** The first immediate may run before the loop has polled again, the second one cannot. */
function afterPoll(then: () => void): void {
  setImmediate(() => setImmediate(then))
}
