import type { Clock } from '../base/clock.ts'
import type { LifecycleEvent, Straggler } from '../base/events.ts'
import type { Blocking, Traffic } from '../http/traffic/traffic.ts'

/** What is going on in a life at one moment: plain data that survives JSON, to be shown. */
export interface Gauges extends Blocking {
  /** At most {@link NAMES_MAX} of each, oldest first. */
  readonly blocking: Blocking['blocking'] & {
    /** Hooks and destroy functions that run, as `pre-shutdown hook "leave"`. */
    readonly hooks: readonly Straggler[]
  }
}

const NAMES_MAX = 50

/**
 * The one view of what goes on in a life: the inspector, the terminal and all others that show it
 * read it here. Reading looks at every connection, so a few times per second is often enough;
 * nothing is kept for it on the request path.
 */
export class GaugeReader {
  readonly #clock: Clock
  readonly #traffic: Traffic
  readonly #hooks = new Map<string, number>()

  constructor(clock: Clock, traffic: Traffic) {
    this.#clock = clock
    this.#traffic = traffic
  }

  /** A sink of events: what hooks run is known by what is told of them. */
  readonly observe = (event: LifecycleEvent): void => {
    if (event.type === 'hook.started') this.#hooks.set(hookName(event), this.#clock.now())
    if (event.type === 'hook.ended') this.#hooks.delete(hookName(event))
  }

  read(): Gauges {
    const now = this.#clock.now()
    const { blocking, ...counts } = this.#traffic.blocking(NAMES_MAX)
    const hooks = Array.from(this.#hooks, ([name, since]) => ({ name, ageMs: now - since }))
    return { ...counts, blocking: { ...blocking, hooks: hooks.slice(0, NAMES_MAX) } }
  }
}

const hookName = ({ kind, name }: Extract<LifecycleEvent, { type: 'hook.started' | 'hook.ended' }>): string => `${kind} hook "${name}"`
