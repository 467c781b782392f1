import type { Observable } from 'rxjs/internal/Observable'
import { Subject } from 'rxjs/internal/Subject'
import type { LifecycleEvent } from '../base/events.ts'
import { publishEvents } from '../report/diagnostics.ts'

/** Where users hear of events: `events$`, and the channels of node:diagnostics_channel. */
export class EventOutlet {
  readonly #events = new Subject<LifecycleEvent>()
  readonly #publish: (event: LifecycleEvent) => void
  /** Events that are kept back, while something more urgent is done. */
  #kept: LifecycleEvent[] | undefined

  /** @param life what subscribers of channels get with each event */
  constructor(life: object) {
    this.#publish = publishEvents(life)
  }

  get events$(): Observable<LifecycleEvent> {
    return this.#events.asObservable()
  }

  /** A sink of events. */
  readonly hand = (event: LifecycleEvent): void => {
    if (this.#kept) this.#kept.push(event)
    else {
      this.#publish(event)
      this.#events.next(event)
    }
  }

  /** Hands on what happens in `work` when that is done. */
  holdWhile(work: () => void): void {
    const kept: LifecycleEvent[] = []
    this.#kept = kept
    work()
    this.#kept = undefined
    for (const event of kept) this.hand(event)
  }

  complete(): void {
    this.#events.complete()
  }
}
