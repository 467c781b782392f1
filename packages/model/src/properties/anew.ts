import type { Choice } from '../engine/choice.ts'
import type { DeliveryListener } from '../engine/delivery.ts'
import type { Live } from '../engine/live.ts'
import type { LocalState, Timer } from '../engine/state.ts'
import type { Step } from '../engine/step-table.ts'
import { actorPath } from '../engine/trace.ts'

/** The same for a timer that stays as it is from one state to the next. */
export const timerKey = (path: string, { name, event, delayMs }: Timer): string => `${path} ${name ?? `${event.index} ${delayMs}`}`

/**
 * What a step sets or starts: timers and children that are new, though they may look like ones that
 * were there before.
 */
export class Anew implements DeliveryListener {
  readonly #timers = new Map<string, number>()
  readonly #children = new Set<string>()

  /** How often a timer was set. */
  timesSet(key: string): number {
    return this.#timers.get(key) ?? 0
  }

  /** Whether what the choice waits for has begun again. */
  renews({ path, timer }: Choice): boolean {
    return timer ? this.timesSet(timerKey(path.text, timer)) > 0 : this.#children.has(path.text)
  }

  stepped(actor: Live, _before: LocalState, { commands }: Step): void {
    const path = actorPath(actor)
    for (const command of commands) {
      if (command.kind === 'start') this.#children.add(path ? `${path}/${command.id}` : command.id)
      if (command.kind !== 'schedule') continue
      const key = timerKey(path, command.timer)
      this.#timers.set(key, this.timesSet(key) + 1)
    }
  }

  sent(): void {}
  said(): void {}
}
