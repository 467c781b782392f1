import { formatDuration } from '../base/duration.ts'
import type { ErrorRecord, HookKind, LifecycleEvent, PhaseOutcome, StopReason, Straggler } from '../base/events.ts'
import type { StopProfile } from '../base/stop-profile.ts'
import { withoutName } from '../base/without-name.ts'
import type { LogWords } from '../base/wording.ts'

/** What the log has to know of the options. */
export interface LogContext {
  readonly whileDraining: 'refuse' | 'retry-after'
  readonly connectionTimeoutMs: number
  readonly audit: unknown
  readonly wording: { readonly log: LogWords }
  /** Paths of the health endpoints, if there are any. */
  readonly health?: object | false
}

/** A line of the log, before a logger has written it. */
interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fields: object
  readonly message: string
}

export const debug = (message: string, fields: object = {}): LogRecord => ({ level: 'debug', fields, message })
const info = (message: string, fields: object = {}): LogRecord => ({ level: 'info', fields, message })
const warn = (message: string, fields: object = {}): LogRecord => ({ level: 'warn', fields, message })
const error = (message: string, fields: object = {}): LogRecord => ({ level: 'error', fields, message })
/** A failure is an error, a cut a warning, everything else is for debugging. */
const byOutcome = (outcome: PhaseOutcome, message: string, fields: object): LogRecord =>
  (outcome === 'failed' ? error : outcome === 'cut' ? warn : debug)(message, fields)

/** The phase of which hooks of a kind are the work; a phase of the user's is its own. */
export const PHASE_OF: Readonly<Record<HookKind, string | undefined>> = {
  'post-start': 'post-start-hooks',
  'pre-shutdown': 'pre-shutdown-hooks',
  destroy: 'destroy',
  phase: undefined,
}

const HOOK = { 'post-start': 'PostStartHook', 'pre-shutdown': 'PreShutdownHook', destroy: 'Destroy', phase: 'Phase' } as const

/**
 * `err` is where pino's readers look for an error, and its `type` what they group by: pino takes
 * that from the constructor, and only of what has none from the name. It also marks what it is
 * given, so it gets a copy.
 */
const errOf = (record: ErrorRecord | undefined): { err?: object } =>
  record ? { err: Object.assign(Object.create(null) as object, record) } : {}

/** A failure that leads to a stop has been logged with its stack. */
export const withoutStack = (reason: StopReason): object => {
  if (!('error' in reason)) return reason
  const { stack: _, ...error } = reason.error
  return { ...reason, error }
}

type SignalContext = LogContext & { readonly reason: object | undefined }

/** The line of an event: its level, its fields and its message. */
export function recordOf(event: LifecycleEvent, context: SignalContext): LogRecord {
  const words = context.wording.log
  switch (event.type) {
    case 'platform':
      return info(timeWords(event.defaults), { platform: event.platform, why: event.reason, defaults: event.defaults })
    case 'signal':
      return event.name === 'StopRequested' && event.budget
        ? stopLine(event.budget, context)
        : signalLine(event.name, event.outcome, context)
    case 'phase.started':
      return debug('phase started', { phase: event.phase, ...(event.limitMs !== undefined && { limit: formatDuration(event.limitMs) }) })
    case 'phase.ended':
      // A start row that is skipped fires no signal; upstream has a line for this one.
      if (event.phase === 'mux-complete' && event.outcome === 'skipped') return info(words.muxIncomplete)
      return byOutcome(
        event.outcome,
        event.outcome === 'failed'
          ? `${event.phase} failed: ${withoutName(event.error?.message ?? 'no reason given', `phase ${event.phase}`)}`
          : 'phase ended',
        {
          phase: event.phase,
          outcome: event.outcome,
          ...event.details,
          ...errOf(event.error),
        },
      )
    case 'hook.started':
      return debug('hook started', { kind: event.kind, hook: event.name })
    case 'hook.ended': {
      const { kind, name, outcome, durationMs } = event
      const message =
        outcome === 'failed'
          ? `${HOOK[kind]} "${name}" failed: ${withoutName(event.error?.message ?? 'no reason given', `${kind} hook "${name}"`)}`
          : 'hook ended'
      return byOutcome(outcome, message, { kind, hook: name, outcome, duration: formatDuration(durationMs), ...errOf(event.error) })
    }
    case 'mux-signal':
      return debug('mux-complete signal ended', { muxSignal: event.name, state: event.state })
    case 'late':
      return warn('settled after its deadline', {
        what: event.what,
        answer: event.answer,
        late: formatDuration(event.lateMs),
        ...errOf(event.error),
      })
    case 'listening':
      // The inspector has said its own address, with the token that opens it.
      return event.inspector
        ? debug(`Inspector listens on ${event.url}`)
        : info(`Serving${event.admin ? ' admin endpoints' : ''} on ${event.url}`, {
            address: event.address,
            port: event.port,
            // What is answered there before the application.
            ...(context.health && { health: Object.values(context.health) }),
          })
    case 'stopped-listening':
      return event.error
        ? error(`Stopped listening on ${event.url} due to error: ${event.error.message}`, errOf(event.error))
        : info(`Stopped listening on ${event.url}`)
    case 'certificate':
      // Upstream's words: kubernetes/apiserver pkg/server/dynamiccertificates
      return info(event.what === 'pair' ? 'Loaded a new cert/key pair' : 'Loaded a new CA Bundle and Verifier', { from: event.from })
    case 'last-call':
      return debug('last call is over', { accepted: event.accepted, answered: event.answered })
    case 'drained':
      return event.what === 'requests' ? requestsDrained(event, words) : watchesDrained(event, words)
    case 'connections': {
      const { notified, idleUnnotified, ended, forced, forcedNames, lastRequestMs, upgraded, byProtocol } = event
      const counts = {
        notified,
        idleUnnotified,
        ended,
        forced,
        ...(lastRequestMs !== undefined && { lastRequest: formatDuration(lastRequestMs) }),
        ...(upgraded && { upgraded }),
        ...(byProtocol && { byProtocol }),
      }
      return forced > 0
        ? warn('connections closed by force', { ...counts, forcedNames: named(forcedNames) })
        : debug('connections closed', counts)
    }
    case 'handlers':
      return event.running.length > 0 ? warn('handlers still running', { running: named(event.running) }) : debug('no handler is running')
    case 'error':
      return error(event.error.message, {
        where: event.where,
        ...((event.times ?? 1) > 1 && { times: event.times }),
        ...errOf(event.error),
      })
    case 'warning':
      return warn(event.message, event.details)
    case 'forced':
      return error('ending by force', {
        why: event.why,
        // As in every line, for logs that have one type for a field.
        ...(event.reason !== undefined && { reason: { kind: 'stop', reason: event.reason } satisfies StopReason }),
        ...(event.signal !== undefined && { signal: event.signal }),
        ...errOf(event.error),
      })
    case 'ended':
      return debug('ended', { exitCode: event.exitCode })
    default:
      return event satisfies never
  }
}

/** What the times that were chosen come to, of which the field `defaults` has all. */
function timeWords({ deadline, shutdownDelay }: Readonly<Record<string, unknown>>): string {
  const msOf = (time: unknown): number => Number((time as { readonly ms?: unknown } | undefined)?.ms ?? 0)
  const delayed = msOf(shutdownDelay) > 0 ? `; for the first ${formatDuration(msOf(shutdownDelay))} of it new requests are served` : ''
  return `a stop may take ${formatDuration(msOf(deadline))}${delayed}`
}

function signalLine(
  name: string,
  outcome: PhaseOutcome,
  { whileDraining, connectionTimeoutMs, audit, reason, wording }: SignalContext,
): LogRecord {
  const words = wording.log
  const why = reason && (name === 'StopRequested' || name === 'ShutdownInitiated') ? { reason } : {}
  const ours = debug('lifecycle signal', { signal: name, outcome, ...why })
  switch (name) {
    case 'Start':
      return whileDraining === 'retry-after' ? info(words.shutdownTimeout, { shutdownTimeout: formatDuration(connectionTimeoutMs) }) : ours
    case 'Announced':
      return info(words.waiting)
    case 'MuxAndDiscoveryComplete':
      return info(words.muxComplete)
    case 'ShutdownInitiated':
    case 'AfterShutdownDelayDuration':
    case 'NotAcceptingNewRequest':
    case 'InFlightRequestsDrained':
    case 'HTTPServerStoppedListening':
      return info(words.shutdownEvent, { signal: name, ...why })
    case 'PreShutdownHooksStopped':
      return info(words.preShutdownHooksCompleted, { signal: name })
    case 'AuditStopped':
      return audit !== undefined && outcome === 'ok' ? info(words.auditCompleted) : ours
    case 'AdminClosed':
      // Upstream's last line. Ours comes before the flush, so that it is among what is flushed.
      return info(words.exiting)
    default:
      return ours
  }
}

/** Upstream has no budget, and so no such line. */
function stopLine(budget: StopProfile, { reason, wording }: SignalContext): LogRecord {
  const requests = formatDuration(Math.round(budget.cutsMs.requests))
  const deadline = formatDuration(Math.round(budget.deadlineMs))
  const message = `${wording.log.stopRequested}: requests have until +${requests}, everything until +${deadline}`
  return info(message, { signal: 'StopRequested', reason, requests, deadline })
}

/** Ages to the millisecond: what is behind that is the clock's. */
const named = (stragglers: readonly Straggler[]): readonly Straggler[] =>
  stragglers.map((straggler) => ({ ...straggler, ageMs: Math.round(straggler.ageMs) }))

type Drained = Extract<LifecycleEvent, { type: 'drained' }>

/** Upstream has no bound here and so no fields; ours are named like those of the watches. */
function requestsDrained({ before, after, cut }: Drained, { requestsDrained: message }: LogWords): LogRecord {
  const fields = { activeRequestsBefore: before, activeRequestsAfter: after }
  return after > 0 ? warn(message, { ...fields, error: `${after} request(s) cut`, cut: named(cut) }) : info(message, fields)
}

function watchesDrained({ before, after, graceMs, cut }: Drained, words: LogWords): LogRecord {
  if (graceMs === 0) return info(words.watchesNotAwaited)
  const message = words.watchesDrained
  const fields = {
    ...(graceMs !== undefined && { duration: formatDuration(graceMs) }),
    activeWatchesBefore: before,
    activeWatchesAfter: after,
  }
  return after > 0
    ? warn(message, { ...fields, error: `${after} watch(es) still open at the end of the grace period`, cut: named(cut) })
    : info(message, { ...fields, error: null })
}
