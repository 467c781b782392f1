import { childOf, type Environment, eventsAt, type OpaqueChild } from './environment.ts'
import { AFTER, isError } from './internals.ts'
import { Interner } from './interner.ts'
import { remembered } from './remembered.ts'
import type { ActorState, ModelEvent, Path, Timer } from './state.ts'
import type { Steps } from './step.ts'

/** One thing that may happen next. The same thing in two states is one object. */
export interface Choice {
  readonly index: number
  readonly kind: 'event' | 'timer' | 'outcome' | 'message'
  /** Who sees it: the root, the owner of the timer, the opaque child that ends or speaks. */
  readonly path: Path
  /** What is delivered: to the root, to the timer's target, to the child's parent. */
  readonly event: ModelEvent
  /** Only of kind `timer`. */
  readonly timer?: Timer
  /** In a few words, unique in a system: `stop.requested`, `destroy/run-hook resolves`. */
  readonly label: string
}

/**
 * Everything that may happen in a state: external events, pending timers, and what opaque children
 * do.
 */
export class Choices {
  readonly all = new Interner<Choice>()
  readonly #paths = new Interner<Path>()
  readonly #environment: Environment
  readonly #steps: Steps
  readonly #ofChild = new Map<number, readonly Choice[]>()
  readonly #ofRoot = new Map<number, readonly Choice[]>()
  readonly rootPath: Path

  constructor(steps: Steps, environment: Environment) {
    this.#steps = steps
    this.#environment = environment
    this.rootPath = this.#paths.intern('', (index) => ({ index, id: '', text: '' }))
  }

  at(root: ActorState): readonly Choice[] {
    if (root.local.status !== 'active') return NONE
    const choices = [...this.#external(root)]
    this.#own(root, this.rootPath, choices)
    for (const child of root.children) for (const choice of this.#below(child, this.rootPath)) choices.push(choice)
    return choices
  }

  path(parent: Path, id: string): Path {
    return this.#paths.intern(`${parent.index}/${id}`, (index) => ({
      index,
      id,
      parent,
      text: parent.parent ? `${parent.text}/${id}` : id,
    }))
  }

  #external({ local }: ActorState): readonly Choice[] {
    return remembered(this.#ofRoot, local.index, () =>
      eventsAt(this.#environment, local).map((object) => this.#choice('event', this.rootPath, this.#steps.event(object, 'environment'))),
    )
  }

  /**
   * The choices of a child and all below it; remembered, because most of a system stays as it is
   * from state to state.
   */
  #below(actor: ActorState, parent: Path): readonly Choice[] {
    return remembered(this.#ofChild, parent.index * ACTORS_MAX + actor.index, () => {
      const path = this.path(parent, actor.id)
      const choices: Choice[] = []
      this.#own(actor, path, choices)
      for (const child of actor.children) choices.push(...this.#below(child, path))
      return choices
    })
  }

  #own({ local, timers, id }: ActorState, path: Path, choices: Choice[]): void {
    let previous: Timer | undefined
    for (const timer of timers) {
      // Equal timers stand beside each other; which of them is due makes no difference.
      if (timer !== previous) choices.push(this.#choice('timer', path, timer.event, timer))
      previous = timer
    }
    if (local.logic.machine) return
    const { outcomes = [], sends = [] }: OpaqueChild = childOf(this.#environment, local.logic.name, local.input, id)
    for (const outcome of outcomes) {
      const event =
        outcome.kind === 'resolves'
          ? this.#steps.done(id, outcome.output, local.logic.name)
          : this.#steps.failed(id, outcome.error, local.logic.name)
      choices.push(this.#choice('outcome', path, event))
    }
    for (const object of sends) choices.push(this.#choice('message', path, this.#steps.event(object, local.logic.name)))
  }

  #choice(kind: Choice['kind'], path: Path, event: ModelEvent, timer?: Timer): Choice {
    return this.all.intern(`${kind} ${path.index} ${event.index} ${timer?.index}`, (index) => ({
      index,
      kind,
      path,
      event,
      ...(timer && { timer }),
      label: labelOf(kind, path, event, timer),
    }))
  }
}

/** Actors are numbered; a path and an actor together are one number below 2^53. */
const ACTORS_MAX = 2 ** 32

const NONE: readonly Choice[] = []

function labelOf(kind: Choice['kind'], { text }: Path, { type, object }: ModelEvent, timer?: Timer): string {
  switch (kind) {
    case 'event':
      return type + detail(object)
    case 'timer':
      return `${text}${text && ' '}after ${timerName(timer as Timer)}`
    case 'message':
      return `${text} sends ${type}${detail(object)}`
    case 'outcome': {
      const { output, error } = object as { output?: unknown; error?: unknown }
      return isError(type)
        ? `${text} rejects: ${(error as Error)?.message ?? error}`
        : `${text} resolves${output === undefined ? '' : ` ${brief(output)}`}`
    }
  }
}

/** `DELAY.STATE` of a delayed transition; the delay and the event of a delayed action. */
export const timerName = ({ event, delayMs, to }: Timer): string => {
  if (event.type.startsWith(AFTER)) return event.type.slice(AFTER.length)
  return `${delayMs} ms: ${event.type}${to.kind === 'gone' ? ' to an actor that is gone' : ''}`
}

const detail = ({ type: _, ...rest }: { readonly type: string }): string => (Object.keys(rest).length === 0 ? '' : ` ${brief(rest)}`)

const brief = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
