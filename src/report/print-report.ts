import { checkArguments, withOptions } from '../base/arguments.ts'
import { takesColor } from '../platforms/terminal.ts'
import { A_REPORT, type RenderOptions, renderReport } from './render-report.ts'
import type { Report } from './report.ts'

export interface PrintOptions extends RenderOptions {
  /**
   * Where to. Standard output may hold the log, which programs read line by line.
   * @default process.stderr
   */
  readonly stream?: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number }
}

/**
 * Prints a report for people: {@link renderReport}, as wide as the stream's terminal, and in colour
 * on one that takes it (`NO_COLOR` and `TERM=dumb` are heard). What `run()` prints by itself on a
 * terminal (the option `pretty`) is the same text.
 *
 * @throws QuiesceError ERR_OPTION_INVALID as {@link renderReport}
 * @example
 * printReport(await life.stop())
 * printReport(JSON.parse(await readFile('report.json', 'utf8')), { stream: process.stdout })
 */
export function printReport(report: Report, options: PrintOptions = {}): void {
  checkArguments('printReport(report, options?)', [report, A_REPORT], [options, withOptions<PrintOptions>('stream', 'columns', 'color')])
  const { stream = process.stderr, ...given } = options
  const { columns } = stream
  const color = takesColor(stream, process.env)
  stream.write(renderReport(report, { color, ...(columns && { columns }), ...given }))
}
