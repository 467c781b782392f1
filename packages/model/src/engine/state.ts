import type { AnyStateMachine, EventObject } from 'xstate'
import type { MachineConfiguration } from './configuration.ts'
import type { ContextKeys } from './context-keys.ts'
import type { LogicKind } from './internals.ts'

/**
 * The state of an actor system as a tree of values: what each actor is in, which of its timers are
 * pending, and its running children. Equal trees are one object (hash consing), so a state of the
 * whole system is the number of its root, and what two states have in common is stored once.
 */
export interface ActorState {
  readonly index: number
  /** The id that its parent calls it by. */
  readonly id: string
  readonly local: LocalState
  /** Ordered by number: which was set first makes no difference while time is abstract. */
  readonly timers: readonly Timer[]
  /** Ordered by id. */
  readonly children: readonly ActorState[]
  /** What `view.ts` shows of it to properties; made when the first one looks. */
  view: object | undefined
}

/**
 * What an actor does. Machines and transition functions are explored; everything else is opaque:
 * what it does is up to the environment.
 */
export interface Logic {
  readonly index: number
  /** The machine's id, or what the parent calls the source of another child. */
  readonly name: string
  readonly kind: LogicKind
  readonly machine?: AnyStateMachine
  /** Its own steps are computed; otherwise it takes none. */
  readonly isExplored: boolean
  /** The known keys of the contexts of machines. */
  readonly contextKeys?: ContextKeys
  /** Ids of all children in the system, declared or started so far. */
  readonly childIds: ReadonlySet<string>
}

/** Where one actor stands, without its timers and children. */
export interface LocalState {
  readonly index: number
  readonly logic: Logic
  readonly status: 'active' | 'done' | 'error'
  /** The configuration, of machines only. */
  readonly configuration?: MachineConfiguration
  /** The value that a transition function has come to. */
  readonly reduced?: unknown
  /** The input that opaque children were started with. */
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

/**
 * An actor that another one can reach: by relation, so that what it does never depends on where in
 * the tree it stands.
 */
export type Address =
  | { readonly kind: 'self' | 'parent' | 'gone' }
  /**
   * `newborn`: the child of this name that the same step starts, rather than one that it may
   * replace.
   */
  | { readonly kind: 'child'; readonly id: string; readonly newborn?: true }

/** A delayed event. Until it is due or cancelled it is part of the state; when it comes is open. */
export interface Timer {
  readonly index: number
  /** The name by which it is cancelled; those without a name cannot be. */
  readonly name?: string
  readonly event: ModelEvent
  readonly to: Address
  readonly delayMs: number
}

/** An effect: something a machine said to the outside, a custom action or an emitted event. */
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

/**
 * Every distinct {@link ActorState} met so far, found by what it consists of: a hash table of
 * numbers, because texts as keys would take most of the time and memory of exploring.
 */
export class ActorStates {
  readonly #states: ActorState[] = []
  /**
   * Numbers of states, each at or after the place that its hash says; at least half of the places
   * are free.
   */
  #table = new Int32Array(1024).fill(FREE)

  intern(id: string, local: LocalState, timers: readonly Timer[], children: readonly ActorState[]): ActorState {
    let place = this.#placeFor(hashOf(local, timers, children))
    for (; this.#table[place] !== FREE; place = this.#next(place)) {
      const known = this.#states[this.#table[place] as number] as ActorState
      if (known.local === local && known.id === id && areSame(known.timers, timers) && areSame(known.children, children)) return known
    }
    const state = { index: this.#states.length, id, local, timers, children, view: undefined }
    this.#states.push(state)
    this.#table[place] = state.index
    if (this.#states.length * 2 > this.#table.length) this.#grow()
    return state
  }

  #placeFor(hash: number): number {
    return hash & (this.#table.length - 1)
  }

  #next(place: number): number {
    return (place + 1) & (this.#table.length - 1)
  }

  #grow(): void {
    this.#table = new Int32Array(this.#table.length * 2).fill(FREE)
    for (const { index, local, timers, children } of this.#states) {
      let place = this.#placeFor(hashOf(local, timers, children))
      while (this.#table[place] !== FREE) place = this.#next(place)
      this.#table[place] = index
    }
  }
}

const FREE = -1

/**
 * The place in a table of a power of two places, which uses the low bits, so the last thing is to
 * mix the high ones in.
 */
function hashOf({ index }: LocalState, timers: readonly Timer[], children: readonly ActorState[]): number {
  let hash = index
  for (const timer of timers) hash = Math.imul(hash, 31) + timer.index
  for (const child of children) hash = Math.imul(hash, 0x9e3779b1) + child.index
  return hash ^ (hash >>> 15)
}

const areSame = <T>(one: readonly T[], other: readonly T[]): boolean =>
  one.length === other.length && one.every((item, i) => item === other[i])
