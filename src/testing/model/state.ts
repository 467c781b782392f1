import type { AnyStateMachine, EventObject } from 'xstate'
import { Interner } from './interner.ts'
import type { Standing } from './standing.ts'

/**
 * The state of an actor system as a tree of values: what each actor is in, which of its timers are pending, and its running
 * children. Equal trees are one object (hash consing), so a state of the whole system is the number of its root, and what
 * two states have in common is stored once.
 */
export interface ActorState {
  readonly index: number
  /** As its parent calls it. */
  readonly id: string
  readonly local: LocalState
  /** Ordered by number: which was set first makes no difference while time is abstract. */
  readonly timers: readonly Timer[]
  /** Ordered by id. */
  readonly children: readonly ActorState[]
}

/** What an actor does. Machines are explored; everything else is opaque: what it does is up to the environment. */
export interface Logic {
  readonly index: number
  /** The machine's id, or what the parent calls the source of an opaque child. */
  readonly name: string
  readonly machine?: AnyStateMachine
}

/** Where one actor stands, without its timers and children. */
export interface LocalState {
  readonly index: number
  readonly logic: Logic
  readonly status: 'active' | 'done' | 'error'
  /** Only of machines. */
  readonly standing?: Standing
  /** Of opaque children: what they were started with. */
  readonly input?: unknown
  readonly output?: unknown
  readonly error?: unknown
}

/** An event that can be delivered; equal events are one object. */
export interface ModelEvent {
  readonly index: number
  readonly type: string
  readonly object: EventObject
}

/** Whom an actor can reach: by relation, so that what it does never depends on where in the tree it stands. */
export type Address =
  | { readonly kind: 'self' | 'parent' | 'gone' }
  /** `newborn`: the child of this name that the same step starts, rather than one that it may replace. */
  | { readonly kind: 'child'; readonly id: string; readonly newborn?: true }

/** A delayed event. Until it is due or cancelled it is part of the state; when it comes is open. */
export interface Timer {
  readonly index: number
  /** By which it is cancelled; those without a name cannot be. */
  readonly name?: string
  readonly event: ModelEvent
  readonly to: Address
  readonly delayMs: number
}

/** Something a machine said to the outside: a custom action or an emitted event. */
export interface Effect {
  readonly index: number
  /** Name of the action, or `emit`. */
  readonly type: string
  /** Parameters of the action, or the emitted event. */
  readonly params: unknown
}

/** The place of an actor in the tree. */
export interface Path {
  readonly index: number
  readonly id: string
  readonly parent?: Path
  /** Ids from the root's child downwards, joined by `/`; the root itself is the empty text. */
  readonly text: string
}

/** Every distinct {@link ActorState} met so far. */
export class ActorStates {
  readonly #states = new Interner<ActorState>()

  intern(id: string, local: LocalState, timers: readonly Timer[], children: readonly ActorState[]): ActorState {
    let key = `${id} ${local.index}`
    for (const timer of timers) key += `,${timer.index}`
    for (const child of children) key += `/${child.index}`
    return this.#states.intern(key, (index) => ({ index, id, local, timers, children }))
  }

  get count(): number {
    return this.#states.all.length
  }
}
