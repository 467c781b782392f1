import type { AnyTransitionDefinition } from 'xstate'
import { remembered } from './remembered.ts'
import type { Command } from './step-table.ts'

/** What is to be done for one part of a step. */
export interface Doing {
  /** Custom actions, which run while the step is computed. */
  readonly early: readonly Command[]
  /** Everything else, which comes after the whole step. */
  readonly late: readonly Command[]
  readonly transitions: readonly AnyTransitionDefinition[]
}

/**
 * What is to be done for a step, part by part. The same parts give the same object: there are far
 * fewer sequences than steps.
 */
export class Doings {
  readonly #before: Doings | undefined
  readonly #last: Doing | undefined
  readonly #next = new Map<Doing, Doings>()
  #commands: readonly Command[] | undefined
  #transitions: readonly AnyTransitionDefinition[] | undefined

  constructor(before?: Doings, last?: Doing) {
    this.#before = before
    this.#last = last
  }

  and(doing: Doing): Doings {
    return remembered(this.#next, doing, () => new Doings(this, doing))
  }

  /** In the order in which xstate does it. */
  get commands(): readonly Command[] {
    this.#commands ??= [...this.early, ...this.#late()]
    return this.#commands
  }

  get early(): readonly Command[] {
    return this.#parts().flatMap(({ early }) => early)
  }

  get transitions(): readonly AnyTransitionDefinition[] {
    this.#transitions ??= this.#parts().flatMap(({ transitions }) => transitions)
    return this.#transitions
  }

  #late(): readonly Command[] {
    const late: Command[] = []
    for (const command of this.#parts().flatMap((part) => part.late)) {
      // A child stopped in the step that made it never starts.
      const start = command.kind === 'stop' ? late.findIndex((other) => other.kind === 'start' && other.id === command.id) : -1
      if (start < 0) late.push(command)
      else late.splice(start, 1)
    }
    return late
  }

  #parts(): readonly Doing[] {
    const parts: Doing[] = []
    for (let at: Doings | undefined = this; at; at = at.#before) if (at.#last) parts.push(at.#last)
    return parts.reverse()
  }
}
