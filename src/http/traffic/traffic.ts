import type { Server } from 'node:net'
import { setImmediate } from 'node:timers'
import type { Clock } from '../../base/clock.ts'
import { errorRecord, type LifecycleFact, type Straggler } from '../../base/events.ts'
import type { SpokenCount, SpokenFates } from '../../base/spoken.ts'
import type { RefusalKind, Wording } from '../../base/wording.ts'
import type { TellPlan } from '../../machines/phases/tell.ts'
import type { Mode } from '../../machines/wiring.ts'
import { publishRefusal } from '../../report/diagnostics.ts'
import type { TrafficGauges } from '../../report/gauges.ts'
import { Chain, type ExchangeView, type PlacedStep, placeSteps } from '../chain.ts'
import type { Keeper, Reading, Transport } from '../transport.ts'
import { emptyAcceptQueue, type QueueSeal } from './accept-queue.ts'
import { balance, goawayDecider } from './balance.ts'
import type { Connection } from './connection.ts'
import { Connections, type Destroyed } from './connections.ts'
import { type Accounts, Exchange } from './exchange.ts'
import { isExempt } from './exempt.ts'
import { type HoldContext, Holds } from './holds.ts'
import { InFlight, type LongRunning } from './in-flight.ts'
import { oldest } from './oldest.ts'
import { type FailureAnswer, recover } from './recovery.ts'
import { buildRefusals, type Refusals, refuse, refuseUnread } from './refusal.ts'
import { type CutHandlers, type Outstanding, RunningHandlers } from './running-handlers.ts'
import type { Fate } from './tally.ts'
import { Telling } from './telling.ts'
import type { DrainResult } from './wait-group.ts'

/** How a server is taken over. */
interface TakeOver {
  readonly admin?: boolean
  /** {@link Transport.open} */
  readonly idleMs?: number
  /** Whether quiesce has created it. */
  readonly isOwn?: boolean
}

export interface TrafficOptions {
  readonly clock: Clock
  readonly mode: Mode
  /**
   * Whether a request is expected to last and therefore is a watch; undefined: it is not known. An
   * upgrade always is. Must not throw.
   */
  readonly isLongRunning: LongRunning
  /** The protocol of a server. Throws when there is none for it. */
  readonly transportOf: (server: unknown) => Transport
  /** What is checked of each request of a server, its own or its owner's, before anything else. */
  readonly readingOf: (server: Server, isOwn: boolean) => Reading
  readonly record: (fact: LifecycleFact) => void
  /** What refused requests are answered with. */
  readonly wording: Pick<Wording, 'refusals'>
  /** From 0 up to 1. */
  readonly random: () => number
  /**
   * Probability of a request to tell its client to leave, where that needs no answer. Default: 0.
   */
  readonly goawayChance?: number
  /** Paths that pass while new requests are refused, beside health and metrics. Default: none. */
  readonly exempt?: readonly string[]
  /** What failed handlers are answered for with. Default: a plain 500. */
  readonly failureAnswer?: FailureAnswer | undefined
  /** What requests pass beside the counting, with its place. Default: nothing. */
  readonly steps?: readonly PlacedStep[]
}

/**
 * `late`: a request that came after its connection had been told to close; it is not answered at
 * all. `hold`: work that is not HTTP, which was not begun.
 */
export type RejectionKind = RefusalKind | 'late' | 'hold'

/** What a life has to do at one moment: plain data. */
export interface Counts {
  /** In flight: what a drain waits for, without watches and holds. */
  readonly requests: number
  /**
   * Of the `requests`, the event streams of which nothing says whether they end by themselves: a
   * drain gives them the time of a request. `markWatch` makes one a watch, `markRequest` says that
   * it ends.
   */
  readonly eventStreams: number
  /**
   * Upgraded connections, requests that were marked as watches, and event streams whose handlers
   * have asked for their shutdown signal.
   */
  readonly watches: number
  readonly holds: number
  /**
   * Of those `open`, the admin listener's left out: `told` ones are being closed, `idle` ones have
   * nothing outstanding. `byProtocol`: the open ones by what they speak.
   */
  readonly connections: {
    readonly open: number
    readonly told: number
    readonly idle: number
    readonly byProtocol: readonly SpokenCount[]
  }
  /** Requests and holds refused since the life began, by kind. */
  readonly rejected: Readonly<Record<RejectionKind, number>>
}

/**
 * While the accept queue is emptied, the handlers of new requests wait, but no longer than this: to
 * accept is quick, and a handler that takes milliseconds would let its client, and others, fill the
 * queue again.
 */
const GATHERING_MS = 100

const SENT_AWAY = 'clients were disconnected because of what they send'

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

/** How connections ended since ShutdownInitiated, and the names of those that were forced. */
export type ConnectionFates = Readonly<Record<Fate, number>> & {
  readonly forcedNames: readonly Straggler[]
  /** Of those that had changed their protocol, in its words; not there when there were none. */
  readonly upgraded?: Readonly<Record<string, number>>
  /** By what they spoke last; not there when there were none. */
  readonly byProtocol?: readonly SpokenFates[]
}

/**
 * The traffic of one life, on one or more servers: what has been let in and is not over, and the
 * connections it came on. It counts, refuses, tells and ends; when to do which is the machines'
 * business, and how it is done on a connection that of its transport (wire.ts).
 *
 * The request path reads plain fields and bumps plain counters, with one object per request and no
 * emission.
 */
export class Traffic {
  /** What has begun. Latched: nothing here is ever taken back. */
  readonly state = { shutdownInitiated: false, telling: false, notAccepting: false }
  readonly #clock: Clock
  readonly #transportOf: TrafficOptions['transportOf']
  readonly #readingOf: TrafficOptions['readingOf']
  readonly #exempt: readonly string[]
  #initiatedAt = 0
  #lastArrivedAt: number | undefined
  readonly #record: (fact: LifecycleFact) => void
  readonly #failureAnswer: FailureAnswer | undefined
  readonly #mode: Mode
  #haveListenersClosed = false
  readonly #chain: Chain<Exchange>
  /** The places of the steps "count" and "retry-after" in it; -1: there is none. */
  readonly #countsAt: number
  readonly #retryAfterAt: number
  readonly #adminChain: Chain<Exchange>
  readonly #refusals: Refusals
  readonly #inFlight: InFlight
  readonly #holds: Holds
  readonly #handlers: RunningHandlers
  readonly #telling: Telling
  readonly #connections: Connections
  readonly #adminConnections: Connections
  #lastCallMs = 0
  /** `clock.now()` at which everything that is in flight is cut. */
  #cutAt = Number.POSITIVE_INFINITY
  /** Requests whose handlers wait until the accept queue is empty; undefined when none has to. */
  #waiting: (() => void)[] | undefined
  #acceptedBefore = 0
  /** Requests and holds that were under way at NotAcceptingNewRequest. */
  #underWay = 0
  #sentAwayCount = 0
  #sentAwaySaidAt = Number.NEGATIVE_INFINITY
  readonly #rejected: Record<RefusalKind | 'late', number> = { 'retry-after': 0, 'not-accepting': 0, watch: 0, late: 0 }

  constructor({
    clock,
    mode,
    isLongRunning,
    transportOf,
    readingOf,
    record,
    wording,
    random,
    goawayChance = 0,
    exempt = [],
    failureAnswer,
    steps = [],
  }: TrafficOptions) {
    this.#clock = clock
    this.#exempt = exempt
    this.#transportOf = transportOf
    this.#readingOf = readingOf
    this.#record = record
    this.#failureAnswer = failureAnswer
    this.#mode = mode
    const all = placeSteps<Exchange>([
      ...(mode === 'retry-after' ? [{ name: 'retry-after', admit: (exchange: Exchange) => this.#isNotSentAway(exchange) }] : []),
      { name: 'count', admit: (exchange) => this.#isLetIn(exchange) },
      ...(goawayChance > 0 ? [balance(goawayDecider(goawayChance, random))] : []),
      ...steps,
    ])
    const placed = all.filter(({ onPublic = true }) => onPublic)
    this.#countsAt = placed.findIndex(({ name }) => name === 'count')
    this.#retryAfterAt = placed.findIndex(({ name }) => name === 'retry-after')
    const failed = (step: string, error: unknown): void => record({ type: 'error', where: `step ${step}`, error: errorRecord(error) })
    this.#chain = new Chain(placed, failed)
    this.#adminChain = new Chain(
      all.filter(({ onAdmin }) => onAdmin),
      failed,
    )
    this.#refusals = buildRefusals(wording.refusals, (error) => record({ type: 'error', where: 'wording', error: errorRecord(error) }))
    this.#inFlight = new InFlight(clock, mode, isLongRunning, exempt)
    this.#holds = new Holds(clock, this.#inFlight.requests, record)
    this.#handlers = new RunningHandlers(clock, record)
    this.#telling = new Telling(clock, random)
    this.#connections = new Connections(clock)
    this.#adminConnections = new Connections(clock)
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
    const keeper = admin ? this.#adminKeeper(reading) : this.#keeper(reading)
    const gate = this.#transportOf(server).open(server, keeper, idleMs)
    let isOurs = true
    return {
      [Symbol.dispose]: () => {
        if (!isOurs) return
        isOurs = false
        gate.giveBack()
        void (admin ? this.#adminConnections : this.#connections).none().then(() => gate.connectionsGone())
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

  /** ShutdownInitiated: from now on it counts how connections end. */
  initiateShutdown(): void {
    this.state.shutdownInitiated = true
    this.#initiatedAt = this.#clock.now()
    this.#connections.countFates()
  }

  /**
   * Answers begin to tell clients to leave, those to requests under way included. A second call
   * does nothing.
   */
  beginTelling(plan: TellPlan): void {
    this.state.telling = true
    this.#telling.begin(plan)
    for (const exchange of this.#connections.exchanges()) exchange.connection.wire.tellBy(exchange)
    for (const connection of this.#connections) this.#tellInTurn(connection)
  }

  /** From now on every answer does, and every client that can be told without one is told. */
  completeTelling(): void {
    if (!this.state.telling) this.beginTelling({ how: 'at-once', delayMs: 0 })
    this.#telling.complete()
    for (const connection of this.#connections) this.#tellInTurn(connection)
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
    this.state.notAccepting = true
    this.#lastCallMs = lastCallMs
    this.#acceptedBefore = this.#connections.accepted
    this.#underWay = this.#inFlight.requestCount
    this.#cutAt = now + cutMs
    this.#inFlight.stopAccepting(lastCallMs, now + answersMs, now + cutMs)
  }

  /**
   * Calls `close` in the step in which the kernel has no connection left that it has accepted and
   * node has not.
   */
  async acceptQueued(close: () => void, signal: AbortSignal, seal?: QueueSeal): Promise<void> {
    const waiting: (() => void)[] = []
    this.#waiting = waiting
    // In the order in which they came; what comes from now on goes on by itself, behind them.
    const goOn = (): void => {
      if (this.#waiting !== waiting) return
      this.#waiting = undefined
      for (const pass of waiting) setImmediate(pass)
    }
    try {
      await emptyAcceptQueue({
        clock: this.#clock,
        accepted: () => this.#connections.accepted,
        close,
        seal,
        // What is let in then has its last call, and as long again to be answered.
        closesBy: this.#cutAt - 2 * this.#lastCallMs,
        signal,
        turned: (sinceMs) => {
          if (sinceMs >= GATHERING_MS) goOn()
        },
      })
    } finally {
      goOn()
    }
  }

  /** Nothing comes back any more: every client is told that can be at any time. */
  listenersClosed(): void {
    this.#haveListenersClosed = true
    if (this.state.telling) for (const connection of this.#connections) this.#tellInTurn(connection)
  }

  /** Resolves when no connection is left on which a request may be on its way. */
  lastCallHeeded(): Promise<void> {
    return this.#connections.noneIdle()
  }

  /**
   * What came since {@link stopAccepting}: connections, and requests that were let in. Undefined
   * without a last call.
   */
  get lastCall(): { readonly accepted: number; readonly answered: number } | undefined {
    if (this.#lastCallMs === 0) return undefined
    return { accepted: this.#connections.accepted - this.#acceptedBefore, answered: this.#inFlight.admittedLast }
  }

  /**
   * What the request drain is about: requests and holds that were under way at
   * NotAcceptingNewRequest, and what was let in since.
   */
  get toDrain(): number {
    return this.#underWay + this.#inFlight.admittedLast
  }

  /** Lets no request and no hold in any more, and resolves when none is left. */
  drainRequests(): Promise<void> {
    return this.#inFlight.drainRequests()
  }

  /** Requests that the drain waits for, and holds. */
  requestStragglers(): Straggler[] {
    return [...this.#stragglers('request'), ...this.#holds.stragglers()]
  }

  watchStragglers(): Straggler[] {
    return this.#stragglers('watch')
  }

  /** Aborts the signals of what the request drain waits for, and names it. Nothing is closed. */
  cutRequests(): Straggler[] {
    const stragglers = this.requestStragglers()
    this.#inFlight.endLateCalls()
    for (const exchange of this.#counted('request')) exchange.askToEnd('the request drain is out of time')
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
    for (const connection of new Set(Array.from(this.#counted('request'), (request) => request.connection))) {
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
  drainWatches(graceMs: number): Promise<DrainResult> {
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
    for (const connection of new Set(Array.from(this.#members(), (exchange) => exchange.connection))) {
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

  /** What the drain of watches waits for. */
  *#members(): Generator<Exchange> {
    for (const exchange of this.#connections.exchanges()) if (exchange.member) yield exchange
  }

  /**
   * Ends the last call, and with it idle connections, after a look at what they have sent already;
   * from now on every one that becomes idle. To be called when the listeners have closed.
   */
  closeIdleConnections(): Promise<void> {
    return this.#connections.closeIdle({
      lateCallMs: this.#lastCallMs,
      closing: () => this.#inFlight.endLastCall(),
      awaitArrival: (leftMs) => this.#inFlight.awaitArrival(leftMs),
    })
  }

  /**
   * Ends the upgraded connections that are left, gently, and names those whose clients were not
   * told. Only without a watch grace there are any: then nothing waits for them, and of themselves
   * they would last as long as their clients like. One in the middle of a transfer ends by itself,
   * when nothing moves on it any more.
   */
  endUpgraded(): void {
    const upgraded = [...this.#connections.exchanges()].filter(({ isUpgrade }) => isUpgrade)
    const moving = new Set(upgraded.filter(({ isMoving }) => isMoving).map(({ connection }) => connection))
    for (const { connection } of upgraded) {
      if (moving.has(connection)) continue
      if (connection.wasTold) connection.linger()
      else connection.endByForce()
    }
  }

  /** Resolves when no connection is left; admin connections do not count. */
  connectionsClosed(): Promise<void> {
    return this.#connections.none()
  }

  /** Destroys every connection that is left. */
  destroyConnections(): Destroyed {
    return this.#connections.destroy()
  }

  destroyAdminConnections(): void {
    this.#adminConnections.destroy()
  }

  connectionFates(): ConnectionFates {
    const { fates, forced, upgraded, fatesByProtocol: byProtocol } = this.#connections
    return {
      ...fates,
      forcedNames: forced,
      ...(Object.keys(upgraded).length > 0 && { upgraded: { ...upgraded } }),
      ...(byProtocol.length > 0 && { byProtocol }),
    }
  }

  /**
   * Milliseconds from {@link initiateShutdown} to the last request that arrived, whatever became of
   * it; what is exempt aside. Undefined when there was none.
   */
  get lastRequestMs(): number | undefined {
    return this.#lastArrivedAt === undefined ? undefined : Math.max(0, this.#lastArrivedAt - this.#initiatedAt)
  }

  /**
   * Connections that were closed while idle in the middle of a handshake, which has cost no
   * request.
   */
  unfinishedConnections(): readonly Straggler[] {
    return this.#connections.unfinished
  }

  /**
   * Resolves when no handler runs whose promise is pending, or whose client has left before it
   * ended its response.
   */
  handlersDone(): Promise<void> {
    return this.#handlers.none()
  }

  /** Handlers whose promise is pending, whether their response is still there or not. */
  runningHandlers(): Straggler[] {
    return this.#handlers.running(this.#connections.exchanges())
  }

  /** Names the handlers that run. From now on they are not waited for: what they answer is late. */
  cutHandlers(): CutHandlers {
    return this.#handlers.cutAll(this.#connections.exchanges())
  }

  /** What is not over, whether or not a drain waits for it. */
  underWay(): readonly ExchangeView[] {
    return [...this.#connections.exchanges()]
  }

  // For the user.

  /**
   * Work that is not HTTP joins the request drain: until it has settled, or with a name alone,
   * until the result is disposed of. Its signal is aborted when the drain is cut.
   * @throws QuiesceError ERR_NOT_ACCEPTING once the drain has begun, ERR_NAME_MISSING; given
   * `work`, it rejects instead
   */
  hold(name: string): Disposable
  hold<T>(name: string, work: (context: HoldContext) => T | PromiseLike<T>): Promise<T>
  hold<T>(name: string, work?: (context: HoldContext) => T | PromiseLike<T>): Disposable | Promise<T> {
    return work ? this.#holds.run(name, work) : this.#holds.take(name)
  }

  /** One run of recurring work; see {@link Holds.recur}. */
  recur(name: string, work: (context: HoldContext) => unknown): Promise<unknown> {
    return this.#holds.recur(name, work)
  }

  counts(): Counts {
    const holds = this.#holds.count
    let told = 0
    let idle = 0
    let eventStreams = 0
    for (const connection of this.#connections) {
      if (connection.wasTold) told++
      if (connection.isIdle) idle++
      for (const exchange of connection.outstanding) if (exchange.isUndeclaredEventStream) eventStreams++
    }
    return {
      requests: this.#inFlight.requestCount - holds,
      eventStreams,
      watches: this.#inFlight.watchCount,
      holds,
      connections: { open: this.#connections.size, told, idle, byProtocol: this.#openByProtocol() },
      rejected: { ...this.#rejected, hold: this.#holds.refused },
    }
  }

  /** Frameworks, and users, keep no promise of it: its failure is reported, and is no crash. */
  #goesOn(exchange: Exchange, work: PromiseLike<unknown>): void {
    const failed = (thrown: unknown): void => this.#record({ type: 'error', where: 'waitUntil', error: errorRecord(thrown) })
    this.join(`waitUntil ${exchange.name}`, Promise.resolve(work).then(undefined, failed))
  }

  /** See {@link Holds.join}. */
  join(name: string, work: PromiseLike<unknown>): void {
    this.#holds.join(name, work)
  }

  /**
   * How many connections speak what now, without a look at each; what was spoken before stays, with
   * none.
   */
  get connectionsByProtocol(): readonly SpokenCount[] {
    return this.#connections.byProtocol
  }

  /**
   * What an end has to wait for now, with at most `max` names of each kind. Looks at every
   * connection.
   */
  blocking(max: number): TrafficGauges {
    const now = this.#clock.now()
    const orphans = this.#handlers.orphans()
    const named = (all: Iterable<Outstanding>): Straggler[] =>
      oldest(all, max, ({ arrivedAt }) => arrivedAt).map(({ name, arrivedAt, spoken, isUndeclaredStream }) => ({
        name,
        ageMs: now - arrivedAt,
        ...spoken,
        ...(isUndeclaredStream && { streaming: true }),
      }))
    let active = 0
    let told = 0
    const awaited: Outstanding[] = []
    const empty: Connection<Exchange>[] = []
    for (const connection of this.#connections) {
      if (connection.wasTold) told++
      else if (!connection.isIdle) active++
      if (connection.isAwaited) {
        const { openedAt: arrivedAt, spoken } = connection
        awaited.push({ name: connection.straggler(now).name, arrivedAt, spoken })
      } else if (connection.isIdle && this.#connections.closesIdle && empty.length < max) empty.push(connection)
    }
    const { requests, eventStreams, watches, holds, rejected } = this.counts()
    // By the drain that waits for them.
    const waitedFor = [...this.#counted('request'), ...awaited]
    const areLate = this.#inFlight.areRequestsDrained
    return {
      requests,
      eventStreams,
      watches,
      holds,
      handlers: orphans.length,
      rejected,
      connections: { active, idle: this.#connections.size - active - told, told, byProtocol: this.#openByProtocol() },
      blocking: {
        requests: named(areLate ? [] : waitedFor),
        watches: named([...this.#counted('watch'), ...(areLate ? waitedFor : [])]),
        holds: this.#holds.stragglers().slice(0, max),
        handlers: named(orphans),
        connections: empty.map((connection) => connection.straggler(now)),
      },
    }
  }

  // What a gate asks.

  #keeper(reading: Reading): Keeper {
    const { state } = this
    const connections = this.#connections
    const accounts: Accounts = {
      over: (exchange) => this.#over(exchange),
      returned: (exchange, promise) => this.#handlers.track(exchange, promise),
      goesOn: (exchange, work) => this.#goesOn(exchange, work),
      threw: (exchange, thrown) => {
        if (!this.#handlers.failedLate(exchange, thrown)) recover(exchange, thrown, this.#record, this.#failureAnswer)
      },
      moveToWatches: (exchange) => this.#inFlight.moveToWatches(exchange),
      moveToRequests: (exchange) => this.#inFlight.moveToRequests(exchange),
      tells: (isOverdue) => this.#telling.draw(isOverdue),
    }
    return {
      clock: this.#clock,
      letsRequestsGather: () => state.telling,
      holdsBack: ({ cameLate }: Connection<Exchange>, isQuick) =>
        state.telling && !this.#haveListenersClosed && (cameLate || (isQuick && this.#mode === 'refuse')),
      letGoOn: (pass) => {
        if (this.#waiting) this.#waiting.push(pass)
        else setImmediate(pass)
      },
      opened: (wire) => {
        const connection = connections.opened(wire)
        if (state.telling) connection.cameLate = true
        return connection
      },
      arrived: (connection: Connection<Exchange>, request, response, isPromised) => {
        const exchange = this.#arrived(connections, accounts, connection, request, response, isPromised)
        if (exchange && state.telling) connection.wire.tellBy(exchange)
        return exchange
      },
      sentAway: (connection: Connection<Exchange>, why) => this.#sentAway(connection, why),
      holdsOver: () => this.#holds.over(),
      admit: (exchange: Exchange) => {
        const answer = reading(exchange.request)
        if (answer === undefined) return this.#admit(exchange)
        this.#inFlight.count(exchange)
        refuseUnread(exchange, answer)
        return false
      },
    }
  }

  #adminKeeper(reading: Reading): Keeper {
    const connections = this.#adminConnections
    const accounts: Accounts = {
      over: (exchange) => this.#adminChain.over(exchange),
      returned: (exchange, promise) => void Promise.resolve(promise).then(undefined, (thrown: unknown) => exchange.threw(thrown)),
      goesOn: (exchange, work) => this.#goesOn(exchange, work),
      threw: (exchange, thrown) => recover(exchange, thrown, this.#record),
      moveToWatches: () => undefined,
      moveToRequests: () => undefined,
      tells: () => false,
    }
    return {
      clock: this.#clock,
      letsRequestsGather: () => false,
      holdsBack: () => false,
      letGoOn: (pass) => void setImmediate(pass),
      opened: (wire) => connections.opened(wire),
      sentAway: (connection: Connection<Exchange>, why) => this.#sentAway(connection, why),
      holdsOver: () => undefined,
      arrived: (connection: Connection<Exchange>, request, response, isPromised) =>
        this.#arrived(connections, accounts, connection, request, response, isPromised),
      admit: (exchange: Exchange) => {
        const answer = reading(exchange.request)
        if (answer === undefined) return this.#adminChain.admit(exchange)
        refuseUnread(exchange, answer)
        return false
      },
    }
  }

  #arrived(
    connections: Connections,
    accounts: Accounts,
    connection: Connection<Exchange>,
    request: ExchangeView['request'],
    response: ExchangeView['response'],
    isPromised = false,
  ): Exchange | undefined {
    if (!isPromised && !connection.takesRequests) {
      this.#rejected.late++
      return undefined
    }
    const exchange = new Exchange(accounts, request, response, connection, this.#clock.now())
    connections.exchangeBegun(exchange)
    return exchange
  }

  /** Once a second at most: a flood of connections is no reason for one of lines. */
  #sentAway(connection: Connection<Exchange>, why: string): void {
    const now = this.#clock.now()
    this.#sentAwayCount++
    if (now - this.#sentAwaySaidAt < 1000) return
    this.#sentAwaySaidAt = now
    const { name } = connection.straggler(now)
    const details = { client: name, ...connection.spoken, why, clients: this.#sentAwayCount }
    this.#record({ type: 'warning', message: SENT_AWAY, details })
    this.#sentAwayCount = 0
  }

  /**
   * Draws for those alone that have turns: of the others each answer is drawn. One that would be
   * told now, or came while others were, is when the listeners have closed: before that its client
   * would only come back, and that is soon in the mode refuse.
   */
  #tellInTurn(connection: Connection<Exchange>): void {
    if (!connection.wire.tellsAnyTime) return
    const turn = this.#telling.drawTurn()
    if (turn === undefined) return
    const comesBack = connection.cameLate || (this.#telling.probability === 1 && this.#mode === 'refuse')
    if (this.#haveListenersClosed || !comesBack) connection.tellIn(turn)
  }

  #admit(exchange: Exchange): boolean {
    if (this.#chain.admit(exchange)) return true
    // Answered by a step that comes before the counting: the drain waits for that as well, but for
    // no refusal.
    const passed = exchange.stepsPassed
    if (passed <= this.#countsAt && passed !== this.#retryAfterAt + 1) this.#inFlight.count(exchange)
    return false
  }

  /** The step "retry-after". */
  #isNotSentAway(exchange: Exchange): boolean {
    if (!this.#inFlight.sendsAway(exchange)) return true
    this.#noteArrival(exchange)
    this.#refuse(exchange, 'retry-after')
    return false
  }

  /** The step "count". */
  #isLetIn(exchange: Exchange): boolean {
    this.#noteArrival(exchange)
    const refusedAs = this.#inFlight.admit(exchange)
    if (refusedAs) this.#refuse(exchange, refusedAs)
    return refusedAs === undefined
  }

  /** The last fresh request is what a load balancer sent on after the stop began. */
  #noteArrival(exchange: Exchange): void {
    if (this.state.shutdownInitiated && !isExempt(exchange.request, this.#exempt)) this.#lastArrivedAt = exchange.arrivedAt
  }

  #refuse(exchange: Exchange, kind: RefusalKind): void {
    this.#rejected[kind]++
    publishRefusal(exchange.request, kind)
    exchange.connection.wire.tellBy(exchange)
    refuse(exchange, this.#refusals[kind])
  }

  #over(exchange: Exchange): void {
    this.#chain.over(exchange)
    this.#handlers.responseGone(exchange)
    this.#connections.exchangeOver(exchange)
    this.#inFlight.over(exchange)
  }

  #openByProtocol(): readonly SpokenCount[] {
    return this.#connections.byProtocol.filter(({ open }) => open > 0)
  }

  *#counted(as: Exchange['countedAs']): Generator<Exchange> {
    for (const exchange of this.#connections.exchanges()) if (exchange.countedAs === as) yield exchange
  }

  #stragglers(as: Exchange['countedAs']): Straggler[] {
    const now = this.#clock.now()
    return Array.from(this.#counted(as), (exchange) => exchange.straggler(now))
  }
}
