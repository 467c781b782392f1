import type { AnyStateMachine, ContextFrom, EventFromLogic, EventObject, InputFrom, SnapshotFrom, StateValue } from 'xstate'

/** What the types of a machine know of its names; where they know nothing, any plain data. */
type Known<T, Otherwise> = unknown extends T ? Otherwise : T

export type ContextOf<M extends AnyStateMachine> = Known<ContextFrom<M>, unknown>
export type MachineEvent<M extends AnyStateMachine> = Known<EventFromLogic<M>, EventObject>
export type InputOf<M extends AnyStateMachine> = Known<InputFrom<M>, unknown>
/** Where it stands. */
export type ValueOf<M extends AnyStateMachine> = Known<SnapshotFrom<M>['value'], StateValue>
/** What it may be asked to match. */
export type StateOf<M extends AnyStateMachine> = Known<Parameters<SnapshotFrom<M>['matches']>[0], StateValue>
