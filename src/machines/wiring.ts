import type { Consequence } from '../base/events.ts'
import type { CutSignal, OwnSignal, UpstreamSignal } from './signals.ts'

/**
 * The wiring table: one row per phase of a server's life. The root machine is generated from it
 * (`lifecycle.ts`), so this file is the dependency graph: to change who waits for whom, change a
 * row.
 *
 * A row waits for all of its `after` signals, does its `work` (a phase machine or an effect, by
 * name), and fires its signal. Start rows fire only when they succeed and end as `skipped` on
 * StopRequested; stop rows always fire, whatever happened, because a shutdown has to progress. A
 * row is cut by its own instant of the budget and by every later one.
 *
 * @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext, whose tasks these rows
 * replace
 */

/**
 * How new requests are refused while draining: `refuse` closes the listener, `retry-after` answers
 * 429 until drained.
 */
export type Mode = 'refuse' | 'retry-after'

export interface PhaseRow<S extends string = string> {
  /** Start rows are skipped by a stop, stop rows never are. */
  readonly lane: 'start' | 'stop'
  /** Signals this phase waits for; all of them. */
  readonly after: readonly S[]
  /** And these, in one mode. */
  readonly alsoAfter?: Readonly<Partial<Record<Mode, readonly S[]>>>
  readonly fires: S
  /** What is done in the step in which its signal fires; from `on-signal.ts`. */
  readonly does?: Consequence
  /**
   * Name of the phase machine or effect that does the work; without one the signal follows at once.
   */
  readonly work?: string
  /** What the work is started with; default: what WORK_INPUT has for it. */
  readonly input?: unknown
  /** What a failure of the work leads to; a stop row goes on and leaves a mark in the exit code. */
  readonly onFailure?: 'StartFailed' | 'log'
  /**
   * The instant of the budget that ends this phase. The work is told (`machine`) or stopped at once
   * (`effect`).
   */
  readonly cut?: CutSignal
  /**
   * `machine`: one that ends by itself when it is told of its cut. `lasting`: one that goes on when
   * its phase is over.
   */
  readonly workKind?: 'machine' | 'effect' | 'regions' | 'lasting'
  /** What it waits for beside that, by name: mux-complete signals. */
  readonly awaits?: readonly string[]
  /** What a machine that lasts is told, by the signal with which it is, apart from the stop. */
  readonly hears?: Readonly<Partial<Record<S, string>>>
  /**
   * A stop does not end this work; with this signal it is told to end, and not waited for. By mode,
   * because the listener's end is.
   */
  readonly until?: Readonly<Record<Mode, S>>
  /** Work that was told, and goes on, is cut by this signal. */
  readonly abandonedAt?: S
  /**
   * The signal without which there is nothing to do: the phase is skipped, but its signal fires.
   */
  readonly unless?: S
  /** Start-up waits for this work as long as it takes: it is not ours to hurry. */
  readonly unbounded?: boolean
  /**
   * The mode of refusing that has this row; lives in the other mode are made without it. Default:
   * both have it.
   */
  readonly when?: Mode
}

export type Wiring = Readonly<Record<string, PhaseRow>>

/**
 * Checks the signal names of a table while it compiles: every `after` must be a built-in signal or
 * fired by a row of the table.
 */
export const defineWiring = <const W extends Record<string, PhaseRow>>(
  wiring: W & {
    readonly [K in keyof W]: {
      readonly after: readonly (W[keyof W]['fires'] | GivenSignal)[]
      readonly alsoAfter?: Readonly<Partial<Record<Mode, readonly W[keyof W]['fires'][]>>>
      readonly unless?: W[keyof W]['fires']
      readonly until?: Readonly<Record<Mode, W[keyof W]['fires']>>
      readonly abandonedAt?: W[keyof W]['fires']
      readonly hears?: Readonly<Partial<Record<W[keyof W]['fires'] | GivenSignal, string>>>
    }
  },
): W => wiring

/** Signals that rows wait for but no row fires: the root raises them from the outside's events. */
export const GIVEN_SIGNALS = ['Start', 'StopRequested', 'readyz.passed'] as const satisfies readonly (OwnSignal | 'readyz.passed')[]
export type GivenSignal = (typeof GIVEN_SIGNALS)[number]

// biome-ignore format: a table, one row per line
export const WIRING = defineWiring({
  'audit-run': { lane: 'start', after: ['Start'], work: 'auditRun', workKind: 'effect', fires: 'AuditRunning', onFailure: 'StartFailed' },
  bind: { lane: 'start', after: ['AuditRunning'], work: 'bind', workKind: 'effect', fires: 'Bound', onFailure: 'StartFailed' },
  serve: { lane: 'start', after: ['Bound'], fires: 'Serving' },
  'mux-complete': { lane: 'start', after: ['Start'], work: 'muxComplete', workKind: 'lasting', fires: 'MuxAndDiscoveryComplete', hears: { Serving: 'serving', AdminClosed: 'end' } },
  'post-start-launch': { lane: 'start', after: ['Serving'], fires: 'PostStartHooksLaunched' },
  'post-start-hooks': { lane: 'start', after: ['PostStartHooksLaunched'], work: 'postStartHooks', workKind: 'regions', fires: 'PostStartHooksDone', until: { refuse: 'NotAcceptingNewRequest', 'retry-after': 'InFlightRequestsDrained' }, abandonedAt: 'AdminClosed' },
  announce: { lane: 'start', after: ['PostStartHooksLaunched'], work: 'announce', workKind: 'effect', fires: 'Announced', onFailure: 'log' },
  'has-been-ready': { lane: 'start', after: ['readyz.passed'], fires: 'HasBeenReady' },

  'shutdown-initiated': { lane: 'stop', after: ['StopRequested'], fires: 'ShutdownInitiated' },
  'notify-clients': { lane: 'stop', after: ['ShutdownInitiated'], unless: 'Serving', work: 'notify-clients', workKind: 'machine', fires: 'ClientsNotified', cut: 'Cut.hooks' },
  'shutdown-delay': { lane: 'stop', after: ['ShutdownInitiated'], unless: 'Serving', work: 'shutdownDelay', workKind: 'machine', fires: 'AfterShutdownDelayDuration', cut: 'Cut.hooks' },
  'pre-shutdown-hooks': { lane: 'stop', after: ['StopRequested'], unless: 'Serving', work: 'preShutdownHooks', workKind: 'machine', fires: 'PreShutdownHooksStopped', cut: 'Cut.hooks' },
  'not-accepting': { lane: 'stop', after: ['AfterShutdownDelayDuration', 'PreShutdownHooksStopped'], fires: 'NotAcceptingNewRequest' },
  // What the last call lets in is waited for like what came before it; in the mode retry-after it
  // lets nothing in.
  'request-drain': { lane: 'stop', after: ['NotAcceptingNewRequest'], alsoAfter: { refuse: ['LastCallComplete'] }, work: 'requestDrain', workKind: 'machine', fires: 'RequestsDrained', cut: 'Cut.requests' },
  'watch-drain': { lane: 'stop', after: ['NotAcceptingNewRequest'], work: 'watchDrain', workKind: 'machine', fires: 'WatchesDrained', cut: 'Cut.requests' },
  'in-flight-drained': { lane: 'stop', after: ['RequestsDrained', 'WatchesDrained'], fires: 'InFlightRequestsDrained' },
  'close-listener': { lane: 'stop', when: 'refuse', after: ['NotAcceptingNewRequest'], work: 'closeListener', workKind: 'machine', fires: 'HTTPServerStoppedListening', cut: 'Cut.requests' },
  'close-listener-after-drain': { lane: 'stop', when: 'retry-after', after: ['InFlightRequestsDrained'], work: 'closeListener', workKind: 'machine', fires: 'HTTPServerStoppedListening', cut: 'Cut.connections' },
  'last-call': { lane: 'stop', after: ['HTTPServerStoppedListening'], work: 'lastCall', workKind: 'machine', fires: 'LastCallComplete', cut: 'Cut.requests' },
  'close-connections': { lane: 'stop', after: ['LastCallComplete', 'InFlightRequestsDrained'], work: 'closeConnections', workKind: 'machine', fires: 'ConnectionsClosed', cut: 'Cut.connections' },
  handlers: { lane: 'stop', after: ['InFlightRequestsDrained'], work: 'handlers', workKind: 'machine', fires: 'HandlersDone', cut: 'Cut.connections' },
  'audit-shutdown': { lane: 'stop', after: ['InFlightRequestsDrained'], unless: 'AuditRunning', work: 'auditShutdown', workKind: 'effect', fires: 'AuditStopped', cut: 'Cut.audit' },
  destroy: { lane: 'stop', after: ['ConnectionsClosed', 'HandlersDone', 'AuditStopped'], work: 'destroy', workKind: 'machine', fires: 'Destroyed', cut: 'Cut.destroy' },
  'admin-listener': { lane: 'stop', after: ['Destroyed'], work: 'closeAdmin', workKind: 'effect', fires: 'AdminClosed', cut: 'Cut.flush' },
  // No other phase waits for ClientsNotified; here it is waited for, so that no phase outlives the
  // report and the budget.
  report: { lane: 'stop', after: ['AdminClosed', 'ClientsNotified'], work: 'report', workKind: 'machine', fires: 'ReportWritten', cut: 'Cut.flush' },
  end: { lane: 'stop', after: ['ReportWritten'], fires: 'Ended' },
})

/** Every phase name of the built-in table, in the table's order. */
export type PhaseName = keyof typeof WIRING

/** Upstream's eight are all fired by the table; this line does not compile when one is missing. */
type Fired = (typeof WIRING)[PhaseName]['fires']
const upstreamIsWired: UpstreamSignal extends Fired ? true : never = true
void upstreamIsWired
