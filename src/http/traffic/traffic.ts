import type { Server } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { Straggler } from '../../base/events.ts'
import type { NotifyClientsPlan } from '../../machines/phases/notify-clients.ts'
import type { Reading, Transport } from '../transport.ts'
import { ClientNotification } from './client-notification.ts'
import { Connections, type Destroyed } from './connections.ts'
import { TrafficDrains } from './drains.ts'
import { Holds } from './holds.ts'
import { InFlight, type LongRunning } from './in-flight.ts'
import { LastCall } from './last-call.ts'
import type { FailureAnswer } from './recovery.ts'
import { RequestChains, type RequestChainsOptions } from './request-chains.ts'
import { type CutHandlers, RunningHandlers } from './running-handlers.ts'
import { sentAway } from './sent-away.ts'
import { adminTrafficPort, type Kept, publicTrafficPort } from './traffic-ports.ts'
import { type Counts, TrafficSnapshot } from './traffic-snapshot.ts'

/** How a server is taken over. */
interface TakeOver {
  readonly admin?: boolean
  /** {@link Transport.open} */
  readonly idleMs?: number
  /** Whether quiesce has created it. */
  readonly isOwn?: boolean
}

export interface TrafficOptions extends RequestChainsOptions {
  readonly clock: Clock
  /**
   * Whether a request is expected to last and therefore is a watch; undefined: it is not known. An
   * upgrade always is. Must not throw.
   */
  readonly isLongRunning: LongRunning
  /** The protocol of a server. Throws when there is none for it. */
  readonly transportOf: (server: unknown) => Transport
  /** What is checked of each request of a server, its own or its owner's, before anything else. */
  readonly readingOf: (server: Server, isOwn: boolean) => Reading
  /** What failed handlers are answered for with. Default: a plain 500. */
  readonly failureAnswer?: FailureAnswer | undefined
}

/**
 * The traffic of one life, on one or more servers: what has been let in and is not over, and the
 * connections it came on. It counts, refuses, tells and ends; when to do which is the machines'
 * business, and how it is done on a connection that of its transport (`ports.ts`).
 *
 * Here its parts are connected, each of which has one duty: {@link RequestChains} lets in or
 * refuses, {@link InFlight} counts, {@link Connections} knows what is open, {@link
 * ClientNotification} who is told when, and so on. The request path goes through them by a port
 * (`traffic-ports.ts`): it reads plain fields and bumps plain counters, with one object per request
 * and no emission.
 */
export class Traffic {
  readonly lastCall: LastCall
  readonly drains: TrafficDrains
  readonly holds: Holds
  /** What there is now, for those who show it. */
  readonly snapshot: TrafficSnapshot
  readonly #clock: Clock
  readonly #transportOf: TrafficOptions['transportOf']
  readonly #readingOf: TrafficOptions['readingOf']
  readonly #kept: Kept

  constructor(options: TrafficOptions) {
    const { clock, mode, isLongRunning, transportOf, readingOf, record, random, exempt, failureAnswer } = options
    this.#clock = clock
    this.#transportOf = transportOf
    this.#readingOf = readingOf
    const connections = new Connections(clock)
    const inFlight = new InFlight(clock, mode, isLongRunning, exempt)
    const holds = new Holds(clock, inFlight.requests, record)
    const handlers = new RunningHandlers(clock, record)
    const chains = new RequestChains(inFlight, options)
    const lastCall = new LastCall(clock, connections, inFlight)
    this.holds = holds
    this.lastCall = lastCall
    this.drains = new TrafficDrains(clock, connections, inFlight, holds, handlers)
    this.snapshot = new TrafficSnapshot(clock, connections, inFlight, { holds, handlers, chains })
    this.#kept = {
      ...{ clock, record, failureAnswer, connections, chains, inFlight, holds, handlers, lastCall },
      adminConnections: new Connections(clock),
      notification: new ClientNotification(clock, random, mode, connections),
      sentAway: sentAway(clock, record),
    }
  }

  /**
   * Counts and refuses what arrives at `server` from now on. Connections that it has already are
   * known if their transport finds them, or else by their next request (`Transport.older` waits for
   * those that send none).
   *
   * On an `admin` server nothing is refused, counted or told, and its connections are kept apart;
   * steps that are `onAdmin` apply.
   * @returns gives the server back; what is under way stays counted, and its connections stay ours
   * @throws QuiesceError ERR_ALREADY_ATTACHED when the server is taken over already
   */
  takeOver(server: Server, { admin = false, idleMs = 0, isOwn = false }: TakeOver = {}): Disposable {
    const reading = this.#readingOf(server, isOwn)
    const traffic = admin ? adminTrafficPort(this.#kept, reading) : publicTrafficPort(this.#kept, reading)
    const gate = this.#transportOf(server).open(server, traffic, idleMs)
    let isOurs = true
    return {
      [Symbol.dispose]: () => {
        if (!isOurs) return
        isOurs = false
        gate.giveBack()
        void (admin ? this.#kept.adminConnections : this.#kept.connections).none().then(() => gate.connectionsGone())
      },
    }
  }

  /**
   * The same for a server of quiesce's own, which has no owner to be given back to: it is ours
   * until it has closed.
   */
  takeOverOwn(server: Server, options?: TakeOver): void {
    const gate = this.takeOver(server, { ...options, isOwn: true })
    server.once('close', () => gate[Symbol.dispose]())
  }

  // The steps of a shutdown, each called when its signal fires.

  /** ShutdownInitiated: from now on it counts how connections end, and notes the last request. */
  initiateShutdown(): void {
    this.#kept.chains.noteArrivalsFrom(this.#clock.now())
    this.#kept.connections.ends.begin()
  }

  /** {@link ClientNotification.begin} */
  beginNotifying(plan: NotifyClientsPlan): void {
    this.#kept.notification.begin(plan)
  }

  /** {@link ClientNotification.complete} */
  completeNotifying(): void {
    this.#kept.notification.complete()
  }

  /**
   * NotAcceptingNewRequest: from now on only exempt requests are let in, and those of the last
   * call.
   * @param lastCallMs how long each connection that was never told is held for a last request; 0,
   * the default: there is no last call
   * @param answersMs how long what is let in has to be answered; default: without a bound
   * @param cutMs until everything that is in flight is cut; default: never
   */
  stopAccepting(lastCallMs = 0, answersMs = Number.POSITIVE_INFINITY, cutMs = Number.POSITIVE_INFINITY): void {
    const now = this.#clock.now()
    this.lastCall.begin(lastCallMs, now + cutMs)
    this.#kept.inFlight.stopAccepting(lastCallMs, now + answersMs, now + cutMs)
  }

  /** {@link ClientNotification.listenersClosed} */
  listenersClosed(): void {
    this.#kept.notification.listenersClosed()
  }

  /**
   * Ends the upgraded connections that are left, gently, and names those whose clients were not
   * told. Only without a watch grace there are any: then nothing waits for them, and of themselves
   * they would last as long as their clients like. One in the middle of a transfer ends by itself,
   * when nothing moves on it any more.
   */
  endUpgraded(): void {
    const upgraded = [...this.#kept.connections.exchanges()].filter(({ isUpgrade }) => isUpgrade)
    const moving = new Set(upgraded.filter(({ isMoving }) => isMoving).map(({ connection }) => connection))
    for (const { connection } of upgraded) {
      if (moving.has(connection)) continue
      if (connection.wasNotified) connection.linger()
      else connection.endByForce()
    }
  }

  /** Resolves when no connection is left; admin connections do not count. */
  connectionsClosed(): Promise<void> {
    return this.#kept.connections.none()
  }

  /** Destroys every connection that is left. */
  destroyConnections(): Destroyed {
    return this.#kept.connections.destroy()
  }

  destroyAdminConnections(): void {
    this.#kept.adminConnections.destroy()
  }

  /**
   * Resolves when no handler runs whose promise is pending, or whose client has left before it
   * ended its response.
   */
  handlersDone(): Promise<void> {
    return this.#kept.handlers.none()
  }

  /** Handlers whose promise is pending, whether their response is still there or not. */
  runningHandlers(): Straggler[] {
    return this.#kept.handlers.running(this.#kept.connections.exchanges())
  }

  /** Names the handlers that run. From now on they are not waited for: what they answer is late. */
  cutHandlers(): CutHandlers {
    return this.#kept.handlers.cutAll(this.#kept.connections.exchanges())
  }

  /** What there is to do at this moment. */
  counts(): Counts {
    return this.snapshot.counts()
  }

  /** See {@link RequestChains.lastRequestMs}. */
  get lastRequestMs(): number | undefined {
    return this.#kept.chains.lastRequestMs
  }
}
