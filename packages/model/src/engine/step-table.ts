import type { AnyTransitionDefinition, EventObject } from 'xstate'
import type { Interner } from './interner.ts'
import type { Address, Effect, LocalState, ModelEvent, Timer } from './state.ts'

/** One macrostep of one actor. */
export interface Step {
  /** Where the actor stands after it. */
  readonly local: LocalState
  readonly commands: readonly Command[]
  readonly transitions: readonly AnyTransitionDefinition[]
}

/** What an actor does in answer to one event, in the order in which xstate does it. */
export type Command =
  | { readonly kind: 'effect'; readonly effect: Effect }
  | { readonly kind: 'start'; readonly id: string; readonly step: Step }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'send'; readonly to: Address; readonly event: ModelEvent }
  | { readonly kind: 'schedule'; readonly timer: Timer }
  | { readonly kind: 'cancel'; readonly name: string }

/**
 * Where equal things are one: what computes the steps of one actor puts into it what it finds, and
 * gets the first steps of children from it.
 */
export interface StepTable {
  readonly locals: Interner<LocalState>
  readonly timers: Interner<Timer>
  readonly effects: Interner<Effect>
  readonly childIds: Set<string>
  /** The first step of a child. `name` is what its parent calls what it does. */
  initial(logic: unknown, name: string, id: string, input: unknown): Step
  event(object: EventObject, where: string): ModelEvent
}
