import type { AnyStateMachine } from 'xstate'
import { Alike } from './alike.ts'
import { assertHeard, childOf, type Environment, eventsAt, type OpaqueChild } from './environment.ts'
import { AFTER, isError, type LogicKind } from './internals.ts'
import { Interner } from './interner.ts'
import { remembered } from './memo.ts'
import type { ActorState, Logic, ModelEvent, Path, Timer } from './state.ts'
import type { Steps } from './step.ts'

/** One thing that may happen next. The same thing in two states is one object. */
export interface Choice {
  readonly index: number
  readonly kind: 'event' | 'timer' | 'outcome' | 'message'
  /** Who sees it: the root, the owner of the timer, the opaque child that ends or speaks. */
  readonly path: Path
  /** What is delivered: to the root, to the timer's target, to the child's parent. */
  readonly event: ModelEvent
  /** The timer of kind `timer`. */
  readonly timer?: Timer
  /**
   * The label in a few words, for people: `stop.requested`, `destroy/run-hook resolves`. Long ones
   * are cut, so two choices may have the same.
   */
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
  readonly #ofChild = new Map<Logic, Map<number, readonly Choice[]>>()
  readonly #ofRoot = new Map<number, readonly Choice[]>()
  readonly #alike: Alike
  readonly rootPath: Path

  constructor(steps: Steps, environment: Environment) {
    this.#steps = steps
    this.#environment = environment
    this.#alike = new Alike(environment.alike)
    this.rootPath = this.#paths.intern('', (index) => ({ index, id: '', text: '' }))
  }

  at(root: ActorState): readonly Choice[] {
    if (root.local.status !== 'active') return NONE
    const choices = [...this.#external(root)]
    this.#own(root, undefined, this.rootPath, choices)
    this.#children(root, this.rootPath, choices)
    return choices
  }

  /** @throws ModelError ERR_MODEL_OPTION for a child of `alike` that goes on after the choice */
  assertEnded(choice: Choice, root: ActorState): void {
    this.#alike.assertEnded(choice, root)
  }

  /**
   * @param machine the root
   * @throws ModelError ERR_MODEL_UNKNOWN for a path of `alike` that no child may have
   */
  assertAlikeKnown(machine: AnyStateMachine): void {
    this.#alike.assertKnown(machine)
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
      eventsAt(this.#environment, local).map((object, i) => {
        assertHeard(object, local.logic, `events[${i}]`)
        return this.#choice('event', this.rootPath, this.#steps.event(object, 'environment'))
      }),
    )
  }

  /**
   * The choices of a child and all below it; remembered, because most of a system stays as it is
   * from state to state.
   */
  #below(actor: ActorState, parent: ActorState, above: Path): readonly Choice[] {
    const { logic } = parent.local
    const known = remembered(this.#ofChild, logic, () => new Map<number, readonly Choice[]>())
    return remembered(known, above.index * ACTORS_MAX + actor.index, () => {
      const path = this.path(above, actor.id)
      const choices: Choice[] = []
      this.#own(actor, logic, path, choices)
      this.#children(actor, path, choices)
      return choices
    })
  }

  #children(actor: ActorState, path: Path, choices: Choice[]): void {
    for (const child of actor.children) {
      const below = this.#below(child, actor, path)
      choices.push(...(this.#alike.waits(child, actor, path) ? below.filter((choice) => !endsChild(choice, child)) : below))
    }
  }

  #own({ local, timers, id }: ActorState, parent: Logic | undefined, path: Path, choices: Choice[]): void {
    let previous: Timer | undefined
    for (const timer of timers) {
      // Equal timers stand beside each other; which of them is due makes no difference.
      if (timer !== previous) choices.push(this.#choice('timer', path, timer.event, timer))
      previous = timer
    }
    const { logic } = local
    if (logic.isExplored || parent === undefined) return
    const { outcomes = [], sends = [] }: OpaqueChild = childOf(this.#environment, local, id, parent)
    for (const outcome of outcomes) {
      const event =
        outcome.kind === 'resolves' ? this.#steps.done(id, outcome.output, logic.name) : this.#steps.failed(id, outcome.error, logic.name)
      choices.push(this.#choice('outcome', path, event, undefined, logic.kind))
    }
    for (const object of sends) choices.push(this.#choice('message', path, this.#steps.event(object, logic.name)))
  }

  #choice(kind: Choice['kind'], path: Path, event: ModelEvent, timer?: Timer, ends?: LogicKind): Choice {
    return this.all.intern(`${kind} ${path.index} ${event.index} ${timer?.index}`, (index) => ({
      index,
      kind,
      path,
      event,
      ...(timer && { timer }),
      label: labelOf(kind, path, event, timer, ends),
    }))
  }
}

/** What a machine that is `alike` does, it ends with; others end with an outcome of their own. */
const endsChild = ({ kind }: Choice, { local }: ActorState): boolean => local.logic.isExplored || kind === 'outcome'

/** Actors are numbered; a path and an actor together are one number below 2^53. */
const ACTORS_MAX = 2 ** 32

const NONE: readonly Choice[] = []

function labelOf(kind: Choice['kind'], { text }: Path, { type, object }: ModelEvent, timer?: Timer, ends?: LogicKind): string {
  switch (kind) {
    case 'event':
      return type + detail(object)
    case 'timer':
      return `${text}${text && ' '}after ${timerName(timer as Timer)}`
    case 'message':
      return `${text} sends ${type}${detail(object)}`
    case 'outcome': {
      const { output, error } = object as { output?: unknown; error?: unknown }
      const isObservable = ends === 'observable' || ends === 'event observable'
      return isError(type)
        ? `${text} ${ends === 'promise' ? 'rejects' : 'fails'}: ${(error as Error)?.message ?? error}`
        : `${text} ${isObservable ? 'completes' : 'resolves'}${output === undefined ? '' : ` ${brief(output)}`}`
    }
  }
}

/** `DELAY.STATE` of a delayed transition; the delay and the event of a delayed action. */
export const timerName = ({ event, delayMs, to }: Timer): string => {
  if (event.type.startsWith(AFTER)) return event.type.slice(AFTER.length)
  return `${delayMs} ms: ${event.type}${to.kind === 'gone' ? ' to an actor that has ended' : ''}`
}

const detail = ({ type: _, ...rest }: { readonly type: string }): string => (Object.keys(rest).length === 0 ? '' : ` ${brief(rest)}`)

const brief = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
