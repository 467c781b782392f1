import type { Clock } from '../../base/clock.ts'
import { type ErrorRecord, errorRecord, type LifecycleFact, type Straggler } from '../../base/events.ts'
import { type ConnectionProtocol, nameWithProtocol } from '../../base/protocol.ts'
import type { Exchange } from './exchange.ts'
import { ExchangeList } from './exchange-list.ts'
import { NAMED_MAX, UnendedResponses } from './unended-responses.ts'

/**
 * The age in milliseconds from which a handler whose response is gone is kept by its name alone: it
 * may never settle.
 */
const LONG_RUNNING_AFTER_MS = 1000
/**
 * The age in milliseconds from which it is taken for one that never settles, and is waited for no
 * longer.
 */
export const NEVER_SETTLES_AFTER_MS = 10 * 60_000

/** A handler whose time is over, since when, and whether it has answered in spite of that. */
interface Cut {
  readonly at: number
  hasAnswered: boolean
}

/** A request that is not over, or a handler that has outlived its response. */
export interface Outstanding {
  readonly name: string
  readonly arrivedAt: number
  readonly connectionProtocol: ConnectionProtocol
  /** Whether a request is an undeclared stream: see {@link Straggler.streaming}. */
  readonly isUndeclaredStream?: boolean
}

/** What was running when the wait was cut. */
export interface CutHandlers {
  /** Their promises are pending. */
  readonly pending: readonly Straggler[]
  /**
   * Their clients have left and they have not ended their responses: they may be at work, or over.
   */
  readonly unended: readonly Straggler[]
}

/**
 * Handlers that are not over. They may outlive their response, when the client left or other code
 * answered, and then still use what is about to be destroyed (V8). One that returned a promise is
 * over when that has settled; for any other whose client has left, see {@link UnendedResponses}.
 * Why, and for how long: docs/decisions/0015-a-handler-whose-client-has-left.md
 *
 * Their time is over when they are {@link cut}: what they answer after that is reported as late,
 * and changes nothing else.
 */
export class RunningHandlers {
  readonly #clock: Clock
  readonly #record: (fact: LifecycleFact) => void
  readonly #unended: UnendedResponses
  /** Promises that are waited for. */
  #count = 0
  /** The handlers whose response is gone: the others are found on their connections. */
  readonly #orphans = new ExchangeList<Exchange>()
  /** The handlers of them that have let go of their requests and responses. */
  readonly #longRunning = new ExchangeList<Exchange>()
  #longRunningCount = 0
  #givenUpCount = 0
  #hasWarned = false
  readonly #cut = new Map<Exchange, Cut>()
  /** The handlers that do not count any more. */
  readonly #abandoned = new Set<Exchange>()
  readonly #whenNone = new Set<() => void>()

  constructor(clock: Clock, record: (fact: LifecycleFact) => void) {
    this.#clock = clock
    this.#record = record
    this.#unended = new UnendedResponses(clock, record)
  }

  track(exchange: Exchange, promise: PromiseLike<unknown>): void {
    if (!this.#abandoned.has(exchange)) {
      this.#count++
      // It was called when its response was gone: by a `checkContinue` listener, for one.
      if (exchange.isOver && exchange.handlersRunning === 0 && !exchange.isLongRunning) this.#orphans.add(exchange)
    }
    exchange.handlersRunning++
    const settled = (): void => this.#settled(exchange)
    const failed = (thrown: unknown): void => {
      exchange.threw(thrown)
      this.#settled(exchange)
    }
    // A promise of another maker may call back twice, or throw: one of ours never does.
    Promise.resolve(promise).then(settled, failed)
  }

  responseGone(exchange: Exchange): void {
    if (this.#abandoned.size > 0 && this.#abandoned.has(exchange)) return
    if (exchange.handlersRunning > 0) {
      // This one stays whole for now: the others that keep its books still look at it.
      this.#age()
      this.#orphans.add(exchange)
    } else if (exchange.handling === 'callback') this.#unended.responseGone(exchange)
  }

  /** The handlers of these are no longer waited for, and nothing can be answered for them. */
  cut(exchanges: Iterable<Exchange>): void {
    for (const exchange of exchanges) {
      if (exchange.handlersRunning > 0 && !this.#cut.has(exchange)) this.#cut.set(exchange, { at: this.#clock.now(), hasAnswered: false })
    }
  }

  /**
   * No handler is waited for any more, neither of these exchanges that are not over nor of those
   * that are.
   */
  cutAll(outstanding: Iterable<Exchange>): CutHandlers {
    const exchanges = [...outstanding]
    const pending = this.running(exchanges)
    for (const list of [exchanges, this.#orphans, this.#longRunning]) this.cut(list)
    return { pending, unended: this.#unended.cut() }
  }

  /**
   * Cut, and none of them is waited for, not even when its client has gone; to be called before
   * that.
   */
  abandon(exchanges: readonly Exchange[]): void {
    this.cut(exchanges)
    for (const exchange of exchanges) {
      if (this.#abandoned.has(exchange)) continue
      this.#abandoned.add(exchange)
      this.#count -= exchange.handlersRunning
    }
    if (this.#count === 0 && this.#whenNone.size > 0) this.#notifyNone()
  }

  /** Whether a handler that failed was cut before; if so, its failure is reported here. */
  failedLate(exchange: Exchange, thrown: unknown): boolean {
    const cut = this.#cut.get(exchange)
    if (!cut) return false
    this.#late(exchange, cut, 'rejected', exchange.wasAskedToEndWith(thrown) ? undefined : errorRecord(thrown))
    return true
  }

  /**
   * Resolves when none is running, at once if so. What never settles or never ends is waited for so
   * long, and is then only reported.
   */
  async none(): Promise<void> {
    this.#age()
    if (this.#givenUpCount > 0) this.#warn('handlers that never settle were not waited for', { handlers: this.#givenUpCount })
    while (this.#count > 0 || this.#unended.count > 0) await Promise.all([this.#noPromise(), this.#unended.none()])
  }

  /** The handlers whose response is gone. */
  orphans(): Outstanding[] {
    return [...this.#longRunning, ...this.#orphans, ...this.#unended]
  }

  /**
   * The handlers whose promise is pending, of these exchanges that are not over and of those that
   * are.
   */
  running(outstanding: Iterable<Exchange>): Straggler[] {
    const now = this.#clock.now()
    const running: Straggler[] = []
    let unnamed: Exchange | undefined
    for (const exchange of this.#longRunning) {
      if (exchange.name) running.push(exchange.straggler(now))
      else unnamed ??= exchange
    }
    if (unnamed) running.push({ name: `${this.#longRunningCount - running.length} more`, ageMs: unnamed.straggler(now).ageMs })
    for (const exchange of this.#orphans) running.push(exchange.straggler(now))
    for (const exchange of outstanding) if (exchange.handlersRunning > 0) running.push(exchange.straggler(now))
    return running
  }

  #noPromise(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenNone.add(resolve))
  }

  #settled(exchange: Exchange): void {
    // Given up.
    if (exchange.handlersRunning === 0) return
    exchange.handlersRunning--
    if (exchange.handlersRunning === 0 && this.#cut.size > 0) this.#forget(exchange)
    if (this.#abandoned.has(exchange)) return
    this.#count--
    if (exchange.handlersRunning === 0) {
      if (exchange.isLongRunning) this.#forgetLongRunning(exchange)
      else if (exchange.isOver) this.#orphans.remove(exchange)
    }
    if (this.#count === 0 && this.#whenNone.size > 0) this.#notifyNone()
  }

  /**
   * The lists are nearly in the order of arrival: an older one behind a younger one waits for it.
   */
  #age(): void {
    const now = this.#clock.now()
    for (let exchange = this.#orphans.oldest; isOlder(exchange, now, LONG_RUNNING_AFTER_MS); exchange = this.#orphans.oldest) {
      this.#orphans.remove(exchange)
      exchange.becomeLongRunning({ isNamed: this.#longRunningCount < NAMED_MAX })
      this.#longRunning.add(exchange)
      if (++this.#longRunningCount === NAMED_MAX) this.#warnOnce()
    }
    for (let exchange = this.#longRunning.oldest; isOlder(exchange, now, NEVER_SETTLES_AFTER_MS); exchange = this.#longRunning.oldest) {
      this.#warnOnce()
      this.#forgetLongRunning(exchange)
      this.#givenUpCount++
      this.#count -= exchange.handlersRunning
      exchange.handlersRunning = 0
    }
  }

  #forgetLongRunning(exchange: Exchange): void {
    this.#longRunning.remove(exchange)
    this.#longRunningCount--
  }

  /** Warns once in a life: what leaks keeps leaking. */
  #warnOnce(): void {
    const { oldest } = this.#longRunning
    if (this.#hasWarned || !oldest) return
    this.#hasWarned = true
    const { ageMs } = oldest.straggler(this.#clock.now())
    this.#warn('handlers are still running although their responses are over', {
      handlers: this.#longRunningCount,
      oldest: nameWithProtocol({ name: oldest.name, ...oldest.connectionProtocol }),
      ageMs: Math.round(ageMs),
    })
  }

  #warn(message: string, details: Readonly<Record<string, unknown>>): void {
    this.#record({ type: 'warning', message, details })
  }

  #forget(exchange: Exchange): void {
    const cut = this.#cut.get(exchange)
    if (cut && !cut.hasAnswered) this.#late(exchange, cut, 'resolved')
    this.#cut.delete(exchange)
  }

  #late(exchange: Exchange, cut: Cut, answer: 'resolved' | 'rejected', error?: ErrorRecord): void {
    cut.hasAnswered = true
    const lateMs = this.#clock.now() - cut.at
    this.#record({
      type: 'late',
      what: `handler ${nameWithProtocol({ name: exchange.name, ...exchange.connectionProtocol })}`,
      answer,
      lateMs,
      ...(error && { error }),
    })
  }

  #notifyNone(): void {
    for (const resolve of this.#whenNone) resolve()
    this.#whenNone.clear()
  }
}

const isOlder = (exchange: Exchange | undefined, now: number, ms: number): exchange is Exchange =>
  exchange !== undefined && now - exchange.arrivedAt >= ms
