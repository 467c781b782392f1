import { formatDuration } from '../../base/duration.ts'
import type { LifecycleEvent, Straggler } from '../../base/events.ts'
import type { VirtualClock } from '../../base/virtual-clock.ts'
import type { SignalName } from '../../machines/signals.ts'
import { describeReason } from '../../report/describe-reason.ts'

/** Signals that say nothing a reader of a story waits for; `show all` has them, too. */
const QUIET_SIGNALS: readonly string[] = [
  'Start',
  'AuditRunning',
  'Bound',
  'MuxAndDiscoveryComplete',
  'PostStartHooksLaunched',
  'PostStartHooksDone',
  'Announced',
  'ClientsNotified',
  'HandlersDone',
  'AuditStopped',
  'AdminClosed',
  'ReportWritten',
] satisfies readonly SignalName[]

/** What happened, a line each, with the time; signals that fire at the same instant share one. */
export class Teller {
  readonly #clock: VirtualClock
  #lines: string[] = []
  #signals: string[] = []
  #signalsAt = 0
  #hookHasFailed = false
  #showsAll = false

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  say(text: string): void {
    this.#endSignals()
    this.#lines.push(`${timeText(this.#clock.now())} ${text}`)
  }

  /** Shows what says little, too, from now on. */
  showAll(): void {
    this.#showsAll = true
  }

  /** The subscriber of `events$` of a life. */
  readonly event = (event: LifecycleEvent): void => {
    if (event.type === 'signal') this.#signal(event)
    else for (const text of textsOf(event, this.#hookHasFailed)) this.say(text)
    this.#hookHasFailed ||= event.type === 'hook.ended' && event.outcome === 'failed'
  }

  /** What was said since the last time. */
  take(): string[] {
    this.#endSignals()
    return this.#lines.splice(0)
  }

  #signal({ name, reason }: Extract<LifecycleEvent, { type: 'signal' }>): void {
    if (!this.#showsAll && QUIET_SIGNALS.includes(name)) return
    const now = this.#clock.now()
    if (now !== this.#signalsAt) this.#endSignals()
    this.#signalsAt = now
    this.#signals.push(reason ? `${name} (${describeReason(reason)})` : name)
  }

  #endSignals(): void {
    const lines = wrapped(this.#signals.splice(0))
    this.#lines.push(...lines.map((line, index) => `${index === 0 ? timeText(this.#signalsAt) : ' '.repeat(TIME_WIDTH)} ${line}`))
  }
}

const TIME_WIDTH = 7
const WIDTH_MAX = 120

/** Signals in as few lines as they need. */
function wrapped(signals: readonly string[]): string[] {
  const lines: string[] = []
  for (const signal of signals) {
    const line = lines.at(-1)
    if (line === undefined || TIME_WIDTH + line.length + signal.length + 4 > WIDTH_MAX) lines.push(signal)
    else lines[lines.length - 1] = `${line}; ${signal}`
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line};` : line))
}

const timeText = (ms: number): string => (ms === 0 ? '0s' : formatDuration(ms)).padStart(TIME_WIDTH)

/** @param isKnown why a phase failed was said by the hook that failed */
function textsOf(event: Exclude<LifecycleEvent, { type: 'signal' }>, isKnown: boolean): string[] {
  switch (event.type) {
    case 'listening':
      return [`listening on ${event.url}`]
    case 'stopped-listening':
      return event.error ? [`stopped listening on ${event.url}: ${event.error.message}`] : []
    case 'phase.ended':
      return event.outcome === 'failed' || event.outcome === 'cut'
        ? [`${event.phase} ${event.outcome}${isKnown ? '' : because(event.error)}`]
        : []
    case 'hook.started':
      return [`${event.kind} ${event.name} begins`]
    case 'hook.ended':
      return [`${event.kind} ${event.name} ${event.outcome}${because(event.error)}`]
    case 'mux-signal':
      return [`mux-complete signal ${event.name} ${event.state}`]
    case 'late':
      return [`${event.what} ${event.answer} ${formatDuration(event.lateMs)} too late`]
    case 'last-call': {
      const { accepted, answered } = event
      return accepted + answered > 0 ? [`last call: ${accepted} accepted, ${answered} answered`] : []
    }
    case 'drained':
      return event.before > 0 ? [`${event.what}: ${event.before} to drain, ${event.after} left${listed(event.cut)}`] : []
    case 'connections': {
      const { notified, idleUnnotified, ended, forced, forcedNames, upgraded } = event
      const counts = Object.entries({
        notified,
        'closed idle': idleUnnotified,
        'ended by clients': ended,
        forced,
        ...upgraded,
      }).filter(([, count]) => count > 0)
      return counts.length > 0 ? [`connections: ${counts.map(([what, count]) => `${count} ${what}`).join(', ')}${listed(forcedNames)}`] : []
    }
    case 'handlers':
      return event.running.length > 0 ? [`handlers still running${listed(event.running)}`] : []
    case 'certificate':
      return [`new ${event.what} of ${event.from}`]
    case 'error':
      return [`error in ${event.where}: ${event.error.message}`]
    case 'warning':
      return [`warning: ${event.message}`]
    case 'forced':
      return [`ends by force: ${event.why}`]
    case 'ended':
      return [`ended, exit code ${event.exitCode}`]
    case 'platform':
    case 'phase.started':
      return []
    default:
      return event satisfies never
  }
}

const because = (error: { readonly message: string } | undefined): string => (error ? `: ${error.message}` : '')
const listed = (stragglers: readonly Straggler[]): string =>
  stragglers.length > 0 ? `: ${stragglers.map(({ name, ageMs }) => `${name} (${formatDuration(ageMs)})`).join(', ')}` : ''
