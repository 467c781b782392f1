import type { AnyTransitionDefinition } from 'xstate'
import { remembered } from './memo.ts'
import type { Command } from './step-table.ts'

/** The commands that one part of a step gives. */
export interface StepCommands {
  /** Custom actions, which run while the step is computed. */
  readonly early: readonly Command[]
  /** Everything else, which comes after the whole step. */
  readonly late: readonly Command[]
  readonly transitions: readonly AnyTransitionDefinition[]
}

/**
 * The commands of a step, part by part. The same parts give the same object: there are far
 * fewer sequences than steps.
 */
export class CommandSequence {
  readonly #before: CommandSequence | undefined
  readonly #last: StepCommands | undefined
  readonly #next = new Map<StepCommands, CommandSequence>()
  #commands: readonly Command[] | undefined
  #transitions: readonly AnyTransitionDefinition[] | undefined

  constructor(before?: CommandSequence, last?: StepCommands) {
    this.#before = before
    this.#last = last
  }

  and(commands: StepCommands): CommandSequence {
    return remembered(this.#next, commands, () => new CommandSequence(this, commands))
  }

  /** The commands in the order in which xstate executes them. */
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

  #parts(): readonly StepCommands[] {
    const parts: StepCommands[] = []
    for (let at: CommandSequence | undefined = this; at; at = at.#before) if (at.#last) parts.push(at.#last)
    return parts.reverse()
  }
}
