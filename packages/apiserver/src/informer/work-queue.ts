import {
  type Clock,
  checkArguments,
  type Deferred,
  type Duration,
  deferred,
  optionError,
  parseDuration,
  show,
  systemClock,
  withOptions,
} from '../engine.ts'
import { exponentialMs } from './backoff.ts'

export interface WorkQueueOptions {
  /** Time until a key that has failed once is tried again; it doubles each time. Default 5 ms. */
  readonly initialDelay?: Duration
  /** The longest such time. Default 1000 s. */
  readonly maxDelay?: Duration
  /** Retries of all keys together: so many a second, above 0. Default 10. */
  readonly retriesPerSecond?: number
  /** How many of these may come at once, from 1 on. Default 100. */
  readonly retryBurst?: number
  /** Default: that of the process. */
  readonly clock?: Clock
}

/** What a worker may say of a key that it has brought in order. */
export interface Reconciled {
  /** The time after which it is to be looked at again, also when nothing happens. */
  readonly requeueAfter?: Duration
}

/** Brings what a key stands for into its desired state; it may return {@link Reconciled}. */
export type Reconcile = (key: string, context: { readonly signal: AbortSignal }) => unknown

export interface WorkQueueRun {
  readonly reconcile: Reconcile
  /** Ends the run: what is being worked on is waited for, and nothing else begins. */
  readonly signal: AbortSignal
  /** Keys that are worked on at a time. Default 1. */
  readonly workers?: number
  /** Is given what `reconcile` has thrown. The key is tried again. Default: not reported. */
  readonly failed?: (key: string, error: unknown) => void
}

/**
 * A queue of keys of which something has to be done. A key waits in it once, however often it is
 * added; one that is added while it is worked on comes again when that is over, so that no key is
 * worked on twice at a time, and no change is missed.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @see kubernetes/client-go util/workqueue/queue.go, rate_limiting_queue.go
 * @example
 * const queue = createWorkQueue()
 * informer.events$.subscribe(({ object }) => queue.add(object.metadata.name))
 * await queue.run({ workers: 2, signal, reconcile: (name) => bringInOrder(name) })
 */
export function createWorkQueue(options: WorkQueueOptions = {}): WorkQueue {
  checkArguments('createWorkQueue(options?)', [
    options,
    withOptions<WorkQueueOptions>('initialDelay', 'maxDelay', 'retriesPerSecond', 'retryBurst', 'clock'),
  ])
  return new WorkQueue(options)
}

export class WorkQueue {
  readonly #clock: Clock
  readonly #delays: { readonly initialMs: number; readonly maxMs: number; readonly jitter: 0 }
  readonly #turnMs: number
  readonly #burst: number
  /** When all retries that were let through would have come, one after the other. */
  #turnsUntil = 0
  /** Keys that wait for a worker, the oldest first. */
  readonly #waiting = new Set<string>()
  readonly #processing = new Set<string>()
  /** The keys of them that have been added again. */
  readonly #again = new Set<string>()
  /** Timers of keys that come later, by key. */
  readonly #later = new Map<string, { readonly at: number; readonly timer: unknown }>()
  readonly #failures = new Map<string, number>()
  readonly #workers: Deferred<string | undefined>[] = []
  readonly #drained = deferred<void>()
  #isShutDown = false

  constructor({ initialDelay = 5, maxDelay = '1000s', retriesPerSecond = 10, retryBurst = 100, clock = systemClock }: WorkQueueOptions) {
    const of = 'of createWorkQueue()'
    const initialMs = parseDuration(`initialDelay ${of}`, initialDelay)
    const maxMs = parseDuration(`maxDelay ${of}`, maxDelay)
    if (!(typeof retriesPerSecond === 'number' && retriesPerSecond > 0))
      throw optionError(`retriesPerSecond ${of}`, retriesPerSecond, 'a number above 0')
    if (!(Number.isSafeInteger(retryBurst) && retryBurst >= 1))
      throw optionError(`retryBurst ${of}`, retryBurst, 'a whole number from 1 on')
    this.#clock = clock
    this.#delays = { initialMs, maxMs, jitter: 0 }
    this.#turnMs = 1_000 / retriesPerSecond
    this.#burst = retryBurst
  }

  /** Keys that wait for a worker; without those that come later. */
  get length(): number {
    return this.#waiting.size
  }

  /** Has a key worked on. After {@link shutDown} nothing is added. */
  add(key: string): void {
    if (this.#isShutDown || this.#waiting.has(key)) return
    if (this.#processing.has(key)) return void this.#again.add(key)
    const worker = this.#workers.shift()
    if (worker === undefined) return void this.#waiting.add(key)
    this.#processing.add(key)
    worker.resolve(key)
  }

  /** The same after a time. Of several times for a key the earliest holds. */
  addAfter(key: string, delay: Duration): void {
    this.#addAfterMs(key, parseDuration(`delay of addAfter(${show(key)}, delay)`, delay))
  }

  /** The same after the time that its failures, and the retries of all keys, have it wait. */
  addRateLimited(key: string): void {
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    this.#addAfterMs(
      key,
      Math.max(
        exponentialMs(this.#delays, failures, () => 0),
        this.#takeTurn(),
      ),
    )
  }

  /** Forgets the failures of a key, which is in order now. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** How often a key has failed since it was forgotten. */
  requeues(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /**
   * The next key, which no other caller is given until it is {@link done}; undefined: the queue is
   * shut down and empty.
   */
  get(): Promise<string | undefined> {
    const [key] = this.#waiting
    if (key !== undefined) {
      this.#waiting.delete(key)
      this.#processing.add(key)
      return Promise.resolve(key)
    }
    if (this.#isShutDown) return Promise.resolve(undefined)
    const worker = deferred<string | undefined>()
    this.#workers.push(worker)
    return worker.promise
  }

  /** A key that was got has been worked on. */
  done(key: string): void {
    this.#processing.delete(key)
    if (this.#again.delete(key)) this.#comeAgain(key)
    this.#checkDrained()
  }

  /**
   * Takes no more keys, and forgets those that come later. What waits is worked on still.
   * @returns when all of it is done
   */
  shutDown(): Promise<void> {
    this.#isShutDown = true
    for (const { timer } of this.#later.values()) this.#clock.clearTimeout(timer)
    this.#later.clear()
    for (const worker of this.#workers.splice(0)) worker.resolve(undefined)
    this.#checkDrained()
    return this.#drained.promise
  }

  /**
   * Works on keys until the signal comes. It resolves when nothing is worked on any more; keys that
   * still wait then are dropped. One whose work fails comes again after the time that its failures
   * have it wait.
   * @throws QuiesceError ERR_OPTION_INVALID
   */
  async run(options: WorkQueueRun): Promise<void> {
    checkArguments('run(options)', [options, withOptions<WorkQueueRun>('reconcile', 'signal', 'workers', 'failed')])
    const { reconcile, signal, workers = 1, failed = () => {} } = options
    if (typeof reconcile !== 'function') throw optionError('reconcile of run()', reconcile, 'a function')
    if (!(Number.isSafeInteger(workers) && workers >= 1)) throw optionError('workers of run()', workers, 'a whole number from 1 on')
    const end = (): void => {
      this.#waiting.clear()
      this.#again.clear()
      void this.shutDown()
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
    await Promise.all(Array.from({ length: workers }, () => this.#work(reconcile, signal, failed)))
    signal.removeEventListener('abort', end)
  }

  async #work(reconcile: Reconcile, signal: AbortSignal, failed: NonNullable<WorkQueueRun['failed']>): Promise<void> {
    for (let key = await this.get(); key !== undefined; key = await this.get()) {
      try {
        const { requeueAfter } = ((await reconcile(key, { signal })) ?? {}) as Reconciled
        this.forget(key)
        if (requeueAfter !== undefined) this.addAfter(key, requeueAfter)
      } catch (thrown) {
        if (!signal.aborted) failed(key, thrown)
        this.addRateLimited(key)
      } finally {
        this.done(key)
      }
    }
  }

  #addAfterMs(key: string, ms: number): void {
    if (this.#isShutDown) return
    if (ms <= 0) return void this.add(key)
    const at = this.#clock.now() + ms
    const known = this.#later.get(key)
    if (known !== undefined && known.at <= at) return
    if (known !== undefined) this.#clock.clearTimeout(known.timer)
    const timer = this.#clock.setTimeout(() => {
      this.#later.delete(key)
      this.add(key)
    }, ms)
    this.#later.set(key, { at, timer })
  }

  /** Milliseconds until the retries of all keys let one more through. */
  #takeTurn(): number {
    const now = this.#clock.now()
    const turn = Math.max(this.#turnsUntil, now)
    this.#turnsUntil = turn + this.#turnMs
    return Math.max(0, turn - (this.#burst - 1) * this.#turnMs - now)
  }

  /**
   * Puts a key back that was added again while it was worked on, also before a shut-down, which
   * keeps it.
   */
  #comeAgain(key: string): void {
    const worker = this.#workers.shift()
    if (worker === undefined) return void this.#waiting.add(key)
    this.#processing.add(key)
    worker.resolve(key)
  }

  #checkDrained(): void {
    if (this.#isShutDown && this.#waiting.size === 0 && this.#processing.size === 0) this.#drained.resolve()
  }
}
