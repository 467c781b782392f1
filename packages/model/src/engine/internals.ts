import type {
  ActorSystem,
  ActorSystemInfo,
  AnyActorRef,
  AnyActorScope,
  AnyMachineSnapshot,
  AnyStateNode,
  AnyTransitionDefinition,
  EventObject,
  ExecutableActionObject,
} from 'xstate'

/**
 * What the checker uses of xstate and xstate does not promise: members that begin with an
 * underscore, names of its own events and actions, what those carry, and how built-in actions and
 * guards are made. Nothing else in this package knows any of it, and test/internals.test.ts asks
 * xstate for each, so that a minor which moves one is found by name. The package is pinned to a
 * minor.
 */

/** Types of xstate's own events. */
export const OWN = 'xstate.'
export const AFTER = 'xstate.after.'
export const STOP = 'xstate.stop'
const DONE = 'xstate.done.actor.'
const FAILED = 'xstate.error.actor.'

/** What a parent hears when a child has ended. */
export const doneEvent = (id: string, output: unknown): EventObject => ({ type: `${DONE}${id}`, output, actorId: id }) as EventObject
export const failedEvent = (id: string, error: unknown): EventObject => ({ type: `${FAILED}${id}`, error, actorId: id }) as EventObject
/** An error without a handler ends a machine; any other event without one does nothing. */
export const isError = (type: string): boolean => type.startsWith('xstate.error.')
/** Of what a parent hears at a child's end: how it ended. */
export const endIn = (type: string): string | undefined => /^xstate\.(done|error)\.actor\./.exec(type)?.[1]

/** Types of built-in actions, as they are handed to be executed. */
export const EMIT = 'xstate.emit'
export const LOG = 'xstate.log'
export const SPAWN = 'xstate.spawnChild'
export const STOP_CHILD = 'xstate.stopChild'
export const CANCEL = 'xstate.cancel'
export const RAISE = 'xstate.raise'
export const SEND = 'xstate.sendTo'

/** What they carry. */
export interface SpawnParams {
  /** None, when there is no implementation. */
  readonly actorRef: (AnyActorRef & { readonly logic: unknown; readonly _syncSnapshot?: boolean }) | undefined
  readonly src: unknown
  readonly input?: unknown
}
export interface SendParams {
  readonly to?: AnyActorRef
  readonly event: EventObject
  readonly id?: string
  readonly delay?: number
}
const paramsOf = <T>({ params }: Pick<ExecutableActionObject, 'params'>): T => params as unknown as T
export const spawned = (action: ExecutableActionObject): SpawnParams => paramsOf(action)
export const sent = (action: ExecutableActionObject): SendParams => paramsOf(action)
export const stopped = (action: ExecutableActionObject): AnyActorRef | undefined => paramsOf(action)
export const cancelled = (action: ExecutableActionObject): string => paramsOf<{ readonly sendId: string }>(action).sendId
export const emitted = (action: Pick<ExecutableActionObject, 'params'>): unknown => paramsOf<{ readonly event: unknown }>(action).event

/** Whether every snapshot of a child is told to its parent. */
export const isSynced = (ref: NonNullable<SpawnParams['actorRef']>): boolean => ref._syncSnapshot === true

export const parentOf = (ref: AnyActorRef): AnyActorRef | undefined => ref._parent
/** What a stand-in for an actor has to have. */
export const actorMembers = (system: AnyActorScope['system'], parent: AnyActorRef | undefined): Record<string, unknown> => ({
  system,
  _parent: parent,
})

/**
 * What xstate asks of the system while it computes a step: to book children, and to report
 * microsteps.
 */
export function systemMembers(nameOf: (booked: number) => string, onMicrostep: (actor: unknown, taken: Taken) => void) {
  let booked = 0
  return {
    _bookId: () => nameOf(booked++),
    _register: (sessionId: string) => sessionId,
    _unregister: () => {},
    _set: () => {},
    _clock: undefined,
    _logger: () => {},
    _sendInspectionEvent: (event: { readonly type: string; readonly actorRef?: unknown; readonly _transitions?: Taken }) => {
      if (event.type === '@xstate.microstep') onMicrostep(event.actorRef, event._transitions ?? [])
    },
  }
}
type Taken = readonly AnyTransitionDefinition[]

/** The pending timers of a running system: what is sent, from where to where. */
export const scheduledIn = (system: ActorSystem<ActorSystemInfo>): Readonly<Record<string, Scheduled>> =>
  system.getSnapshot()._scheduledEvents
export interface Scheduled {
  readonly source: AnyActorRef
  readonly target: AnyActorRef
  readonly event: EventObject
  readonly delay: number
}

/** The active states, in the order in which they were entered. */
export const nodesOf = ({ _nodes }: AnyMachineSnapshot): readonly AnyStateNode[] => _nodes
/** The same as a part of a snapshot that is made by hand. */
export const nodesPart = (nodes: readonly AnyStateNode[]) => ({ _nodes: [...nodes] })

/** Of `and`, `or`, `not` and `stateIn`: what they are made of. */
export interface GuardParts {
  readonly guards?: readonly unknown[]
  readonly stateValue?: unknown
  readonly check?: unknown
}

export type Context = Readonly<Record<string, unknown>>
export type Assigner = (args: object, params: unknown) => Context | undefined

/** `assign(…)`: xstate calls `resolve`, and takes what to assign from what it is given last. */
export interface Assign {
  readonly type: 'xstate.assign'
  readonly assignment: Assigner | Readonly<Record<string, unknown>>
  readonly resolve: (
    scope: unknown,
    snapshot: AnyMachineSnapshot,
    args: unknown,
    params: unknown,
    action: Pick<Assign, 'assignment'>,
  ) => readonly [AnyMachineSnapshot, ...unknown[]]
}

export type Collect = (args: { readonly check: (guard: unknown) => boolean }, params: unknown) => void

/** `enqueueActions(…)`, in the same way. */
export interface Enqueueing {
  readonly type: 'xstate.enqueueActions'
  readonly collect: Collect
  readonly resolve: (
    scope: unknown,
    snapshot: AnyMachineSnapshot,
    args: unknown,
    params: unknown,
    action: Pick<Enqueueing, 'collect'>,
  ) => readonly [AnyMachineSnapshot, unknown, readonly unknown[]]
}

const isMade = (action: unknown, type: string): boolean =>
  typeof action === 'function' && (action as { readonly type?: unknown }).type === type
export const isAssign = (action: unknown): action is Assign => isMade(action, 'xstate.assign')
export const isEnqueueing = (action: unknown): action is Enqueueing => isMade(action, 'xstate.enqueueActions')
/** A function of the user's, and nothing that xstate made. */
export const isCustom = (action: unknown): boolean => typeof action === 'function' && !('resolve' in action)
