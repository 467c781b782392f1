import type { ErrorRecord, ForcedBy, HookKind, LifecycleEvent, PhaseOutcome, StopReason, Straggler } from '../base/events.ts'
import type { ProtocolFates } from '../base/protocol.ts'
import type { CutsMs } from '../base/stop-profile.ts'

/** Identifies the format; `schema/report.schema.json` describes it and is part of the package. */
export const REPORT_SCHEMA = 'urn:quiesce:report:1'

/**
 * What happened in one life, as a JSON document. Times are milliseconds relative to the stop
 * request: negative before it, because a termination report is read from there. Without a stop
 * request (`stopRequestedAt` is null) they count from the start. Wall-clock times are ISO 8601 in
 * UTC.
 */
export interface Report {
  readonly $schema: typeof REPORT_SCHEMA
  readonly version: 1
  /** The code of the most severe that happened; docs/report.md says what each means. */
  readonly exitCode: number
  /** Why the life ended; null when no stop was requested. */
  readonly reason: StopReason | null
  /** Why it was ended by force; null when it was not. */
  readonly forced: Extract<LifecycleEvent, { type: 'forced' }>['why'] | null
  /**
   * The reason of a stop that meant "now", the second signal, the error of the second crash, or the
   * exit code of the process that ended before its life; null when it was none of them.
   */
  readonly forcedBy: ForcedBy | null
  readonly startedAt: string
  readonly stopRequestedAt: string | null
  /** What the stop had; null without one. */
  readonly budget: ReportedBudget | null
  /** When the report was sealed. */
  readonly endedAt: string
  readonly platform: ReportedPlatform
  readonly listeners: readonly ReportedListener[]
  /** The signals in the order they fired. */
  readonly signals: readonly ReportedSignal[]
  /** The phases in the order they began. */
  readonly phases: readonly ReportedPhase[]
  /** null: there was none. */
  readonly lastCall: ReportedLastCall | null
  readonly requests: ReportedDrain
  readonly watches: ReportedDrain
  readonly connections: ReportedConnections
  /** Handlers that outlived their responses. */
  readonly handlers: readonly Straggler[]
  /** Requests and holds that were refused, by kind of refusal. */
  readonly rejections: Readonly<Record<string, number>>
  /** null: there is no audit backend that counts. */
  readonly audit: ReportedAudit | null
  readonly hooks: readonly ReportedHook[]
  /** Answers of user code that came after its time was over; they changed nothing. */
  readonly lateAnswers: readonly ReportedLateAnswer[]
  /**
   * Failures, wherever they happened: each once, with how often it came, and of more than a
   * thousand the newest. A warning counts the others.
   */
  readonly errors: readonly ReportedError[]
  readonly warnings: readonly ReportedWarning[]
}

/**
 * The budget in milliseconds since the stop request. A crash in the middle of a stop has its own,
 * and what ends first holds.
 */
export interface ReportedBudget {
  /** Time before new requests may be refused. */
  readonly delay: number
  /** Longest time watches are waited for once they have been told to leave. */
  readonly watchGrace: number
  readonly deadline: number
  /**
   * When what is left is cut, by group of phases: `requests` is how long accepted requests have.
   */
  readonly cuts: CutsMs
}

export interface ReportedListener {
  readonly url: string
  /** Whether it is for health and metrics, or the inspector's. */
  readonly admin: boolean
  readonly inspector?: true
}

export interface ReportedPlatform {
  readonly name: string
  readonly reason: string
  /** Every duration with where it came from. */
  readonly defaults: Readonly<Record<string, unknown>>
}

export interface ReportedSignal {
  readonly name: string
  readonly at: number
  readonly outcome: PhaseOutcome
}

export interface ReportedPhase {
  readonly name: string
  readonly start: number
  /** null: still under way when the report was sealed. */
  readonly end: number | null
  /**
   * Time it had until its own limit or its cut, whichever comes first, in milliseconds; null when
   * it has neither. One that began after its cut had until the next.
   */
  readonly budget: number | null
  /** null: still under way. */
  readonly outcome: PhaseOutcome | null
  /** What was still there when it was cut. */
  readonly cut: readonly Straggler[]
  readonly error?: ErrorRecord
}

/** What came after NotAcceptingNewRequest and before idle connections were closed. */
export interface ReportedLastCall {
  /** Connections that the kernel had accepted before the listener closed. */
  readonly accepted: number
  /** Requests that were let in all the same, and told to leave by their response. */
  readonly answered: number
}

export interface ReportedDrain {
  /** Open at NotAcceptingNewRequest; of requests, those that the last call let in as well. */
  readonly before: number
  /** Open when it ended. */
  readonly after: number
  readonly cut: readonly Straggler[]
}

export interface ReportedConnections {
  /** Got a last response that told the client to leave. */
  readonly notified: number
  /** Idle when the listener closed and had no response to be told by. */
  readonly idleUnnotified: number
  /** Ended by their client. */
  readonly ended: number
  readonly forced: number
  readonly forcedNames: readonly Straggler[]
  /**
   * Milliseconds from ShutdownInitiated to the arrival of the last request, whatever became of it;
   * probes aside. Not there when none came.
   */
  readonly lastRequestMs?: number
  /**
   * How connections ended that were upgraded to WebSocket: `WebSocket closed 1001`, with the code
   * that the client has answered; `WebSocket terminated`, without an answer within the grace;
   * `WebSocket ended`, by the client and without one. Not there when there were none.
   */
  readonly upgraded?: Readonly<Record<string, number>>
  /**
   * What became of them by protocol and TLS: `open` at ShutdownInitiated; the others have ended
   * since then, those of later connections among them, by what they spoke last. So a handshake that
   * was `open` as `TLS handshake` may have `ended` as HTTP/2. Not there when there were none.
   */
  readonly byProtocol?: readonly ProtocolFates[]
}

/** Events about requests, by what has become of them. */
export interface ReportedAudit {
  /** Stored where they are kept. */
  readonly delivered: number
  /**
   * Dropped, or not delivered in time: what waited when the backend was shut down, or the life was
   * ended by force, is counted here.
   */
  readonly lost: number
}

export interface ReportedHook {
  readonly kind: HookKind
  readonly name: string
  /** null: still running. */
  readonly outcome: PhaseOutcome | null
  readonly durationMs: number | null
  readonly error?: ErrorRecord
  /** The hooks that one which never began (`skipped`) waited for, and that were cut. */
  readonly waitedFor?: readonly string[]
}

export interface ReportedLateAnswer {
  readonly what: string
  readonly answer: 'resolved' | 'rejected'
  readonly lateMs: number
  readonly error?: ErrorRecord
}

export interface ReportedError {
  /** Where it was first seen. */
  readonly where: string
  readonly error: ErrorRecord
  /** How often it came, when that is more than once. */
  readonly count?: number
}

export interface ReportedWarning {
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}
