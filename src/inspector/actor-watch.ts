import type { InspectionEvent, Subscription } from 'xstate'
import { type InspectedRoot, inspectSystem, SystemsBeside } from '../actors/inspection.ts'
import type { JournalFact, Source } from './journal.ts'
import type { StateEntry } from './protocol.ts'

/**
 * The part of an actor that is shown. xstate's own type has no name for the parent and the logic.
 */
export interface WatchedActor {
  readonly sessionId: string
  readonly id: string
  readonly logic?: { readonly id?: unknown; readonly config?: unknown }
  readonly _parent?: WatchedActor | undefined
  getSnapshot(): unknown
}

/** The root of the actors that are watched. */
export type WatchedSystem = WatchedActor & InspectedRoot

interface Snapshot {
  readonly status: StateEntry['status']
  readonly value?: unknown
  readonly context?: unknown
  readonly input?: unknown
  readonly output?: unknown
  readonly error?: unknown
  readonly children?: Readonly<Record<string, WatchedActor | undefined>>
}

type Taken = StateEntry['taken'][number]
interface Transition {
  readonly eventType: string
  readonly source: { readonly id: string }
  readonly target?: readonly { readonly id: string }[]
}

/** What was said last of an actor. */
interface Said {
  readonly actor: WatchedActor
  readonly context: unknown
  readonly status: StateEntry['status']
}

/**
 * The actors of a life in the journal: who there is, who sends what to whom, who is in which state
 * and how it got there. Watched only while there is a reader: an observed machine costs twice the
 * time of one that is not.
 */
export class ActorWatch implements Source {
  readonly #root: WatchedSystem
  readonly #write: (fact: JournalFact) => void
  readonly #said = new Map<string, Said>()
  readonly #taken = new Map<string, Taken[]>()
  readonly #configs = new Map<string, unknown>()
  readonly #beside: SystemsBeside
  #subscriptions: Pick<Subscription, 'unsubscribe'>[] = []

  /** @param beside systems beside that of the life, which are shown below it */
  constructor(root: WatchedSystem, write: (fact: JournalFact) => void, beside = new SystemsBeside(() => [])) {
    this.#root = root
    this.#write = write
    this.#beside = beside
  }

  begin(): void {
    this.describe()
    this.#subscriptions = this.#roots().map((root) => inspectSystem(root, this.#see))
    this.#subscriptions.push(this.#beside.onNew(this.#came))
  }

  /** A system that is there only now. */
  readonly #came = (root: InspectedRoot): void => {
    this.#describe(root as WatchedSystem)
    this.#subscriptions.push(inspectSystem(root, this.#see))
  }

  describe(): void {
    this.#said.clear()
    for (const root of this.#roots()) this.#describe(root)
  }

  // What xstate's own type leaves out is there: an actor's parent and logic.
  #roots(): readonly WatchedSystem[] {
    return [this.#root, ...(this.#beside.roots() as readonly WatchedSystem[])]
  }

  /**
   * The life is over in the middle of its machine's last step: xstate reports an actor's end
   * before it shows the state that it ended in. That is said here, of the root and of those whose
   * end was its own, the last of them first.
   */
  end(): void {
    if (this.#subscriptions.length === 0) return
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
    this.#subscriptions = []
    for (const { actor } of [...this.#said.values()].reverse()) {
      const snapshot = actor.getSnapshot() as Snapshot
      const taken = this.#taken.get(actor.sessionId) ?? []
      if (snapshot.status !== 'active') this.#state(actor, snapshot, taken.at(-1)?.on, taken)
    }
    this.#taken.clear()
  }

  /** The config of a machine that was seen, by its id. */
  configOf(machine: string): unknown {
    return this.#configs.get(machine)
  }

  #describe(actor: WatchedActor): void {
    const { children = {} } = actor.getSnapshot() as Snapshot
    this.#appeared(actor)
    this.#state(actor, actor.getSnapshot() as Snapshot, undefined, [])
    for (const child of Object.values(children)) if (child) this.#describe(child)
  }

  /**
   * Takes an event of xstate. Nothing thrown may get out: xstate calls it from the middle of a
   * machine's step, and would never come back to it.
   */
  readonly #see = (event: InspectionEvent): void => {
    try {
      this.#note(event)
    } catch {
      // One entry less.
    }
  }

  #note(event: InspectionEvent): void {
    const actor = event.actorRef as unknown as WatchedActor
    switch (event.type) {
      case '@xstate.actor':
        this.#appeared(actor)
        break
      case '@xstate.event': {
        const from = event.sourceRef?.sessionId
        this.#write({ kind: 'sent', ...(from !== undefined && { from }), to: actor.sessionId, event: event.event })
        break
      }
      case '@xstate.microstep':
        this.#took(actor, event._transitions as unknown as readonly Transition[])
        break
      case '@xstate.snapshot': {
        const taken = this.#taken.get(actor.sessionId) ?? []
        this.#taken.delete(actor.sessionId)
        this.#state(actor, event.snapshot as Snapshot, event.event.type, taken)
        break
      }
    }
  }

  #appeared(actor: WatchedActor): void {
    const parent = actor === this.#root ? undefined : (actor._parent ?? this.#root).sessionId
    const machine = actor.logic?.id
    if (typeof machine === 'string') this.#configs.set(machine, actor.logic?.config)
    this.#write({
      kind: 'actor',
      actor: actor.sessionId,
      ...(parent !== undefined && { parent }),
      name: actor.id,
      ...(typeof machine === 'string' && { machine }),
    })
  }

  #took(actor: WatchedActor, transitions: readonly Transition[]): void {
    const taken = this.#taken.get(actor.sessionId) ?? []
    for (const { eventType: on, source, target } of transitions) {
      if (target) taken.push(...target.map((to) => ({ on, from: source.id, to: to.id })))
      else taken.push({ on, from: source.id })
    }
    this.#taken.set(actor.sessionId, taken)
  }

  #state(actor: WatchedActor, snapshot: Snapshot, on: string | undefined, taken: readonly Taken[]): void {
    const { status, context } = snapshot
    const said = this.#said.get(actor.sessionId)
    const isNew = said === undefined || said.context !== context || said.status !== status
    // An event without a handler leaves everything as it is.
    if (isNew || taken.length > 0) {
      this.#write({
        kind: 'state',
        actor: actor.sessionId,
        ...(on !== undefined && { on }),
        ...(snapshot.value !== undefined && { value: snapshot.value }),
        ...(isNew && { context: contextOf(snapshot) }),
        status,
        taken,
      })
    }
    this.#said.set(actor.sessionId, { actor, context, status })
    if (status === 'active') return
    this.#said.delete(actor.sessionId)
    this.#write({ kind: 'actor.stopped', actor: actor.sessionId })
  }
}

/** A machine's context, and how it ended; an effect has no context, but an input. */
function contextOf({ context, input, output, error }: Snapshot): unknown {
  return {
    ...(context !== undefined ? (context as object) : input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
  }
}
