import { BOLD, cells, clip, column, painter, YELLOW } from '../base/cells.ts'
import { formatRunning } from '../base/format-duration.ts'
import { nameWithProtocol, openWords } from '../base/protocol.ts'
import type { PhaseName } from '../machines/wiring.ts'
import { describeReason } from '../report/describe-reason.ts'
import type { Blocker } from '../report/ending.ts'
import type { Gauges } from '../report/gauges.ts'
import type { Progress, RunningPhase } from '../report/progress.ts'

export interface DrainLinesOptions {
  readonly width: number
  /** Most lines that there is room for. */
  readonly height: number
  readonly color: boolean
  /** What a person can do about it. */
  readonly hint?: string | undefined
}

const NAME_WIDTH = 18
const LEFT_WIDTH = 11
/** The last part of a time is shown as a warning. */
const SHORT_OF_TIME = 1 / 5

/** A bar that is shorter shows nothing. */
const BAR_WIDTH_MIN = 12

/**
 * A life that ends, as it stands at one moment: how long it may still take, how much of its time is
 * over, what it waits for, then each running phase with what that waits for, the oldest first. One
 * line each, none longer than the terminal is wide.
 */
export function drainLines(progress: Progress, gauges: Gauges, { width, height, color, hint }: DrainLinesOptions): string[] {
  const paint = painter(color)
  const { reason, mode, sinceMs, leftMs, phases, headline, skipped } = progress
  const heading = `draining for ${formatRunning(sinceMs)} (${describeReason(reason)}, ${mode}): at most ${formatRunning(leftMs)} more`
  const isShort = (left: number, since: number): boolean => left < (left + since) * SHORT_OF_TIME
  const rows = [
    { text: heading, code: isShort(leftMs, sinceMs) ? YELLOW : BOLD },
    ...budget(progress, width, hint).map((text) => ({ text, code: isShort(leftMs, sinceMs) ? YELLOW : 0 })),
    { text: headline, code: BOLD },
    ...(skipped === undefined ? [] : [{ text: skipped, code: YELLOW }]),
    ...phases.map((phase) => ({
      text: line(phase.name, phase.leftMs, waitsFor(phase, progress, gauges)),
      code: isShort(phase.leftMs, phase.sinceMs) ? YELLOW : 0,
    })),
    ...inFlight(progress, gauges).map((text) => ({ text: line('in flight', undefined, text), code: 0 })),
    ...open(gauges).map((text) => ({ text: line('connections', undefined, text), code: 0 })),
    ...refused(gauges).map((text) => ({ text: line('refused', undefined, text), code: 0 })),
  ]
  return rows.slice(0, height).map(({ text, code }) => {
    // The last cell stays empty: some terminals wrap as soon as it is written.
    const fitted = clip(text, width - 1)
    return code === 0 ? fitted : paint(code, fitted)
  })
}

/** `[=====>          ]  press Ctrl-C again to end now` */
function budget({ sinceMs, leftMs }: Progress, width: number, hint = ''): string[] {
  const room = width - 1 - cells('[]')
  const beside = hint === '' ? room : room - cells(hint) - GAP.length
  // Without room for both the bar comes first.
  const isBeside = beside >= BAR_WIDTH_MIN
  const barWidth = isBeside ? beside : room
  if (barWidth < BAR_WIDTH_MIN) return hint === '' ? [] : [hint]
  const over = Math.min(barWidth - 1, Math.floor((sinceMs / Math.max(1, sinceMs + leftMs)) * barWidth))
  const bar = `[${`${'='.repeat(over)}>`.padEnd(barWidth)}]`
  if (hint === '') return [bar]
  return isBeside ? [`${bar}${GAP}${hint}`] : [bar, hint]
}

const GAP = '  '

function line(name: string, leftMs: number | undefined, text: string): string {
  const left = leftMs === undefined ? '' : `${formatRunning(leftMs)} left`
  return `  ${column(name, NAME_WIDTH)} ${left.padStart(LEFT_WIDTH)}  ${text}`.trimEnd()
}

/** What phases wait for that wait for nothing with a name. */
const WORDS: Readonly<Partial<Record<string, string>>> = {
  'notify-clients': 'clients are told to connect elsewhere',
  'last-call': 'requests that are on their way are still answered',
  'shutdown-delay': 'still serving, while traffic finds its way elsewhere',
  'post-start-hooks': 'run on until they are told to end',
} satisfies Partial<Record<PhaseName, string>>

/** What a phase waits for, in words. */
function waitsFor({ name }: RunningPhase, { blockers }: Progress, gauges: Gauges): string {
  return WORDS[name] ?? list(blockers.filter(({ phase, kind }) => phase === name && kind !== 'phase').toSorted(byAge), gauges)
}

/** What no phase waits for yet. */
function inFlight({ blockers }: Progress, gauges: Gauges): string[] {
  const later = blockers.filter(({ isWaitedFor, kind }) => !isWaitedFor && IN_FLIGHT.includes(kind))
  return later.length > 0 ? [list(later.toSorted(byAge), gauges)] : []
}

const IN_FLIGHT: readonly Blocker['kind'][] = ['request', 'hold', 'watch']

function open({ connections: { active, idle, notified, byProtocol } }: Gauges): string[] {
  const protocols = openWords(byProtocol)
  const counts = `${active} active, ${idle} idle, ${notified} told to leave`
  return active + idle + notified > 0 ? [protocols === '' ? counts : `${counts}: ${protocols}`] : []
}

function refused({ rejected }: Gauges): string[] {
  const kinds = Object.entries(rejected).filter(([, count]) => count > 0)
  return kinds.length > 0 ? [kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')] : []
}

/**
 * `2 requests, 1 hold: GET /slow 12.3s, job 9.1s`. All that there are: the line is cut where the
 * terminal ends.
 */
function list(blockers: readonly Blocker[], { requests, holds, watches, handlers }: Gauges): string {
  const counts: Readonly<Partial<Record<Blocker['kind'], number>>> = { request: requests, hold: holds, watch: watches, handler: handlers }
  const counted = Object.entries(counts).flatMap(([kind, count]) =>
    blockers.some((blocker) => blocker.kind === kind) ? [some(count, kind)] : [],
  )
  const named = blockers.map((blocker) => `${nameWithProtocol(blocker)} ${formatRunning(blocker.ageMs)}`).join(', ')
  return [counted.join(', '), named].filter((part) => part !== '').join(': ')
}

const byAge = (a: Blocker, b: Blocker): number => b.ageMs - a.ageMs

const some = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : what === 'watch' ? 'es' : 's'}`
