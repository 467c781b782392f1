import { isErrorObject, show } from './errors.ts'
import type { ConnectionProtocol, ProtocolFates } from './protocol.ts'
import type { StopProfile } from './stop-profile.ts'

/**
 * What is done outside the machines in the step in which a signal fires; `machines/on-signal.ts`
 * says when, and what each means.
 */
export type Consequence = 'closePostStartHooks' | 'resolveStart' | 'closePreShutdownHooks' | 'countFates' | 'stopAccepting'

/** How a phase ended: as intended, with an error on record, cut by its bound, or never begun. */
export type PhaseOutcome = 'ok' | 'failed' | 'cut' | 'skipped'

/** Why a life ended. Data, not an error: a program decides on `kind`, a person reads the rest. */
export type StopReason =
  | { readonly kind: 'os-signal'; readonly signal: string }
  | { readonly kind: 'stop'; readonly reason: string }
  | { readonly kind: 'ipc' }
  | { readonly kind: 'disconnected' }
  | { readonly kind: 'abort-signal'; readonly reason: string }
  | { readonly kind: 'server-closed' }
  | { readonly kind: 'listener-died'; readonly address: string; readonly error: ErrorRecord }
  | { readonly kind: 'hook-failed'; readonly hook: string; readonly error: ErrorRecord }
  | { readonly kind: 'start-failed'; readonly phase: string; readonly error: ErrorRecord }
  | { readonly kind: 'crash'; readonly origin: string; readonly error: ErrorRecord }

/**
 * Why a life ends, as hooks are told: with the error itself where the reason has one, its class,
 * `cause` and fields included.
 */
export type StopCause = WithError<StopReason>
type WithError<R> = R extends { readonly error: ErrorRecord } ? Omit<R, 'error'> & { readonly error: Error } : R

/** The OS signal by which a life ends, as frameworks hand it on to their own hooks; or none. */
export const osSignalOf = (reason: Pick<StopReason, 'kind'> | undefined): string | undefined =>
  reason?.kind === 'os-signal' ? (reason as Extract<StopReason, { kind: 'os-signal' }>).signal : undefined

/**
 * Why a life is ended by force. `process-exit`: the process ends before the life, by
 * `process.exit()` or because nothing keeps it alive.
 */
export type ForcedWhy = 'stop-now' | 'second-signal' | 'second-crash' | 'deadline' | 'process-exit' | 'internal-error'

/**
 * What ended a life by force: the reason given to `stop({ now: true })`, the signal that came
 * second, the error of the second crash, or the exit code of a process that has ended meanwhile.
 */
export interface ForcedBy {
  readonly reason?: string
  readonly signal?: string
  readonly error?: ErrorRecord
  readonly exitCode?: number
}

/** What an event says of {@link ForcedBy}; undefined when it says nothing. */
export function forcedBy({ reason, signal, error, exitCode }: ForcedBy): ForcedBy | undefined {
  if (reason !== undefined) return { reason }
  if (signal !== undefined) return { signal }
  if (exitCode !== undefined) return { exitCode }
  return error && { error }
}

/** An error as it stands in reports and events: plain data that survives JSON. */
export interface ErrorRecord {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
}

/**
 * A request, watch or hold that was still there when its phase was cut. All but holds say what
 * their connection speaks.
 */
export interface Straggler extends Partial<ConnectionProtocol> {
  /**
   * `GET /path` for a request or watch, `WebSocket /path` for an upgraded one, the given name for a
   * hold, `ADDRESS:PORT` for a connection.
   */
  readonly name: string
  readonly ageMs: number
  /**
   * Bytes of responses that the client of a connection had not been sent when it was closed. Known
   * on Linux.
   */
  readonly undeliveredBytes?: number
  /**
   * The mark of a request whose answer had begun and not ended, when neither `markRequest` nor
   * `markWatch` nor `longRunning` has said whether such an answer ends by itself.
   */
  readonly streaming?: true
}

/**
 * Everything that happens, as it happens. The union is closed: the log and the report handle every
 * member and do not compile when one is forgotten. `at` is milliseconds since the life began.
 */
export type LifecycleEvent = { readonly at: number } & LifecycleFact

export type LifecycleFact =
  | { readonly type: 'platform'; readonly platform: string; readonly reason: string; readonly defaults: Readonly<Record<string, unknown>> }
  | {
      readonly type: 'signal'
      readonly name: string
      readonly outcome: PhaseOutcome
      /** What was done in the same step, by its name in `machines/on-signal.ts`. */
      readonly does?: Consequence
      /** The reason of the stop; with StopRequested alone. */
      readonly reason?: StopReason
      /** The times that the stop has, in milliseconds from it; with StopRequested alone. */
      readonly budget?: StopProfile
    }
  | {
      readonly type: 'phase.started'
      readonly phase: string
      /** Its own limit, in milliseconds from now; without one, only the budget ends it. */
      readonly limitMs?: number
    }
  | {
      readonly type: 'phase.ended'
      readonly phase: string
      readonly outcome: PhaseOutcome
      readonly error?: ErrorRecord
      readonly details?: Readonly<Record<string, unknown>>
    }
  | {
      readonly type: 'hook.started'
      readonly kind: HookKind
      readonly name: string
      /** Its own limit, in milliseconds from now. */
      readonly limitMs?: number
    }
  | {
      readonly type: 'hook.ended'
      readonly kind: HookKind
      readonly name: string
      readonly outcome: PhaseOutcome
      readonly durationMs: number
      readonly error?: ErrorRecord
      /** The hooks that one which never began waited for, and that were cut. */
      readonly waitedFor?: readonly string[]
    }
  /** A mux-complete signal has ended, in time or not. */
  | { readonly type: 'mux-signal'; readonly name: string; readonly state: MuxSignalState }
  | {
      readonly type: 'late'
      readonly what: string
      readonly answer: 'resolved' | 'rejected'
      readonly lateMs: number
      readonly error?: ErrorRecord
    }
  | {
      readonly type: 'listening'
      readonly url: string
      readonly address: string
      readonly port: number
      /** Whether it serves health and metrics, or the inspector, and no requests of the user's. */
      readonly admin: boolean
      /** The inspector's; it is no part of any phase. */
      readonly inspector?: true
    }
  | { readonly type: 'stopped-listening'; readonly url: string; readonly error?: ErrorRecord }
  /** Another one is served from now on than at the start. */
  | { readonly type: 'certificate'; readonly what: 'pair' | 'client CA'; readonly from: string }
  /** Since NotAcceptingNewRequest: connections accepted, and requests let in. */
  | { readonly type: 'last-call'; readonly accepted: number; readonly answered: number }
  | {
      readonly type: 'drained'
      readonly what: 'requests' | 'watches'
      readonly before: number
      readonly after: number
      readonly graceMs?: number
      readonly cut: readonly Straggler[]
    }
  | {
      readonly type: 'connections'
      readonly notified: number
      readonly idleUnnotified: number
      readonly ended: number
      readonly forced: number
      readonly forcedNames: readonly Straggler[]
      /** Milliseconds from ShutdownInitiated to the last request that arrived. */
      readonly lastRequestMs?: number
      /** How those ended that had changed their protocol: `WebSocket closed 1001`. */
      readonly upgraded?: Readonly<Record<string, number>>
      /** The counts by the last protocol; absent when there were none. */
      readonly byProtocol?: readonly ProtocolFates[]
    }
  | { readonly type: 'handlers'; readonly running: readonly Straggler[] }
  | {
      readonly type: 'error'
      readonly where: string
      readonly error: ErrorRecord
      /**
       * How many such events its line in the log stands for, this one included, where they may come
       * in floods; 0: it has no line. Default: 1.
       */
      readonly times?: number
    }
  | { readonly type: 'warning'; readonly message: string; readonly details?: Readonly<Record<string, unknown>> }
  | ({ readonly type: 'forced'; readonly why: ForcedWhy } & ForcedBy)
  | { readonly type: 'ended'; readonly exitCode: number }

/**
 * How a mux-complete signal ended: it came, or failed; it came or failed after the stop was
 * requested; the life ended without it.
 */
export type MuxSignalState = 'complete' | 'failed' | 'late' | 'left'

export type HookKind = 'post-start' | 'pre-shutdown' | 'destroy' | 'phase'

/**
 * Anything thrown as plain data. User code decides what is thrown, so every read is guarded: this
 * never throws.
 */
export function errorRecord(thrown: unknown): ErrorRecord {
  try {
    if (!isErrorObject(thrown)) return { name: 'Error', message: typeof thrown === 'string' ? thrown : show(thrown) }
    const { name, message, stack } = thrown
    const { code } = thrown as { code?: unknown }
    return {
      name: String(name),
      message: String(message),
      ...(typeof code === 'string' && { code }),
      ...(typeof stack === 'string' && { stack }),
    }
  } catch {
    // A getter that throws, or a proxy that throws whenever it is looked at: still an error that
    // has to be reported.
    return { name: 'Error', message: 'an error whose fields cannot be read' }
  }
}

/**
 * The events by which node says that a process has crashed; also what has failed in the error of a
 * crash.
 */
export const CRASH_EVENTS = ['uncaughtException', 'unhandledRejection'] as const
export type CrashEvent = (typeof CRASH_EVENTS)[number]
export const isCrashEvent = (name: string | symbol): name is CrashEvent => (CRASH_EVENTS as readonly (string | symbol)[]).includes(name)
