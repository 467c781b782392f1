import type { ActorSystem, ActorSystemInfo, AnyActorRef, EventObject } from 'xstate'
import { type Scheduled, scheduledIn } from './internals.ts'

/** A timer of a live system. */
export interface PendingTimer {
  readonly source: AnyActorRef
  readonly target: AnyActorRef
  readonly event: EventObject
  readonly delayMs: number
  readonly fire: () => void
}

/**
 * The clock of a live system whose timers are due when a trace says so, in whatever order. A clock
 * that keeps time could not follow a trace: the explorer lets a long delay end before a short one,
 * because nothing is known about how long anything else takes.
 */
export class ManualTimers {
  readonly #pending = new Map<object, { readonly id: string | undefined; readonly fn: () => void }>()
  #system: ActorSystem<ActorSystemInfo> | undefined

  /**
   * xstate keeps what a timer is for in its system, which knows it just before it asks for the
   * timer.
   */
  attach(system: ActorSystem<ActorSystemInfo>): void {
    this.#system = system
  }

  setTimeout(fn: () => void, _ms: number): object {
    const handle = {}
    const known = new Set([...this.#pending.values()].map(({ id }) => id))
    const id = Object.keys(this.#scheduled()).find((other) => !known.has(other))
    this.#pending.set(handle, { id, fn })
    return handle
  }

  clearTimeout(handle: object): void {
    this.#pending.delete(handle)
  }

  pending(): PendingTimer[] {
    const scheduled = this.#scheduled()
    return [...this.#pending].flatMap(([handle, { id, fn }]) => {
      const event = id === undefined ? undefined : scheduled[id]
      if (!event) return []
      const fire = (): void => {
        this.#pending.delete(handle)
        fn()
      }
      return [{ source: event.source, target: event.target, event: event.event, delayMs: event.delay, fire }]
    })
  }

  #scheduled(): Readonly<Record<string, Scheduled>> {
    return this.#system ? scheduledIn(this.#system) : {}
  }
}
