import type { InspectionEvent } from 'xstate'

/**
 * What xstate emits of an actor, an `InspectionEvent` of its own. Said without its types, which do
 * not compile under the strictest settings (docs/decisions/0058-a-package-of-few-files.md).
 */
export interface ActorEmission {
  readonly type: string
  readonly rootId: string
  readonly actorRef: object
}

/** A method, so that what takes xstate's own events can be given. */
interface Seeing {
  see(event: ActorEmission): void
}

/** What xstate tells of actors goes there, as with the option `inspect` of `createActor`. */
export type ActorInspector = Seeing['see'] | { next?(event: ActorEmission): void }

/** The same, or what has it: an inspector as `@statelyai/inspect` makes them. */
export type InspectOption = ActorInspector | { readonly inspect: ActorInspector }

/** The root of a system of actors. */
export interface InspectedRoot {
  readonly sessionId: string
  readonly system: { inspect(observer: (event: ActorEmission) => void): { unsubscribe(): void } }
}

/**
 * The systems of actors beside that of a life: those that are there, and those that come while it
 * is watched.
 */
export class SystemsBeside {
  readonly #there: () => readonly InspectedRoot[]
  readonly #heard = new Set<(root: InspectedRoot) => void>()

  /** @param there the roots of all of them at any time */
  constructor(there: () => readonly InspectedRoot[]) {
    this.#there = there
  }

  roots(): readonly InspectedRoot[] {
    return this.#there()
  }

  /** Calls back with each that comes from now on. */
  onNew(hear: (root: InspectedRoot) => void): { unsubscribe(): void } {
    this.#heard.add(hear)
    return { unsubscribe: () => this.#heard.delete(hear) }
  }

  /** Tells all who listen of an actor system that has come. */
  came(root: InspectedRoot): void {
    for (const hear of this.#heard) hear(root)
  }
}

/**
 * Everything that the actors of a system emit from now on. What a machine raises is told as an
 * event from itself to itself, which inspectors show; of xstate it is one of a machine's
 * microsteps, which most of them drop.
 *
 * @param see called in the middle of a machine's step, so it must not throw: xstate would never
 * come back to that step
 */
export function inspectSystem(root: InspectedRoot, see: (event: InspectionEvent) => void): { unsubscribe(): void } {
  /** The event that each actor works on. */
  const current = new WeakMap<object, unknown>()
  return root.system.inspect((emission) => {
    const event = emission as InspectionEvent
    const { actorRef } = event
    if (event.type === '@xstate.event') current.set(actorRef, event.event)
    else if (event.type === '@xstate.microstep' && current.get(actorRef) !== event.event) {
      current.set(actorRef, event.event)
      if (!event.event.type.startsWith('xstate.'))
        see({ type: '@xstate.event', rootId: event.rootId, actorRef, sourceRef: actorRef, event: event.event })
    }
    see(event)
  })
}

/**
 * Gives an inspector everything that systems emit, their roots first, which are there already. One
 * that throws misses what it has thrown at, and nothing else comes of it.
 * @param failed called the first time
 * @returns what gives it a further system
 */
export function inspectWith(inspector: InspectOption, failed: (error: unknown) => void): (root: InspectedRoot) => void {
  const given = 'inspect' in inspector ? inspector.inspect : inspector
  let hasFailed = false
  const see = (event: ActorEmission): void => {
    try {
      if (typeof given === 'function') given(event)
      else given.next?.(event)
    } catch (thrown) {
      if (hasFailed) return
      hasFailed = true
      failed(thrown)
    }
  }
  return (root) => {
    see({ type: '@xstate.actor', rootId: root.sessionId, actorRef: root })
    inspectSystem(root, see)
  }
}

const isInspector = (given: unknown): boolean =>
  typeof given === 'function' || (typeof given === 'object' && given !== null && typeof (given as { next?: unknown }).next === 'function')

/** Whether it can be given as the option `inspect`. */
export const isInspect = (given: unknown): given is InspectOption =>
  isInspector(given) || (typeof given === 'object' && given !== null && isInspector((given as { inspect?: unknown }).inspect))
