import { ModelError } from '../errors.ts'
import { type Collected, StandIn } from './actor-scope.ts'
import { canonical } from './canonical.ts'
import { assertUnchanged } from './changes.ts'
import { emitted, INIT } from './internals.ts'
import type { Where } from './purely.ts'
import type { Effect, LocalState, Logic, ModelEvent } from './state.ts'
import type { Command, Step, StepTable } from './step-table.ts'

/** What `fromTransition` makes. */
export interface Reducer {
  getInitialSnapshot(scope: unknown, input: unknown): ReducerSnapshot
  transition(snapshot: ReducerSnapshot, event: unknown, scope: unknown): ReducerSnapshot
}
interface ReducerSnapshot {
  readonly status: 'active'
  readonly output: undefined
  readonly error: undefined
  readonly context: unknown
}

/**
 * The steps of a transition function. It is pure, so it is explored like a machine: it hears
 * events, and ends only when it throws.
 */
export class ReducerSteps {
  readonly #steps: StepTable
  readonly #logic: Logic
  readonly #reducer: Reducer
  readonly #standIn: StandIn
  computed = 0

  constructor(steps: StepTable, logic: Logic, reducer: Reducer) {
    this.#steps = steps
    this.#logic = logic
    this.#reducer = reducer
    this.#standIn = new StandIn(logic.name, false, () => {})
  }

  initial(input: unknown): Step {
    return this.#compute({ machine: this.#logic.name, event: INIT }, (scope) => this.#reducer.getInitialSnapshot(scope, input), undefined)
  }

  next({ reduced }: LocalState, { object, type }: ModelEvent): Step {
    const where = { machine: this.#logic.name, value: reduced, event: type }
    const before: ReducerSnapshot = { status: 'active', output: undefined, error: undefined, context: reduced }
    const step = this.#compute(where, (scope) => this.#reducer.transition(before, object, scope), reduced)
    assertUnchanged(reduced, 'context', where)
    assertUnchanged(object, 'event', where)
    return step
  }

  recompute(local: LocalState, event: ModelEvent): Step {
    return this.next(local, event)
  }

  assertUnchanged(by: string): void {
    for (const { logic, reduced } of this.#steps.locals.all)
      if (logic === this.#logic) assertUnchanged(reduced, 'context', { machine: `${logic.name} in ${by}` })
  }

  #compute(where: Where, call: (scope: unknown) => ReducerSnapshot, before: unknown): Step {
    this.computed++
    const collected: Collected = { actions: [], transitions: [] }
    const said = (): readonly Command[] => collected.actions.map((action) => ({ kind: 'effect', effect: this.#effect(emitted(action)) }))
    try {
      const { context } = this.#standIn.collect(collected, () => where, call)
      return { local: this.#local('active', context), commands: said(), transitions: [] }
    } catch (error) {
      if (error instanceof ModelError) throw error
      return { local: this.#local('error', before, error), commands: said(), transitions: [] }
    }
  }

  #effect(event: unknown): Effect {
    const text = canonical(event, `${this.#logic.name}: emitted`)
    return this.#steps.effects.intern(`emit ${text}`, (index) => ({ index, type: 'emit', params: event }))
  }

  #local(status: 'active' | 'error', reduced: unknown, error?: unknown): LocalState {
    const { name, index: logicIndex } = this.#logic
    const ended = status === 'error' ? canonical(error, `${name}: error`) : ''
    const text = `${logicIndex} reduced ${canonical(reduced, `${name}: context`)} ${status} ${ended}`
    return this.#steps.locals.intern(text, (index) => ({ index, logic: this.#logic, status, reduced, error }))
  }
}
