import { type AnyStateMachine, matchesState, type StateValue } from 'xstate'
import { ModelError } from '../errors.ts'
import { hint } from '../near.ts'
import { contextShown, valueShown } from './named.ts'
import type { ActorState, Path, Timer } from './state.ts'
import type { ContextOf, StateOf, ValueOf } from './typed.ts'
import { assertState } from './vocabulary.ts'

/** An actor of a state, for those who state properties. */
export interface ActorView<M extends AnyStateMachine = AnyStateMachine> {
  readonly id: string
  readonly status: 'active' | 'done' | 'error'
  /** The active states, of machines. Reading a region that the machine does not have is refused. */
  readonly value: ValueOf<M> | undefined
  /**
   * The context of machines, and what a transition function has come to. Reading a key that no
   * context of the machine has in any run is refused: ModelError ERR_MODEL_UNKNOWN.
   */
  readonly context: ContextOf<M>
  /** The input of opaque children. */
  readonly input: unknown
  readonly output: unknown
  readonly error: unknown
  /** Pending timers that this actor set. */
  readonly timers: readonly Timer[]
  /** Running children. */
  readonly children: readonly ActorView[]
  /**
   * Whether the machine is in a state: `'drained'`, `{ budget: 'spending' }`.
   * @throws ModelError ERR_MODEL_UNKNOWN for a state that it does not have
   */
  matches(value: StateOf<M>): boolean
  /**
   * A running actor below this one, by ids: `actor('destroy', 'run-hook')`.
   * @throws ModelError ERR_MODEL_UNKNOWN for a child that is started in no run
   */
  actor(...path: readonly string[]): ActorView | undefined
}

/** What a property sees of a state; the same for the same state. */
export function viewOf(state: ActorState): ActorView {
  state.view ??= new View(state)
  return state.view as ActorView
}

/** The actor at a place in the tree; undefined when there is none. */
export const actorAt = (root: ActorView, { id, parent }: Path): ActorView | undefined => (parent ? actorAt(root, parent)?.actor(id) : root)

class View implements ActorView {
  readonly #state: ActorState
  /** Put together from its regions when it is asked for, and properties ask again and again. */
  #value: StateValue | undefined
  #context: unknown
  #children: readonly ActorView[] | undefined

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
    const { configuration, logic } = this.#state.local
    this.#value ??= configuration && valueShown(logic, configuration.value)
    return this.#value
  }

  get context(): unknown {
    this.#context ??= contextShown(this.#state.local)
    return this.#context
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
    // Properties share it, and one may sort what it is given.
    this.#children ??= Object.freeze(this.#state.children.map(viewOf))
    return this.#children
  }

  matches(value: StateValue): boolean {
    const { machine, name, kind } = this.#state.local.logic
    if (!machine)
      throw new ModelError(
        'ERR_MODEL_UNKNOWN',
        `${name} is ${kind === 'logic of its own' ? 'no machine' : `made as ${kind}`}: it has no states`,
      )
    assertState(machine, value)
    return this.value !== undefined && matchesState(value, this.value)
  }

  actor(...[id, ...below]: readonly string[]): ActorView | undefined {
    if (id === undefined) return this
    const child = this.#state.children.find((state) => state.id === id)
    if (!child) this.#assertStarted(id)
    return child && viewOf(child).actor(...below)
  }

  #assertStarted(id: string): void {
    const { childIds, name } = this.#state.local.logic
    if (!childIds.has(id))
      throw new ModelError('ERR_MODEL_UNKNOWN', `${name}: no child of the system is called "${id}"${hint(id, childIds)}`, { id })
  }
}
