import type { CutSignal } from '../../machines/signals.ts'
import type { Mode } from '../../machines/wiring.ts'

/**
 * The edges of a life, upstream's and ours, one line each: who follows whom, whatever the wiring
 * table says. Written by hand from upstream's source and from our decisions, and read by the
 * properties instead of the table, so that a wrong row of the table does not change what is
 * expected of it. A row that is changed on purpose is changed here too.
 *
 * A line says: `phase` begins in the step in which the last of `after` is said, and never before;
 * `fires` is said in the step in which the phase ends, and never before. A phase that does nothing
 * says it at once.
 */
export interface LifeEdge {
  /**
   * Upstream's are E1 to E32, numbered in the order in which a shutdown takes them; O1 and so on
   * are ours.
   */
  readonly ids: readonly `${'E' | 'O'}${number}`[]
  readonly phase: string
  /** Signals; `readyz.passed` comes from outside. */
  readonly after: readonly string[]
  readonly fires: string
  /** Start-up: a stop ends or skips it, and its signal is said only when it succeeded. */
  readonly lane?: 'start'
  /**
   * The signal without which there is nothing to do: the phase is skipped when it would begin, and
   * its signal is said all the same.
   */
  readonly given?: string
  /** What the phase does, by the name of its machine or effect. */
  readonly does?: string
  /** What is done is one call that is left alone when it is cut, and no machine that is told. */
  readonly isEffect?: true
  /**
   * What is done goes on when the phase is over. What it is told then, and with which signal, apart
   * from the stop.
   */
  readonly hears?: Readonly<Record<string, string>>
  /** The instant of the budget that ends it, and no earlier one. */
  readonly cut?: CutSignal
  /** Its failure asks for the end. */
  readonly failsStart?: true
  /** The only mode of the edge. */
  readonly mode?: Mode
  /**
   * Upstream's file and function; `ours`, with the divergence (docs/divergences.md) or decision
   * (docs/decisions) that says why.
   */
  readonly from: string
}

const RUN = 'pkg/server/genericapiserver.go RunWithContext'
const SERVE = 'pkg/server/secure_serving.go RunServer'

// biome-ignore format: a table, one edge per line
export const EDGES: readonly LifeEdge[] = [
  // Start-up: nothing listens before the audit backend runs, and the platform is told when the
  // hooks are under way.
  { ids: ['O1'], phase: 'audit-run', lane: 'start', after: ['Start'], does: 'auditRun', isEffect: true, fires: 'AuditRunning', failsStart: true, from: RUN },
  { ids: ['O2'], phase: 'bind', lane: 'start', after: ['AuditRunning'], does: 'bind', isEffect: true, fires: 'Bound', failsStart: true, from: RUN },
  { ids: ['O3'], phase: 'serve', lane: 'start', after: ['Bound'], fires: 'Serving', from: SERVE },
  { ids: ['E24'], phase: 'mux-complete', lane: 'start', after: ['Start'], does: 'muxComplete', hears: { Serving: 'serving', AdminClosed: 'end' }, fires: 'MuxAndDiscoveryComplete', from: RUN },
  { ids: ['E32'], phase: 'post-start-launch', lane: 'start', after: ['Serving'], fires: 'PostStartHooksLaunched', from: 'pkg/server/genericapiserver.go NonBlockingRunWithContext' },
  { ids: ['O4'], phase: 'post-start-hooks', lane: 'start', after: ['PostStartHooksLaunched'], does: 'postStartHooks', fires: 'PostStartHooksDone', from: 'pkg/server/hooks.go RunPostStartHooks' },
  { ids: ['E32'], phase: 'announce', lane: 'start', after: ['PostStartHooksLaunched'], does: 'announce', isEffect: true, fires: 'Announced', from: 'pkg/server/genericapiserver.go NonBlockingRunWithContext' },
  { ids: ['E25'], phase: 'has-been-ready', lane: 'start', after: ['readyz.passed'], fires: 'HasBeenReady', from: 'pkg/server/healthz/healthz.go handleRootHealth' },

  // The stop, up to the refusal of what is new.
  { ids: ['E1'], phase: 'shutdown-initiated', after: ['StopRequested'], fires: 'ShutdownInitiated', from: RUN },
  { ids: ['O5'], phase: 'notify-clients', after: ['ShutdownInitiated'], given: 'Serving', does: 'notify-clients', fires: 'ClientsNotified', cut: 'Cut.hooks', from: 'ours, V6' },
  { ids: ['E2'], phase: 'shutdown-delay', after: ['ShutdownInitiated'], given: 'Serving', does: 'shutdownDelay', fires: 'AfterShutdownDelayDuration', cut: 'Cut.hooks', from: RUN },
  { ids: ['E3', 'E4'], phase: 'pre-shutdown-hooks', after: ['StopRequested'], given: 'Serving', does: 'preShutdownHooks', fires: 'PreShutdownHooksStopped', cut: 'Cut.hooks', from: `${RUN}; V1, V2` },
  { ids: ['E5'], phase: 'not-accepting', after: ['AfterShutdownDelayDuration', 'PreShutdownHooksStopped'], fires: 'NotAcceptingNewRequest', from: RUN },

  // The drain. What the last call lets in is waited for as well (V22).
  { ids: ['E6', 'E7'], mode: 'refuse', phase: 'request-drain', after: ['NotAcceptingNewRequest', 'LastCallComplete'], does: 'requestDrain', fires: 'RequestsDrained', cut: 'Cut.requests', from: `${RUN}; V8, V22` },
  { ids: ['E6', 'E7'], mode: 'retry-after', phase: 'request-drain', after: ['NotAcceptingNewRequest'], does: 'requestDrain', fires: 'RequestsDrained', cut: 'Cut.requests', from: `${RUN}; V8` },
  { ids: ['E8', 'E9', 'E10', 'E29'], phase: 'watch-drain', after: ['NotAcceptingNewRequest'], does: 'watchDrain', fires: 'WatchesDrained', cut: 'Cut.requests', from: RUN },
  { ids: ['E11'], phase: 'in-flight-drained', after: ['RequestsDrained', 'WatchesDrained'], fires: 'InFlightRequestsDrained', from: RUN },
  { ids: ['E12', 'E16', 'E17'], mode: 'refuse', phase: 'close-listener', after: ['NotAcceptingNewRequest'], does: 'closeListener', fires: 'HTTPServerStoppedListening', cut: 'Cut.requests', from: `${RUN}; ${SERVE}` },
  { ids: ['E13', 'E16', 'E17'], mode: 'retry-after', phase: 'close-listener-after-drain', after: ['InFlightRequestsDrained'], does: 'closeListener', fires: 'HTTPServerStoppedListening', cut: 'Cut.connections', from: `${RUN}; ${SERVE}` },
  { ids: ['O6'], phase: 'last-call', after: ['HTTPServerStoppedListening'], does: 'lastCall', fires: 'LastCallComplete', cut: 'Cut.requests', from: 'ours, V22' },

  // Nothing that a request may use ends before the last of them.
  { ids: ['E15', 'E18'], phase: 'close-connections', after: ['LastCallComplete', 'InFlightRequestsDrained'], does: 'closeConnections', fires: 'ConnectionsClosed', cut: 'Cut.connections', from: `${SERVE}; V3` },
  { ids: ['O7'], phase: 'handlers', after: ['InFlightRequestsDrained'], does: 'handlers', fires: 'HandlersDone', cut: 'Cut.connections', from: 'ours, V8' },
  { ids: ['E19', 'E20'], phase: 'audit-shutdown', after: ['InFlightRequestsDrained'], given: 'AuditRunning', does: 'auditShutdown', isEffect: true, fires: 'AuditStopped', cut: 'Cut.audit', from: `${RUN}; V1` },
  { ids: ['E21', 'E23'], phase: 'destroy', after: ['ConnectionsClosed', 'HandlersDone', 'AuditStopped'], does: 'destroy', fires: 'Destroyed', cut: 'Cut.destroy', from: `${RUN}; V12` },
  { ids: ['O8'], phase: 'admin-listener', after: ['Destroyed'], does: 'closeAdmin', isEffect: true, fires: 'AdminClosed', cut: 'Cut.flush', from: 'an addition of quiesce: /healthz is served to the end' },
  { ids: ['O9'], phase: 'report', after: ['AdminClosed', 'ClientsNotified'], does: 'report', fires: 'ReportWritten', cut: 'Cut.flush', from: 'ours, decision 6' },
  { ids: ['E22'], phase: 'end', after: ['ReportWritten'], fires: 'Ended', from: RUN },
]

/**
 * E14: with this signal the HTTP server is told to stop, and the contexts of all post-start hooks
 * are cancelled with it.
 */
export const HOOKS_ARE_NOTIFIED: Readonly<Record<Mode, string>> = {
  refuse: 'NotAcceptingNewRequest',
  'retry-after': 'InFlightRequestsDrained',
}
/**
 * Upstream leaves hooks that do not end to the end of the process; here none outlives the report.
 */
export const HOOKS_ARE_LEFT = 'AdminClosed'
