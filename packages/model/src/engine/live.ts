import type { ActorState, ActorStates, LocalState, ModelEvent, Timer } from './state.ts'
import type { Step } from './step-table.ts'

/** An actor while something is going on. */
export class Live {
  readonly id: string
  readonly parent: Live | undefined
  local: LocalState
  timers: readonly Timer[]
  /** Starting counts as busy: until it is over, events wait. */
  phase: 'idle' | 'busy' | 'ended' = 'busy'
  mailbox: ModelEvent[] = []
  /** The children by id; those that nothing has happened to are still as they were stored. */
  #children: readonly (Live | ActorState)[]
  #newborns: Map<string, Live> | undefined
  /** What it was thawed from, if it was. */
  readonly #stored: ActorState | undefined

  constructor(id: string, parent: Live | undefined, local: LocalState, stored?: ActorState) {
    this.id = id
    this.parent = parent
    this.local = local
    this.#stored = stored
    this.timers = stored?.timers ?? NO_TIMERS
    this.#children = stored?.children ?? NO_CHILDREN
  }

  static thaw(stored: ActorState, parent: Live | undefined): Live {
    const actor = new Live(stored.id, parent, stored.local, stored)
    actor.phase = stored.local.status === 'active' ? 'idle' : 'ended'
    return actor
  }

  freeze(states: ActorStates): ActorState {
    let { timers } = this
    if (timers !== this.#stored?.timers && timers.length > 1) timers = [...timers].sort((a, b) => a.index - b.index)
    const children = this.#frozenChildren(states)
    if (this.#stored && this.local === this.#stored.local && timers === this.#stored.timers && children === this.#stored.children)
      return this.#stored
    return states.intern(this.id, this.local, timers, children)
  }

  #frozenChildren(states: ActorStates): readonly ActorState[] {
    const before = this.#stored?.children
    if (before && this.#children === before) return before
    const frozen = this.#children.map((child) => (child instanceof Live ? child.freeze(states) : child))
    return before?.length === frozen.length && frozen.every((child, i) => child === before[i]) ? before : frozen
  }

  /** The children that a step is about to start: they can be sent to before they begin. */
  expect({ commands }: Step): void {
    this.#newborns = undefined
    for (const command of commands) {
      if (command.kind !== 'start') continue
      this.#newborns ??= new Map()
      this.#newborns.set(command.id, new Live(command.id, this, command.step.local))
    }
  }

  newborn(id: string): Live | undefined {
    return this.#newborns?.get(id)
  }

  moveTo(local: LocalState): void {
    this.local = local
  }

  child(id: string): Live | undefined {
    const index = this.#children.findIndex((child) => child.id === id)
    const child = this.#children[index]
    return child === undefined || child instanceof Live ? child : this.#thaw(child, index)
  }

  *liveChildren(): Iterable<Live> {
    for (const { id } of this.#children) yield this.child(id) as Live
  }

  #thaw(stored: ActorState, index: number): Live {
    const child = Live.thaw(stored, this)
    this.#children = this.#children.with(index, child)
    return child
  }

  adopt(child: Live): void {
    this.#children = [...this.#children, child].sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  disown(child: Live): void {
    this.#children = this.#children.filter((other) => other !== child)
  }

  schedule(timer: Timer): void {
    this.timers = [...this.timers, timer]
  }

  cancel(name: string): void {
    if (this.timers.some((timer) => timer.name === name)) this.timers = this.timers.filter((timer) => timer.name !== name)
  }

  /** One timer, once: equal ones may be pending beside it. */
  drop(timer: Timer): void {
    this.timers = this.timers.toSpliced(this.timers.indexOf(timer), 1)
  }

  /** Ends the actor: nothing of it goes on. */
  end(): void {
    this.timers = NO_TIMERS
    this.#children = NO_CHILDREN
  }
}

const NO_TIMERS: readonly Timer[] = []
const NO_CHILDREN: readonly (Live | ActorState)[] = []
