import { checkArguments, withFields, withOptions } from '../base/arguments.ts'
import { BOLD, oneLine, painter, RED, wrap, YELLOW } from '../base/cells.ts'
import { optionError } from '../base/errors.ts'
import { formatInColumn } from '../base/format-duration.ts'
import { describeReason } from './describe-reason.ts'
import { endSentence } from './end-meaning.ts'
import type { Report } from './report.ts'
import { summary } from './summary.ts'
import { timeline } from './timeline.ts'
import { tookMs } from './took.ts'

export interface RenderOptions {
  /**
   * Cells of a line, at least 1; what is longer goes on in the next one.
   * @default 100
   */
  readonly columns?: number
  /**
   * Colours failures and cuts with ANSI codes.
   * @default false
   */
  readonly color?: boolean
}

const COLUMNS_DEFAULT = 100
/** A narrower terminal is written to as if it were so wide: no word would be whole. */
const COLUMNS_MIN = 24
/** Where what goes on begins, below what a line is called. */
const INDENT = 13
const INDENT_NARROW = 2

/**
 * A report as text for people: a line for each phase from the stop request on, with its bar, how
 * long it took and the signal that it ended with; then what was cut, failed or came late, hooks
 * with their times, connections, and the exit code with its meaning. As wide as `columns`, which
 * gives the bars their length; without room for bars there are none.
 *
 * @throws QuiesceError ERR_OPTION_INVALID for what is no report, and for an option that cannot be
 * used
 * @example
 * const report = await life.run()
 * await mail(renderReport(report, { columns: 80 }))
 */
export function renderReport(report: Report, options: RenderOptions = {}): string {
  const { columns, color } = checked(report, options)
  const paint = painter(color)
  const width = Math.max(COLUMNS_MIN, columns)
  const indent = width >= INDENT * 3 ? INDENT : INDENT_NARROW
  const paragraph = (text: string, hanging: number, code?: number): string[] =>
    wrapped(text, width, hanging).map((line) => (code === undefined ? line : paint(code, line)))
  const codeOf = (outcome: string | null): number | undefined => (outcome === 'failed' ? RED : outcome === 'cut' ? YELLOW : undefined)
  const lines = [
    ...paragraph(heading(report), INDENT_NARROW, BOLD),
    ...paragraph(`${report.platform.name} (${report.platform.reason}), started ${report.startedAt}`, INDENT_NARROW),
    '',
    ...timeline(report, width).flatMap(({ text, hanging, outcome }) => paragraph(text, hanging, codeOf(outcome))),
    '',
    ...summary(report).flatMap(({ label, text, outcome }) => paragraph(`${label.padEnd(INDENT)}${text}`, indent, codeOf(outcome))),
    ...paragraph(endSentence(report), indent, report.exitCode === 0 ? BOLD : RED),
  ]
  return `${lines.join('\n')}\n`
}

/** Names and messages come from users and clients: none of their control sequences get through. */
const wrapped = (text: string, width: number, indent: number): string[] =>
  wrap(oneLine(text), width - indent, width).map((line, index) => (index === 0 ? line : `${' '.repeat(indent)}${line.trimStart()}`))

export const A_REPORT = withFields('a report, as run() resolves with and a report file holds', 'phases', 'signals')

function checked(report: Report, options: RenderOptions) {
  checkArguments('renderReport(report, options?)', [report, A_REPORT], [options, withOptions<RenderOptions>('columns', 'color')])
  const { columns = COLUMNS_DEFAULT, color = false } = options
  if (!Number.isInteger(columns) || columns < 1) throw optionError('columns', columns, 'a whole number of at least 1')
  if (typeof color !== 'boolean') throw optionError('color', color, 'true, false')
  return { columns, color }
}

function heading(report: Report): string {
  const { reason, forced, forcedBy } = report
  const tookFor = tookMs(report)
  const why = reason ? `stopped by ${describeReason(reason)}` : 'no stop was requested'
  const by = [forced, forcedBy?.reason, forcedBy?.signal, forcedBy?.error?.message].filter(Boolean).join(': ')
  const took = tookFor === undefined ? '' : ` in ${formatInColumn(tookFor)}`
  return `${why}, ended${forced === null ? '' : ` by force (${by})`}${took}`
}
