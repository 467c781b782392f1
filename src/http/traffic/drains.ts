import type { Clock } from '../../base/clock.ts'
import type { Straggler } from '../../base/events.ts'
import type { CountedAs } from '../chain.ts'
import type { Connections } from './connections.ts'
import type { Holds } from './holds.ts'
import type { InFlight } from './in-flight.ts'
import type { RunningHandlers } from './running-handlers.ts'
import type { DrainResult } from './wait-group.ts'

/** What went when the watches that were left were broken off. */
export interface TerminatedWatches {
  readonly watches: Straggler[]
  /** Requests that were pipelined behind them. */
  readonly requests: Straggler[]
  /**
   * The requests, and the watches that had not been told to end, had no byte of an answer yet, or
   * moved bytes of a protocol that is not known.
   */
  readonly lost: number
}

/** What the drains of a life do with all that is in flight: wait for it, name it, break it off. */
export class TrafficDrains {
  readonly #clock: Clock
  readonly #connections: Connections
  readonly #inFlight: InFlight
  readonly #holds: Holds
  readonly #handlers: RunningHandlers

  constructor(clock: Clock, connections: Connections, inFlight: InFlight, holds: Holds, handlers: RunningHandlers) {
    this.#clock = clock
    this.#connections = connections
    this.#inFlight = inFlight
    this.#holds = holds
    this.#handlers = handlers
  }

  /**
   * What the request drain is about: requests and holds that were under way at
   * NotAcceptingNewRequest, and what was let in since.
   */
  get toDrain(): number {
    return this.#inFlight.toDrain
  }

  /** Lets no request and no hold in any more, and resolves when none is left. */
  requests(): Promise<void> {
    return this.#inFlight.drainRequests()
  }

  /** Requests that the drain waits for, and holds. */
  requestStragglers(): Straggler[] {
    return [...this.#named('request'), ...this.#holds.stragglers()]
  }

  watchStragglers(): Straggler[] {
    return this.#named('watch')
  }

  /** Aborts the signals of what the request drain waits for, and names it. Nothing is closed. */
  cutRequests(): Straggler[] {
    const stragglers = this.requestStragglers()
    this.#inFlight.endLateCalls()
    for (const exchange of this.#connections.counted('request')) exchange.askToEnd('the request drain is out of time')
    this.#holds.cut()
    return stragglers
  }

  /**
   * The same for good, before the budget is used up: connections are broken off with what is left
   * on them, and there is no wait for the handlers of that any more. What was asked for before it
   * on its connection is answered first.
   */
  breakOffRequests(): Straggler[] {
    const left = this.cutRequests()
    for (const connection of new Set(Array.from(this.#connections.counted('request'), (request) => request.connection))) {
      const cut = connection.wire.lostWith(connection.outstanding, ({ countedAs }) => countedAs === 'request')
      const now = this.#clock.now()
      left.push(...cut.filter(({ countedAs }) => countedAs === 'watch').map((watch) => watch.straggler(now)))
      this.#handlers.abandon(cut)
      this.#connections.breakOff(connection, cut)
    }
    return left
  }

  /**
   * Aborts the signals of the watches, one after the other within the first half of `graceMs` and
   * at most 5 ms apart, and resolves when they are over or `graceMs` is. With 0, all at once, and
   * waits for none.
   */
  watches(graceMs: number): Promise<DrainResult> {
    return this.#inFlight.drainWatches(graceMs)
  }

  /**
   * Breaks off what the drain of watches waits for, last requests included, with the connections,
   * and names it, and the requests that were pipelined behind watches and go with them. What was
   * asked for before a watch on its connection is answered first.
   */
  terminateWatches(): TerminatedWatches {
    this.#inFlight.endLateCalls()
    const now = this.#clock.now()
    const watches: Straggler[] = []
    const requests: Straggler[] = []
    let unserved = 0
    for (const connection of new Set(Array.from(this.#connections.members(), (exchange) => exchange.connection))) {
      const { wire } = connection
      // A watch that has ended and only waits for the request before it is sent with that.
      const cut = wire.lostWith(connection.outstanding, (exchange) => exchange.member !== undefined && !wire.onlyWaits(exchange))
      if (cut.length === 0) continue
      for (const exchange of cut) {
        const isRequest = exchange.countedAs === 'request'
        if (exchange.member) {
          watches.push(exchange.straggler(now))
          if (isRequest || !exchange.wasAskedToEnd || !exchange.hasBegunToAnswer || exchange.isMoving) unserved++
        } else if (isRequest) requests.push(exchange.straggler(now))
        if (isRequest) exchange.askToEnd('the watch drain is out of time')
      }
      this.#handlers.cut(cut)
      this.#connections.breakOff(connection, cut)
    }
    return { watches, requests, lost: unserved + requests.length }
  }

  #named(as: CountedAs): Straggler[] {
    const now = this.#clock.now()
    return Array.from(this.#connections.counted(as), (exchange) => exchange.straggler(now))
  }
}
