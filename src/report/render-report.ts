import { BOLD, clip, column, painter, RED, YELLOW } from '../base/cells.ts'
import { formatDuration } from '../base/duration.ts'
import type { Straggler } from '../base/events.ts'

import { exitCodeMeaning } from '../machines/exit-codes.ts'
import type { Report, ReportedPhase } from './report.ts'
import { describeReason } from './describe-reason.ts'

export interface RenderOptions {
  /** Colours failures and cuts with ANSI codes. Default false. */
  readonly color?: boolean
  /** Longest line, in cells of a terminal. Default and most: 100; least: 72. */
  readonly width?: number
}

const WIDTH_MAX = 100
const WIDTH_MIN = 72
const TIME_WIDTH = 10
const NAME_WIDTH = 28
const OUTCOME_WIDTH = 18
/** Names listed for what was cut; the report itself has all of them. */
const NAMES_MAX = 3

/**
 * A report as a short timeline for people: one line for each signal and phase from the stop request
 * on, then what was cut, failed or came late, the connections, and the exit code with its meaning.
 */
export function renderReport(report: Report, { color = false, width = WIDTH_MAX }: RenderOptions = {}): string {
  const paint = painter(color)
  const columns = Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, width))
  const lines = [
    paint(BOLD, clip(heading(report), columns)),
    clip(`  ${report.platform.name} (${report.platform.reason}), started ${report.startedAt}`, columns),
    '',
    ...timeline(report, columns).map(({ text, outcome }) =>
      outcome === 'failed' ? paint(RED, text) : outcome === 'cut' ? paint(YELLOW, text) : text,
    ),
    '',
    ...summary(report).map(({ text, code }) => (code === undefined ? clip(text, columns) : paint(code, clip(text, columns)))),
    paint(report.exitCode === 0 ? BOLD : RED, clip(`exit code ${report.exitCode}: ${exitCodeMeaning(report.exitCode)}`, columns)),
  ]
  return `${lines.join('\n')}\n`
}

function heading({ reason, stopRequestedAt, endedAt, forced, forcedBy }: Report): string {
  const took = stopRequestedAt === null ? '' : ` in ${formatDuration(Date.parse(endedAt) - Date.parse(stopRequestedAt))}`
  return `${reason ? `stopped by ${describeReason(reason)}` : 'no stop was requested'}, ended${forced === null ? '' : ` by force (${[forced, forcedBy?.reason, forcedBy?.signal, forcedBy?.error?.message].filter(Boolean).join(': ')})`}${took}`
}

interface Row {
  readonly at: number
  readonly text: string
  readonly outcome: string | null
}

function timeline({ signals, phases, stopRequestedAt }: Report, columns: number): Row[] {
  const fromStop = (at: number): boolean => stopRequestedAt === null || at >= 0
  const spans = phases.filter((phase) => fromStop(phase.start) && phase.end !== phase.start && phase.outcome !== 'skipped')
  const shown = signals.filter(({ at }) => fromStop(at))
  const end = Math.max(1, ...shown.map(({ at }) => at), ...spans.map((phase) => phase.end ?? phase.start))
  const barWidth = columns - TIME_WIDTH - NAME_WIDTH - OUTCOME_WIDTH - 6
  const place = (at: number): number => Math.min(barWidth - 1, Math.floor((at / end) * barWidth))

  const rows: Row[] = [
    ...shown.map(({ name, at, outcome }) => ({
      at,
      outcome,
      text: line(at, `* ${name}`, `${' '.repeat(place(at))}*`, outcome === 'ok' ? '' : outcome, barWidth),
    })),
    ...spans.map((phase) => {
      const to = phase.end ?? end
      const from = place(phase.start)
      const bar = `${' '.repeat(from)}${'='.repeat(Math.max(1, place(to) - from + 1))}`
      return { at: phase.start, outcome: phase.outcome, text: line(phase.start, `  ${phase.name}`, bar, duration(phase), barWidth) }
    }),
  ]
  // A phase begins because of a signal: at the same instant the signal comes first, as it does in
  // `rows`.
  return rows.sort((a, b) => a.at - b.at)
}

const duration = ({ start, end, outcome }: ReportedPhase): string =>
  end === null ? 'not over' : `${formatDuration(Math.round(end - start))} ${outcome ?? ''}`.trimEnd()

function line(at: number, name: string, bar: string, outcome: string, barWidth: number): string {
  const time = `+${formatDuration(Math.round(at))}`.padStart(TIME_WIDTH)
  return `${time}  ${column(name, NAME_WIDTH)} |${bar.padEnd(barWidth)}| ${clip(outcome, OUTCOME_WIDTH)}`.trimEnd()
}

interface SummaryLine {
  readonly text: string
  readonly code?: number
}

function summary({
  lastCall,
  budget,
  requests,
  watches,
  handlers,
  connections,
  rejections,
  hooks,
  lateAnswers,
  errors,
  warnings,
}: Report): SummaryLine[] {
  const { told, idleUntold, ended, forced, forcedNames } = connections
  const refused = Object.entries(rejections)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
  const failures = errors.map(({ where, error, count }) => ({
    text: `failed       ${where}${count === undefined ? '' : ` (${count} times)`}: ${error.message}`,
    code: RED,
  }))
  return [
    ...(lastCall ? [{ text: `last call    ${lastCall.accepted} connections accepted, ${lastCall.answered} requests answered` }] : []),
    // A report of an earlier version says nothing of its budget.
    {
      text: `requests     ${requests.before} to drain, ${requests.after} left${budget ? `; they had until +${formatDuration(Math.round(budget.cuts.requests))}` : ''}`,
    },
    ...listed('  cut', requests.cut),
    { text: `watches      ${watches.before} to end, ${watches.after} left` },
    ...listed('  cut', watches.cut),
    ...listed('handlers', handlers),
    { text: `connections  ${told} told to leave, ${ended} ended by clients, ${idleUntold} idle and untold, ${forced} by force` },
    ...listed('  forced', forcedNames),
    ...(refused.length > 0 ? [{ text: `refused      ${refused.join(', ')}` }] : []),
    ...hooks
      .filter((hook) => hook.outcome === 'cut')
      .map((hook) => ({ text: `cut          ${hook.kind} hook "${hook.name}"`, code: YELLOW })),
    ...failures,
    ...lateAnswers.map(({ what, answer, lateMs }) => ({
      text: `late         ${what} ${answer} ${formatDuration(Math.round(lateMs))} too late`,
    })),
    ...warnings.map(({ message }) => ({ text: `warning      ${message}`, code: YELLOW })),
  ]
}

function listed(label: string, stragglers: readonly Straggler[]): SummaryLine[] {
  if (stragglers.length === 0) return []
  const names = stragglers.slice(0, NAMES_MAX).map(({ name, ageMs, undeliveredBytes = 0 }) => {
    const undelivered = undeliveredBytes > 0 ? `, ${undeliveredBytes} bytes undelivered` : ''
    return `${name} (${formatDuration(Math.round(ageMs))}${undelivered})`
  })
  const more = stragglers.length > NAMES_MAX ? `, and ${stragglers.length - NAMES_MAX} more` : ''
  return [{ text: `${label.padEnd(12)} ${names.join(', ')}${more}`, code: YELLOW }]
}
