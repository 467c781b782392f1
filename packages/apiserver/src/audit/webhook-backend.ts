import { type Clock, toError } from '../engine.ts'
import { ATTEMPTS, backoffMs } from '../webhook/backoff.ts'
import { isTaken, type Poster } from '../webhook/client.ts'
import { AuditCounter, afterShutdown, type EventBackend, type PluginFailed } from './backend.ts'
import { type AuditEvent, eventListJson } from './event.ts'

export interface WebhookWorld {
  readonly clock: Clock
  /** A random number from 0 up to 1. */
  readonly random: () => number
  readonly failed: PluginFailed
}

/**
 * The time of one attempt in milliseconds. @see kubernetes/apiserver pkg/util/webhook/webhook.go
 * defaultRequestTimeout
 */
export const ATTEMPT_MS = 30_000
/**
 * The longest wait between attempts, in milliseconds, once the server ends: its time is the
 * server's.
 */
const STOPPING_BACKOFF_MS = 250

/**
 * Posts each call's events as a list. Every failure is tried again, with a growing delay, five
 * times in all. When the server ends, what waits is tried at once, and no longer than shutdown's
 * signal lets it.
 * @see kubernetes/apiserver plugin/pkg/audit/webhook/webhook.go
 */
export class WebhookBackend implements EventBackend {
  readonly #client: Poster
  readonly #initialBackoffMs: number
  readonly #world: WebhookWorld
  readonly #counter = new AuditCounter()
  readonly #underWay = new Set<Promise<boolean>>()
  /** Ends the waits before further attempts. */
  readonly #wakes = new Set<() => void>()
  readonly #cut = new AbortController()
  #isStopping = false
  #isClosed = false

  /** @param initialBackoffMs time before the second attempt */
  constructor(client: Poster, initialBackoffMs: number, world: WebhookWorld) {
    this.#client = client
    this.#initialBackoffMs = initialBackoffMs
    this.#world = world
  }

  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    signal.addEventListener('abort', () => this.#stop(), { once: true })
    await this.#client.open(this.#world.clock)
  }

  processEvents(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    this.#counter.accepted += events.length
    if (this.#isClosed) {
      this.#world.failed('webhook', afterShutdown(), events.length)
      return this.#counter.settle(events.length, false)
    }
    const sending = this.#send(eventListJson(events), events.length).finally(() => this.#underWay.delete(sending))
    this.#underWay.add(sending)
    return sending
  }

  async shutdown({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.#stop()
    const cut = (): void => this.#cut.abort(signal.reason)
    signal.addEventListener('abort', cut, { once: true })
    if (signal.aborted) cut()
    await Promise.all(this.#underWay)
    signal.removeEventListener('abort', cut)
    this.#isClosed = true
    this.#client.close()
  }

  counts(): ReturnType<AuditCounter['counts']> {
    return this.#counter.counts()
  }

  #stop(): void {
    this.#isStopping = true
    for (const wake of this.#wakes) wake()
  }

  async #send(body: string, events: number): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#attempt(body)
      if (failure === undefined) return this.#counter.settle(events, true)
      if (attempt === ATTEMPTS || this.#cut.signal.aborted) {
        this.#world.failed('webhook', failure, events)
        return this.#counter.settle(events, false)
      }
      await this.#wait(backoffMs(this.#initialBackoffMs, attempt, this.#world.random))
    }
  }

  /** Undefined when it was taken. */
  async #attempt(body: string): Promise<Error | undefined> {
    const { clock } = this.#world
    const timeout = new AbortController()
    const timer = clock.setTimeout(() => timeout.abort(new Error(`no answer within ${ATTEMPT_MS / 1_000}s`)), ATTEMPT_MS)
    try {
      const { status } = await this.#client.post(body, AbortSignal.any([timeout.signal, this.#cut.signal]))
      return isTaken(status) ? undefined : new Error(`the webhook answered ${status}`)
    } catch (thrown) {
      return toError(thrown)
    } finally {
      clock.clearTimeout(timer)
    }
  }

  #wait(ms: number): Promise<void> {
    const { clock } = this.#world
    const { signal } = this.#cut
    return new Promise((resolve) => {
      const end = (): void => {
        clock.clearTimeout(timer)
        this.#wakes.delete(end)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = clock.setTimeout(end, this.#isStopping ? Math.min(ms, STOPPING_BACKOFF_MS) : ms)
      this.#wakes.add(end)
      signal.addEventListener('abort', end, { once: true })
    })
  }
}
