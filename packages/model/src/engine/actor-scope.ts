import type { AnyActorRef, AnyActorScope, AnyTransitionDefinition, ExecutableActionObject } from 'xstate'
import { actorMembers, EMIT, systemMembers } from './internals.ts'
import { purely, type Where } from './purely.ts'
import { unsupported } from './unsupported.ts'

/** What one step yields: the actions to perform, in order, and the transitions that were taken. */
export interface Collected {
  readonly actions: ExecutableActionObject[]
  readonly transitions: AnyTransitionDefinition[]
}

const tokens = new WeakSet<object>()
/** Whether an object stands for an actor or its system. */
export const isToken = (value: object): boolean => tokens.has(value)

/** Begins the id of a child that was given none. */
export const UNNAMED = '\0unnamed'

/**
 * What xstate's pure functions are given in place of a running actor. One stand-in serves every
 * actor of a machine, wherever it stands in the tree: `self` and `parent` are tokens that only
 * serve as addresses, and reading anything else of them is refused. Nothing is ever started,
 * scheduled or executed here; actions are collected.
 */
export class StandIn {
  readonly self: AnyActorRef
  /** Undefined for the root of a system, as in xstate. */
  readonly parent: AnyActorRef | undefined
  readonly #scope: AnyActorScope
  readonly #onMicrostep: (transitions: readonly AnyTransitionDefinition[]) => void
  #collected: Collected = { actions: [], transitions: [] }
  /**
   * xstate turns what is thrown in a guard or an initial context into other errors, so a refusal is
   * kept here.
   */
  #refused: Error | undefined

  constructor(name: string, isRoot: boolean, onMicrostep: (transitions: readonly AnyTransitionDefinition[]) => void) {
    this.#onMicrostep = onMicrostep
    const system = this.#system(name)
    this.parent = isRoot ? undefined : this.#token(`${name}: parent`, {})
    this.self = this.#token(`${name}: self`, actorMembers(system, this.parent))
    this.#scope = {
      self: this.self,
      id: name,
      sessionId: name,
      system,
      logger: () => {},
      // Built-in actions defer when they are executed, which they are not; only `spawn` does it
      // while it is resolved.
      defer: () => {
        throw this.#refuse(name, 'spawn() inside assign or an initial context', 'use the spawnChild action with an id')
      },
      // Of a transition function; a machine emits by an action.
      emit: (event: unknown) => void this.#collected.actions.push({ type: EMIT, params: { event } } as never),
      stopChild: () => {},
      actionExecutor: (action) => void this.#collected.actions.push(action),
    }
  }

  /**
   * Calls one pure function of the machine and puts what it asked for into `collected`, also when
   * it throws.
   */
  collect<T>(collected: Collected, where: () => Where, call: (scope: AnyActorScope) => T): T {
    this.#collected = collected
    try {
      return purely(where, () => call(this.#scope))
    } finally {
      this.#throwRefused()
    }
  }

  #throwRefused(): void {
    const refused = this.#refused
    this.#refused = undefined
    if (refused) throw refused
  }

  #refuse(where: string, what: string, instead: string): Error {
    this.#refused ??= unsupported(where, what, instead)
    return this.#refused
  }

  /** An object of which only the given properties may be read. */
  #token(where: string, known: Record<string, unknown>): AnyActorRef {
    const token = new Proxy(known, {
      get: (target, key) => {
        if (typeof key === 'symbol' || key in target) return Reflect.get(target, key)
        throw this.#refuse(where, `reading ${key}`, 'let the step depend on nothing but the state and the event')
      },
    })
    tokens.add(token)
    return token as unknown as AnyActorRef
  }

  /**
   * xstate books children and reports microsteps here while it computes; user code must not look at
   * it.
   */
  #system(name: string): AnyActorScope['system'] {
    const known = systemMembers(
      (booked) => `${UNNAMED}${booked}`,
      (actor, transitions) => {
        if (actor !== this.self) return
        this.#collected.transitions.push(...transitions)
        this.#onMicrostep(transitions)
      },
    )
    return this.#token(`${name}: system`, known) as unknown as AnyActorScope['system']
  }
}
