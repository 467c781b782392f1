import { cells, column } from '../base/cells.ts'
import { formatInColumn } from '../base/format-duration.ts'
import { largest } from '../base/largest.ts'
import { userSignal } from '../machines/user-phases.ts'
import { type PhaseName, WIRING } from '../machines/wiring.ts'
import type { Report, ReportedPhase, ReportedSignal } from './report.ts'

/** A line of the timeline. */
export interface TimelineLine {
  readonly text: string
  /** Where it goes on when it is longer than the terminal is wide. */
  readonly hanging: number
  readonly outcome: string | null
}

/** What one line is about: a phase, or signals that no phase of some length ended with. */
interface Row {
  readonly at: number
  readonly phase: ReportedPhase | undefined
  readonly signals: readonly ReportedSignal[]
  readonly outcome: string | null
}

/** A bar that is shorter says nothing. */
const BAR_WIDTH_MIN = 5
/**
 * What a bar cannot show is a point: phases that took less than this part of the whole, of which
 * the signal is left, and signals that are nearer to each other, which stand in one line.
 */
const POINT_SHARE = 1 / 100
const POINT_MIN_MS = 1

/**
 * Phases from the stop request on in the order they began, each with the signal that it ended with
 * at the end of its line; and signals without such a phase.
 */
export function timeline(report: Report, width: number): TimelineLine[] {
  const end = endOf(report)
  const rows = rowsOf(report, end * POINT_SHARE)
  const columns = { at: widest(rows.map(timeOf)), name: widest(rows.map(nameOf)), took: widest(rows.map(tookOf)) }
  const { at, name, took } = columns
  // `+1.000s  name |====| 1.000s  Signal`
  const barWidth = width - at - name - took - widest(rows.filter(({ phase }) => phase).map(signalsOf)) - '   ||   '.length
  const place = (time: number): number => Math.max(0, Math.min(barWidth - 1, Math.floor((time / end) * barWidth)))
  const bar = (from: number, to: number): string => `${' '.repeat(from)}${'='.repeat(to - from + 1)}`.padEnd(barWidth)
  const barOf = ({ start, end: over }: ReportedPhase): string =>
    barWidth < BAR_WIDTH_MIN ? '' : `|${bar(place(start), place(over ?? end))}| `

  return rows.map((row) => {
    const { phase, outcome } = row
    const text = phase
      ? `${timeOf(row).padStart(at)}  ${column(nameOf(row), name)} ${barOf(phase)}${tookOf(row).padStart(took)}  ${signalsOf(row)}`
      : `${timeOf(row).padStart(at)}  * ${signalsOf(row)}`
    return { text: text.trimEnd(), hanging: Math.min(at + 4, Math.floor(width / 3)), outcome }
  })
}

const widest = (texts: readonly string[]): number => largest(0, texts.map(cells))
const timeOf = ({ at }: Row): string => `+${formatInColumn(at)}`
const nameOf = ({ phase }: Row): string => phase?.name ?? ''
const tookOf = ({ phase }: Row): string => (phase ? (phase.end === null ? 'not over' : formatInColumn(phase.end - phase.start)) : '')
const signalsOf = ({ signals, outcome }: Row): string =>
  [signals.map(({ name }) => name).join(', '), outcome === null || outcome === 'ok' ? '' : outcome].filter(Boolean).join(' ')

/** Whose last instants may be later than the wall clock says, which may have been set. */
function endOf({ signals, phases, startedAt, stopRequestedAt, endedAt }: Report): number {
  const instants = [...signals.map(({ at }) => at), ...phases.map(({ start, end }) => end ?? start)]
  return largest(Math.max(1, Date.parse(endedAt) - Date.parse(stopRequestedAt ?? startedAt)), instants)
}

function rowsOf({ signals, phases, stopRequestedAt }: Report, shortMs: number): Row[] {
  const fromStop = (at: number): boolean => stopRequestedAt === null || at >= 0
  const pointMs = Math.max(POINT_MIN_MS, shortMs)
  const bars = phases
    .filter((phase) => fromStop(phase.start) && isBar(phase, pointMs))
    .map(
      (phase): Row => ({ at: phase.start, phase, signals: signals.filter(({ name }) => name === signalOf(phase)), outcome: phase.outcome }),
    )
  const ends = new Set(bars.flatMap((row) => row.signals))
  const points = signals
    .filter((signal) => fromStop(signal.at) && !ends.has(signal))
    .map((signal): Row => ({ at: signal.at, phase: undefined, signals: [signal], outcome: signal.outcome }))
  // A phase begins because of a signal: at the same instant the signal comes first.
  const rows: Row[] = []
  for (const row of [...points, ...bars].sort((a, b) => a.at - b.at)) {
    const last = rows.at(-1)
    const isTogether = last && !last.phase && !row.phase && last.outcome === row.outcome && row.at - last.at < pointMs
    if (isTogether) rows[rows.length - 1] = { ...last, signals: [...last.signals, ...row.signals] }
    else rows.push(row)
  }
  return rows
}

const signalOf = ({ name }: ReportedPhase): string => (Object.hasOwn(WIRING, name) ? WIRING[name as PhaseName].fires : userSignal(name))

/**
 * Phases that went wrong are shown, however short. The one that writes the report cannot be over in
 * it.
 */
function isBar({ name, start, end, outcome }: ReportedPhase, pointMs: number): boolean {
  if (end === null) return name !== ('report' satisfies PhaseName)
  return outcome === 'failed' || outcome === 'cut' || (outcome === 'ok' && end - start >= pointMs)
}
