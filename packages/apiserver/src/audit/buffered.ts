import { type Actor, createActor, type EventFrom, fromPromise } from 'xstate'
import { type AuditCounts, type Clock, toError } from '../engine.ts'
import { afterShutdown, type EventBackend, type PluginFailed } from './backend.ts'
import { batchesMachine, type Due, type QueueLevel, type Sent } from './batches.ts'
import type { AuditEvent } from './event.ts'
import { TokenBucket } from './token-bucket.ts'

export interface BatchSettings {
  /** Events that may wait. */
  readonly bufferSize: number
  readonly maxBatchSize: number
  readonly maxWaitMs: number
  /** Batches a second, and how many may leave at once. Default: no bound. */
  readonly throttle?: { readonly qps: number; readonly burst: number } | undefined
  /** Whether a batch leaves while the one before it is still under way. */
  readonly isAsync: boolean
}

export interface BufferedWorld {
  readonly clock: Clock
  readonly failed: PluginFailed
}

/**
 * Keeps events and gives them on as batches, so that no request waits for where they go: the mode
 * `batch`. A queue that is full drops events, and true is answered all the same; once it is closed
 * they are dropped and the answer is false.
 *
 * When events leave the queue is the machine's business (batches.ts); the request path appends to
 * an array, and tells the machine when the array was empty or has become a batch.
 * @see kubernetes/apiserver plugin/pkg/audit/buffered/buffered.go
 */
export class BufferedBackend implements EventBackend {
  readonly #clock: Clock
  readonly #delegate: EventBackend
  readonly #settings: BatchSettings
  readonly #failed: PluginFailed
  readonly #bucket: TokenBucket | undefined
  readonly #actor: Actor<typeof batchesMachine>
  readonly #ended: Promise<void>
  readonly #underWay = new Set<Promise<unknown>>()
  #eventsUnderWay = 0
  #queue: AuditEvent[] = []
  /** How many of the queue's first events have left. */
  #left = 0
  #level: QueueLevel = 'none'
  /** What the machine knows of it: while it sends, it learns the level at the end. */
  #reportedLevel: QueueLevel = 'none'
  #isSending = false
  #isClosed = false
  #dropped = 0

  constructor(delegate: EventBackend, settings: BatchSettings, { clock, failed }: BufferedWorld) {
    this.#clock = clock
    this.#delegate = delegate
    this.#settings = settings
    this.#failed = failed
    this.#bucket = settings.throttle && new TokenBucket(clock, settings.throttle.qps, settings.throttle.burst)
    const machine = batchesMachine.provide({
      actors: {
        send: fromPromise<Sent, { readonly due: Due }>(({ input }) => this.#send(input.due)),
        settle: fromPromise<void>(async () => void (await Promise.all(this.#underWay))),
      },
      delays: { toNextToken: () => this.#bucket?.msToNext ?? 0 },
    })
    this.#actor = createActor(machine, { clock, id: machine.id, input: { maxWaitMs: settings.maxWaitMs } })
    this.#ended = new Promise((resolve) => {
      this.#actor.subscribe({ complete: resolve })
    })
  }

  /** Starts collecting; the signal's abort closes the queue. */
  async run(context: { readonly signal: AbortSignal }): Promise<void> {
    await this.#delegate.run(context)
    context.signal.addEventListener('abort', () => this.#close(), { once: true })
    this.#actor.start()
    if (context.signal.aborted) this.#close()
  }

  processEvents(events: readonly AuditEvent[]): boolean {
    const { bufferSize } = this.#settings
    if (this.#isClosed) return this.#drop(events.length, afterShutdown(), false)
    const room = bufferSize - this.#waiting
    if (events.length <= room) this.#queue.push(...events)
    else this.#queue.push(...events.slice(0, room))
    this.#noteLevel()
    return events.length <= room || this.#drop(events.length - room, new Error('audit buffer queue blocked'), true)
  }

  /** Waits until everything is delivered; the signal's abort ends the wait. */
  async shutdown(context: { readonly signal: AbortSignal }): Promise<void> {
    const { signal } = context
    const cut = (): void => this.#notify({ type: 'cut' })
    this.#close()
    signal.addEventListener('abort', cut, { once: true })
    if (signal.aborted) cut()
    await this.#ended
    signal.removeEventListener('abort', cut)
    await this.#delegate.shutdown(context)
  }

  counts(): AuditCounts {
    const { delivered, lost, pending } = this.#delegate.counts()
    return { delivered, lost: lost + this.#dropped, pending: pending + this.#waiting }
  }

  actors(): [Actor<typeof batchesMachine>] {
    return [this.#actor]
  }

  get #waiting(): number {
    return this.#queue.length - this.#left
  }

  #close(): void {
    this.#isClosed = true
    this.#notify({ type: 'stop' })
  }

  #drop(events: number, why: Error, verdict: boolean): boolean {
    this.#dropped += events
    this.#failed('buffered', why, events)
    return verdict
  }

  /** Sends an event to the machine; one that has ended gets none. */
  #notify(event: EventFrom<typeof batchesMachine>): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send(event)
  }

  #noteLevel(): void {
    const waiting = this.#waiting
    this.#level = waiting >= this.#settings.maxBatchSize ? 'whole' : waiting > 0 ? 'some' : 'none'
    if (!this.#isSending) this.#reportLevel()
  }

  #reportLevel(): void {
    if (this.#level === this.#reportedLevel) return
    this.#reportedLevel = this.#level
    this.#notify({ type: 'queue', level: this.#level })
  }

  async #send(due: Due): Promise<Sent> {
    this.#isSending = true
    try {
      return await this.#sendDue(due)
    } finally {
      this.#isSending = false
      this.#reportLevel()
    }
  }

  /** Sends what is due, until nothing is or the throttle has no token. */
  async #sendDue(due: Due): Promise<Sent> {
    let isLate = due === 'late'
    do {
      while (this.#waiting > 0 && (this.#level === 'whole' || isLate || due === 'all')) {
        if (this.#bucket && !this.#bucket.take()) return 'throttled'
        isLate = false
        const delivery = this.#deliver(this.#take())
        if (!this.#settings.isAsync) await delivery
        // What is under way is in memory, too: no more of it than may wait.
        else while (this.#eventsUnderWay >= this.#settings.bufferSize) await Promise.race(this.#underWay)
      }
    } while (due !== 'all' && (await this.#hasMoreSoon()))
    return due
  }

  /**
   * Where every event is a batch, one sending goes on for as long as they keep coming: one for each
   * would cost more than its delivery. What comes meanwhile leaves in the next turn.
   */
  async #hasMoreSoon(): Promise<boolean> {
    if (this.#settings.maxBatchSize > 1 || this.#isClosed) return false
    await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, 0))
    return !this.#isClosed && this.#waiting > 0
  }

  /** The array is only made anew when most of it has left. */
  #take(): readonly AuditEvent[] {
    const batch = this.#queue.slice(this.#left, this.#left + this.#settings.maxBatchSize)
    this.#left += batch.length
    if (this.#left * 2 >= this.#queue.length) {
      this.#queue = this.#queue.slice(this.#left)
      this.#left = 0
    }
    this.#noteLevel()
    return batch
  }

  /** Delivers a batch; after whatever the delegate does, the next batch goes its way. */
  #deliver(batch: readonly AuditEvent[]): Promise<void> {
    const delivery = this.#tryDelivery(batch).finally(() => {
      this.#underWay.delete(delivery)
      this.#eventsUnderWay -= batch.length
    })
    this.#underWay.add(delivery)
    this.#eventsUnderWay += batch.length
    return delivery
  }

  async #tryDelivery(batch: readonly AuditEvent[]): Promise<void> {
    try {
      await this.#delegate.processEvents(batch)
    } catch (thrown) {
      this.#failed('buffered', toError(thrown), batch.length)
    }
  }
}
