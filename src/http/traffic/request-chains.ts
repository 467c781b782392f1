import { errorRecord, type LifecycleFact } from '../../base/events.ts'
import type { RefusalKind, Wording } from '../../base/wording.ts'
import type { Mode } from '../../machines/wiring.ts'
import { publishRefusal } from '../../report/diagnostics.ts'
import { Chain, type PlacedStep, placeSteps } from '../chain.ts'
import { balance, goawayDecider } from './balance.ts'
import type { Exchange } from './exchange.ts'
import { isExempt } from './exempt.ts'
import type { InFlight } from './in-flight.ts'
import { buildRefusals, type Refusals, refuse } from './refusal.ts'

export interface RequestChainsOptions {
  readonly mode: Mode
  readonly record: (fact: LifecycleFact) => void
  /** What refused requests are answered with. */
  readonly wording: Pick<Wording, 'refusals'>
  /** A random number from 0 up to 1. */
  readonly random: () => number
  /**
   * Probability of a request to tell its client to leave, where that needs no answer. Default: 0.
   */
  readonly goawayChance?: number
  /** Paths that pass while new requests are refused, beside health and metrics. Default: none. */
  readonly exempt?: readonly string[]
  /** What requests pass beside the counting, with its place. Default: nothing. */
  readonly steps?: readonly PlacedStep[]
}

/**
 * What a request passes before its handler: the steps of the life and of its user, with the two
 * that let in or refuse. One chain for the public listeners, one for the admin listener.
 */
export class RequestChains {
  /** The chain of requests to the admin listener, where nothing is counted or refused. */
  readonly admin: Chain<Exchange>
  /** Requests refused since the life began, by kind, and those that came too late to look at. */
  readonly rejected: Record<RefusalKind | 'late', number> = { 'retry-after': 0, 'not-accepting': 0, watch: 0, late: 0 }
  readonly #public: Chain<Exchange>
  /** The places of the steps "count" and "retry-after" in it; -1: there is none. */
  readonly #countsAt: number
  readonly #retryAfterAt: number
  readonly #refusals: Refusals
  readonly #inFlight: InFlight
  readonly #exempt: readonly string[]
  /** `clock.now()` */
  #notedFrom = Number.POSITIVE_INFINITY
  #lastArrivedAt: number | undefined

  constructor(inFlight: InFlight, { mode, record, wording, random, goawayChance = 0, exempt = [], steps = [] }: RequestChainsOptions) {
    this.#inFlight = inFlight
    this.#exempt = exempt
    const all = placeSteps<Exchange>([
      ...(mode === 'retry-after' ? [{ name: 'retry-after', admit: (exchange: Exchange) => !this.#isAskedToRetry(exchange) }] : []),
      { name: 'count', admit: (exchange) => this.#isLetIn(exchange) },
      ...(goawayChance > 0 ? [balance(goawayDecider(goawayChance, random))] : []),
      ...steps,
    ])
    const placed = all.filter(({ onPublic = true }) => onPublic)
    this.#countsAt = placed.findIndex(({ name }) => name === 'count')
    this.#retryAfterAt = placed.findIndex(({ name }) => name === 'retry-after')
    const failed = (step: string, error: unknown): void => record({ type: 'error', where: `step ${step}`, error: errorRecord(error) })
    this.#public = new Chain(placed, failed)
    this.admin = new Chain(
      all.filter(({ onAdmin }) => onAdmin),
      failed,
    )
    this.#refusals = buildRefusals(wording.refusals, (error) => record({ type: 'error', where: 'wording', error: errorRecord(error) }))
  }

  /** Notes from now on when the last request arrived. */
  noteArrivalsFrom(now: number): void {
    this.#notedFrom = now
  }

  /**
   * Milliseconds from {@link noteArrivalsFrom} to the last request that arrived, whatever became of
   * it; what is exempt aside. Undefined when there was none.
   */
  get lastRequestMs(): number | undefined {
    return this.#lastArrivedAt === undefined ? undefined : Math.max(0, this.#lastArrivedAt - this.#notedFrom)
  }

  /** Whether a request that has come to a public listener goes on to its handler. */
  admit(exchange: Exchange): boolean {
    if (this.#public.admit(exchange)) return true
    // Answered by a step that comes before the counting: the drain waits for that as well, but for
    // no refusal.
    const passed = exchange.stepsPassed
    if (passed <= this.#countsAt && passed !== this.#retryAfterAt + 1) this.#inFlight.count(exchange)
    return false
  }

  /** A request that was let in, or answered, is over. */
  over(exchange: Exchange): void {
    this.#public.over(exchange)
  }

  /** The step "retry-after". */
  #isAskedToRetry(exchange: Exchange): boolean {
    if (!this.#inFlight.asksToRetry(exchange)) return false
    this.#noteArrival(exchange)
    this.#refuse(exchange, 'retry-after')
    return true
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
    if (this.#notedFrom !== Number.POSITIVE_INFINITY && !isExempt(exchange.request, this.#exempt)) this.#lastArrivedAt = exchange.arrivedAt
  }

  #refuse(exchange: Exchange, kind: RefusalKind): void {
    this.rejected[kind]++
    publishRefusal(exchange.request, kind)
    exchange.connection.wire.notifyBy(exchange)
    refuse(exchange, this.#refusals[kind])
  }
}
