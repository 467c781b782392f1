/** The model checker: what `quiesce/testing` exports of this folder. */

export type { Choice } from './engine/choice.ts'
export { type Environment, type OpaqueChild, type Outcome, type RootView, rejects, resolves } from './engine/environment.ts'
export { type Exploration, type ExploreOptions, explore } from './engine/explore.ts'
export type { Edge, Graph } from './engine/graph.ts'
export { type ConformanceOptions, type Mismatch, mismatches, Replay, replayed, Stage } from './engine/replay.ts'
export type { Effect } from './engine/state.ts'
export { printTrace, type Trace, type TraceMessage, type TraceStep } from './engine/trace.ts'
export type { ActorView } from './engine/view.ts'
export { edgesOf } from './life/edge-properties.ts'
export { EDGES, type LifeEdge } from './life/edges.ts'
export { factOf, happening, signalOf } from './life/facts.ts'
export { inWordsOfLife } from './life/life-trace.ts'
export {
  type CheckLifeOptions,
  checkLife,
  exploreLifecycle,
  invariantsOf,
  type LifecycleModelOptions,
  type OutsideEvent,
  planOf,
} from './life/lifecycle-model.ts'
export { endsWithin, reserveOf, timedProperties } from './life/lifecycle-timed.ts'
export { alongEdges } from './properties/along-edges.ts'
export { confluent } from './properties/confluence.ts'
export { type Untaken, untaken } from './properties/coverage.ts'
export { handlesOrIgnores, type Ignored } from './properties/handled.ts'
export { atMostOnce, type Broken, broken, inOrder, type Monitor, monitored, type NameOf } from './properties/monitor.ts'
export { assertHolds, check, type Property, type Verdict, type Violation } from './properties/property.ts'
export { endReachable } from './properties/reachability.ts'
export { always, noDeadlock, noErrors } from './properties/safety.ts'
export { type Termination, terminates, timersAnd } from './properties/termination.ts'
export { type Bound, within } from './properties/timed.ts'
export { sequenceDiagram } from './trace-diagram.ts'
