import {
  type ActorSystem,
  type ActorSystemInfo,
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  type EventObject,
  type ExecutableActionObject,
  StateMachine,
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
/** The type of the event of a first step. */
export const INIT = 'xstate.init'
const DONE = 'xstate.done.actor.'
const FAILED = 'xstate.error.actor.'

/** What a parent hears when a child has ended. */
export const doneEvent = (id: string, output: unknown): EventObject => ({ type: `${DONE}${id}`, output, actorId: id }) as EventObject
export const failedEvent = (id: string, error: unknown): EventObject => ({ type: `${FAILED}${id}`, error, actorId: id }) as EventObject
/** An error without a handler ends a machine; any other event without one does nothing. */
export const isError = (type: string): boolean => type.startsWith('xstate.error.')
/** How a child ended, from the type of the event that its parent gets. */
export const endIn = (type: string): string | undefined => /^xstate\.(done|error)\.actor\./.exec(type)?.[1]

/**
 * What an actor is made of: a machine, what one of xstate's creators makes, or logic made by hand,
 * of which nothing is known.
 */
export type LogicKind = 'machine' | 'transition' | 'promise' | 'observable' | 'event observable' | 'callback' | 'logic of its own'

/** The kind of logic, by what it does with the events that its creator sends it. */
export function kindOf(logic: unknown): LogicKind {
  if (logic instanceof StateMachine) return 'machine'
  const { config, start, transition } = (logic ?? {}) as Readonly<Record<string, unknown>>
  if (typeof config !== 'function' || typeof transition !== 'function') return 'logic of its own'
  if (start === undefined) return 'transition'
  const after = (type: string): unknown => {
    try {
      return (transition as (...args: unknown[]) => unknown)({ status: 'active' }, { type, data: PROBE }, { self: {} })
    } catch {
      // A callback that was never started has no one to hand the event to.
      return undefined
    }
  }
  if ((after('xstate.promise.resolve') as { output?: unknown } | undefined)?.output === PROBE) return 'promise'
  if ((after('xstate.observable.next') as { context?: unknown } | undefined)?.context === PROBE) return 'observable'
  return (after('xstate.observable.complete') as { status?: unknown } | undefined)?.status === 'done' ? 'event observable' : 'callback'
}
const PROBE = Symbol('probe')

/** What a machine is told of itself; xstate has it since 5.31. */
export const optionsOf = ({ options }: AnyStateMachine): { maxIterations?: number } | undefined =>
  options as { maxIterations?: number } | undefined

/** A machine that another copy of xstate has made. */
export const isForeignMachine = (given: unknown): boolean => {
  const { root, provide, getStateNodeById } = (given ?? {}) as Partial<Record<keyof AnyStateMachine, unknown>>
  return (
    !(given instanceof StateMachine) && typeof root === 'object' && typeof provide === 'function' && typeof getStateNodeById === 'function'
  )
}

/** What xstate calls an action that is a function without a name in the setup. */
export const nameOfInline = (action: unknown): string => (action as { readonly name?: string } | undefined)?.name || '(anonymous)'

/** Whether a source has no name, because its logic stands where it is invoked. */
export const isInline = (source: string): boolean => source.startsWith('xstate.invoke.')

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
  /** The actor; none, when there is no implementation. */
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

/** The parts that `and`, `or`, `not` and `stateIn` are made of. */
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
export const isSpawning = (action: unknown): action is { readonly src: unknown; readonly id: unknown } => isMade(action, SPAWN)
export const isEnqueueing = (action: unknown): action is Enqueueing => isMade(action, 'xstate.enqueueActions')
/** A function of the user's, and nothing that xstate made. */
export const isCustom = (action: unknown): boolean => typeof action === 'function' && !('resolve' in action)
