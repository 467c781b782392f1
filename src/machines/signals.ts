/**
 * The lifecycle signals: every name, who coined it, and one sentence each. A signal latches and
 * fires once, with an outcome; what waits for it waits for the end of a phase, not for its success,
 * so that a shutdown always progresses.
 */

/**
 * Upstream's eight, with upstream's spelling, meaning and edges. @see kubernetes/apiserver
 * pkg/server/lifecycle_signals.go
 */
export const UPSTREAM_SIGNALS = {
  MuxAndDiscoveryComplete: 'every registered path installer has finished; unknown paths are 404 from here on',
  HasBeenReady: '/readyz has passed once',
  ShutdownInitiated: 'the shutdown has begun; /readyz is red from here on',
  AfterShutdownDelayDuration: 'the shutdown delay is over',
  PreShutdownHooksStopped: 'every pre-shutdown hook has ended',
  NotAcceptingNewRequest: 'new requests are refused from here on; those of the last call are still served',
  InFlightRequestsDrained: 'no accepted request and no watch is left',
  HTTPServerStoppedListening: 'the listeners are closed',
} as const

/** Ours, written the same way. */
export const OWN_SIGNALS = {
  Start: 'the life begins',
  AuditRunning: 'the audit backend accepts events',
  Bound: 'every listener is bound',
  Serving: 'requests are served',
  StartFailed: 'start-up cannot go on; what was acquired is being released',
  PostStartHooksLaunched: 'every post-start hook has been started',
  PostStartHooksDone: 'every post-start hook has ended',
  Announced: 'the platform has been told that we are ready',
  StopRequested: 'a stop was requested',
  ClientsNotified: 'every further response tells its client to reconnect elsewhere',
  LastCallComplete: 'idle connections are closed, and no request is let in any more',
  RequestsDrained: 'no accepted request is left',
  WatchesDrained: 'no watch is left, or its grace is over',
  ConnectionsClosed: 'no connection is left',
  HandlersDone: 'no handler is running any more',
  AuditStopped: 'the audit backend has delivered what it had',
  Destroyed: 'every destroy function has run',
  AdminClosed: 'the admin listener is closed',
  ReportWritten: 'the report is sealed, written and flushed',
  Ended: 'the life is over',
} as const

/**
 * The instants at which the budget ends a group of phases, in order. Counted back from the
 * deadline.
 */
export const CUT_SIGNALS = {
  'Cut.hooks': 'pre-shutdown hooks and the delay have used their share',
  'Cut.requests': 'requests and watches have used their share',
  'Cut.connections': 'connections and handlers have used their share',
  'Cut.audit': 'the audit backend has used its share',
  'Cut.destroy': 'destroy functions have used their share',
  'Cut.flush': 'the report and the logs have used their share',
  Forced: 'the deadline is reached; whatever is left ends now',
} as const

export type UpstreamSignal = keyof typeof UPSTREAM_SIGNALS
export type OwnSignal = keyof typeof OWN_SIGNALS
export type CutSignal = keyof typeof CUT_SIGNALS
/**
 * Any lifecycle signal by name. User phases add their own, which is why names in reports are plain
 * strings.
 */
export type SignalName = UpstreamSignal | OwnSignal | CutSignal

/** The instants of the budget in their order; all but the last are cuts. */
export const BUDGET_INSTANTS = ['hooks', 'requests', 'connections', 'audit', 'destroy', 'flush', 'forced'] as const
export type BudgetInstant = (typeof BUDGET_INSTANTS)[number]
/** The signal of an instant. */
export const cutSignal = (instant: BudgetInstant): CutSignal => (instant === 'forced' ? 'Forced' : `Cut.${instant}`)
/**
 * A cut and every later one: a phase that starts late is ended by the next instant, never by none.
 */
export const cutsFrom = (cut: CutSignal): CutSignal[] => {
  const instants = BUDGET_INSTANTS.map(cutSignal)
  return instants.slice(instants.indexOf(cut), -1)
}
