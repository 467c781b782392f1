import type { LifecycleFact, Straggler } from '../base/events.ts'
import { nameWithProtocol } from '../base/protocol.ts'
import { STREAMS_CUT, undeclaredStreams } from '../base/streams.ts'
import type { Traffic } from '../http/traffic/traffic.ts'

type Drained = Extract<LifecycleFact, { type: 'drained' }>

export interface DrainsContext {
  readonly traffic: Traffic
  readonly record: (fact: LifecycleFact) => void
}

/**
 * The two drains, and what the report says of each: how many there were, how many are left, and
 * which. It is said once: what ends after its drain was cut, because its connection was destroyed,
 * was cut all the same.
 */
export class Drains {
  readonly #traffic: Traffic
  readonly #record: DrainsContext['record']
  readonly #over = new Set<Drained['what']>()
  #watchesBefore = 0
  #graceMs = 0
  /** Requests that went with a watch in front of them. */
  #lost: readonly Straggler[] = []

  constructor({ traffic, record }: DrainsContext) {
    this.#traffic = traffic
    this.#record = record
  }

  async requests(): Promise<void> {
    await this.#traffic.drains.requests()
    this.#endRequests([])
  }

  cutRequests(): void {
    this.#endRequests(this.#traffic.drains.cutRequests())
  }

  breakOffRequests(): void {
    this.#endRequests(this.#traffic.drains.breakOffRequests())
  }

  async watches(graceMs: number): Promise<{ readonly after: number }> {
    this.#graceMs = graceMs
    this.#watchesBefore = this.#traffic.counts().watches
    const { before, after } = await this.#traffic.drains.watches(graceMs)
    if (after === 0 || graceMs === 0) this.#end({ type: 'drained', what: 'watches', before, after, graceMs, cut: [] })
    return { after }
  }

  terminateWatches(): { readonly lost: number } {
    const { watches: cut, requests, lost } = this.#traffic.drains.terminateWatches()
    this.#lost = requests
    // Last requests may have come since.
    const before = Math.max(this.#watchesBefore, cut.length)
    this.#end({ type: 'drained', what: 'watches', before, after: cut.length, graceMs: this.#graceMs, cut })
    return { lost }
  }

  /** Names what is left of both, whether or not they have begun: nothing is waited for any more. */
  force(): void {
    const requests = this.#traffic.drains.requestStragglers()
    this.#left(requests, this.#traffic.drains.terminateWatches().watches)
  }

  /** Names what is left and ends nothing: the process is about to do that. */
  name(): void {
    this.#left(this.#traffic.drains.requestStragglers(), this.#traffic.drains.watchStragglers())
  }

  #left(requests: readonly Straggler[], watches: readonly Straggler[]): void {
    if (this.#lost.length + requests.length > 0) this.#endRequests(requests)
    const after = watches.length
    if (after > 0) this.#end({ type: 'drained', what: 'watches', before: Math.max(this.#watchesBefore, after), after, cut: watches })
  }

  #endRequests(cutNow: readonly Straggler[]): void {
    const cut = [...this.#lost, ...cutNow]
    this.#end({ type: 'drained', what: 'requests', before: Math.max(this.#traffic.drains.toDrain, cut.length), after: cut.length, cut })
  }

  #end(drained: Drained): void {
    if (this.#over.has(drained.what)) return
    this.#over.add(drained.what)
    this.#record(drained)
    if (drained.what === 'requests') this.#warnOfStreams(undeclaredStreams(drained.cut))
  }

  #warnOfStreams(streams: readonly Straggler[]): void {
    if (streams.length === 0) return
    const details = { count: streams.length, streams: streams.slice(0, STREAMS_NAMED_MAX).map(nameWithProtocol) }
    this.#record({ type: 'warning', message: STREAMS_CUT, details })
  }
}

/** A warning names so many. */
const STREAMS_NAMED_MAX = 10
