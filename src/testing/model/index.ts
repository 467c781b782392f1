/** The model checker: what `quiesce/testing` exports of this folder. */
export { alongEdges } from './along-edges.ts'
export type { Choice } from './choice.ts'
export { confluent } from './confluence.ts'
export { type Untaken, untaken } from './coverage.ts'
export { type Environment, type OpaqueChild, type Outcome, type RootView, rejects, resolves } from './environment.ts'
export { type Exploration, type ExploreOptions, explore } from './explore.ts'
export { factOf, happening, signalOf } from './facts.ts'
export type { Edge, Graph } from './graph.ts'
export { handlesOrIgnores, type Ignored } from './handled.ts'
export { inWordsOfLife } from './life-trace.ts'
export {
  type CheckLifeOptions,
  checkLife,
  exploreLifecycle,
  invariantsOf,
  type LifecycleModelOptions,
  type OutsideEvent,
  planOf,
} from './lifecycle-model.ts'
export { endsWithin, reserveOf, timedProperties } from './lifecycle-timed.ts'
export { atMostOnce, type Broken, broken, inOrder, type Monitor, monitored, type NameOf } from './monitor.ts'
export { assertHolds, check, type Property, type Verdict, type Violation } from './property.ts'
export { endReachable } from './reachability.ts'
export { type ConformanceOptions, type Mismatch, mismatches, Replay, replayed, Stage } from './replay.ts'
export { always, noDeadlock, noErrors } from './safety.ts'
export { sequenceDiagram } from './sequence-diagram.ts'
export type { Effect } from './state.ts'
export { type Termination, terminates, timersAnd } from './termination.ts'
export { type Bound, within } from './timed.ts'
export { printTrace, type Trace, type TraceMessage, type TraceStep } from './trace.ts'
export type { ActorView } from './view.ts'
