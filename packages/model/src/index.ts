/**
 * A model checker for xstate v5: explore a system, state what has to hold, read the way to where it
 * does not.
 */

export { canonical } from './engine/canonical.ts'
export type { Choice } from './engine/choice.ts'
export type { DeliveryListener } from './engine/delivery.ts'
export { type Environment, type OpaqueChild, type Outcome, type RootView, rejects, resolves } from './engine/environment.ts'
export { type Exploration, type ExploreOptions, explore, Model } from './engine/explore.ts'
export type { Limits } from './engine/given.ts'
export type { Edge, Graph } from './engine/graph.ts'
export type { Live } from './engine/live.ts'
export { type ConformanceOptions, type Mismatch, mismatches, Replay, replayed, Stage } from './engine/replay.ts'
export type { NameOf } from './engine/said.ts'
export type { ActorState, Effect, LocalState } from './engine/state.ts'
export type { Step } from './engine/step-table.ts'
export { printTrace, type Trace, type TraceMessage, type TraceStep } from './engine/trace.ts'
export type { ContextOf, InputOf, MachineEvent, StateOf, ValueOf } from './engine/typed.ts'
export { type ActorView, actorAt, viewOf } from './engine/view.ts'
export { MODEL_ERROR_CODES, ModelError, type ModelErrorCode } from './errors.ts'
export { promela } from './promela/promela.ts'
export { alongEdges } from './properties/along-edges.ts'
export { confluent } from './properties/confluence.ts'
export { type Unreached, type Untaken, unreached, untaken, untakenText } from './properties/coverage.ts'
export { handlesOrIgnores, type Ignored } from './properties/handled.ts'
export { atMostOnce, broken, inOrder, monitored } from './properties/monitor.ts'
export {
  assertHolds,
  type Broken,
  check,
  type Monitor,
  mayBeVacuous,
  type Property,
  type Verdict,
  type Violation,
} from './properties/property.ts'
export { endReachable, isDone } from './properties/reachability.ts'
export { always, noDeadlock, noErrors, type When } from './properties/safety.ts'
export { type Termination, terminates, timersAnd } from './properties/termination.ts'
export { type Bound, within } from './properties/timed.ts'
export { sequenceDiagram } from './trace-diagram.ts'
