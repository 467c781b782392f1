import { matchesState, type StateValue } from 'xstate'
import { remembered } from './remembered.ts'
import type { ActorState, Path, Timer } from './state.ts'

/** An actor of a state, for those who state properties. */
export interface ActorView {
  readonly id: string
  readonly status: 'active' | 'done' | 'error'
  /** Of machines. */
  readonly value: StateValue | undefined
  /** Of machines. */
  readonly context: unknown
  /** Of opaque children. */
  readonly input: unknown
  readonly output: unknown
  readonly error: unknown
  /** Pending timers that this actor set. */
  readonly timers: readonly Timer[]
  /** Running children. */
  readonly children: readonly ActorView[]
  /** Whether the machine is in a state: `'drained'`, `{ budget: 'spending' }`. */
  matches(value: StateValue): boolean
  /** A running actor below this one, by ids: `actor('destroy', 'run-hook')`. */
  actor(...path: readonly string[]): ActorView | undefined
}

const views = new WeakMap<ActorState, ActorView>()

/** What a property sees of a state. */
export const viewOf = (state: ActorState): ActorView => remembered(views, state, () => new View(state))

/** The actor at a place in the tree; undefined when there is none. */
export const actorAt = (root: ActorView, { id, parent }: Path): ActorView | undefined => (parent ? actorAt(root, parent)?.actor(id) : root)

class View implements ActorView {
  readonly #state: ActorState
  /** Put together from its regions when it is asked for, and properties ask again and again. */
  #value: StateValue | undefined

  constructor(state: ActorState) {
    this.#state = state
  }

  get id() {
    return this.#state.id
  }

  get status() {
    return this.#state.local.status
  }

  get value(): StateValue | undefined {
    this.#value ??= this.#state.local.standing?.value
    return this.#value
  }

  get context(): unknown {
    return this.#state.local.standing?.context
  }

  get input(): unknown {
    return this.#state.local.input
  }

  get output(): unknown {
    return this.#state.local.output
  }

  get error(): unknown {
    return this.#state.local.error
  }

  get timers() {
    return this.#state.timers
  }

  get children(): readonly ActorView[] {
    return this.#state.children.map(viewOf)
  }

  matches(value: StateValue): boolean {
    return this.value !== undefined && matchesState(value, this.value)
  }

  actor(...[id, ...below]: readonly string[]): ActorView | undefined {
    if (id === undefined) return this
    const child = this.#state.children.find((state) => state.id === id)
    return child && viewOf(child).actor(...below)
  }
}
