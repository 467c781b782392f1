import { writeFile } from 'node:fs/promises'
import { optionError, QuiesceError, toError } from '../base/errors.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { ResolvedOf } from '../options/kit/define.ts'
import { compareReports } from '../report/compare.ts'
import { renderReport } from '../report/render-report.ts'
import type { Report } from '../report/report.ts'
import { reportPage } from '../report/report-page.ts'
import { firstLine } from './first-line.ts'
import { type CliHost, renderOptions } from './host.ts'
import { checkedReport, claimsToBeReport } from './is-report.ts'
import { comparisonText } from './printed-comparison.ts'
import { readText, textOf } from './read-text.ts'
import { REPORT_OPTIONS } from './report-flags.ts'
import { overwritten } from './same-file.ts'
import { readOptions } from './settings.ts'

/**
 * Prints the timeline of a report, or writes it as a page; of two reports, what is different.
 * @returns the exit code: 1 when the second of two ends is worse than the first
 * @throws QuiesceError for arguments and files that cannot be used
 */
export async function reportCommand(host: CliHost, args: readonly string[]): Promise<ExitCode> {
  const { options, operands } = readOptions('quiesce report', REPORT_OPTIONS, args, 2)
  const [path, other] = operands
  if (path === undefined || path === '')
    throw wrongUse(`no file was given, allowed: a report that --report-file wrote, or - for standard input`)
  if (path === '-' && other === '-') throw wrongUse('got "-" twice, allowed: standard input once')
  if (other !== undefined && options.html !== undefined) throw wrongUse('got --html and two files, allowed: --html with one file')
  if (other === undefined && options.slowerMs !== undefined) throw wrongUse('got --slower and one file, allowed: --slower with two files')
  const [overwrite] = overwritten(
    [{ label: '--html', path: options.html }],
    [{ label: 'the report', path: path === '-' ? undefined : path }],
  )
  if (overwrite !== undefined) throw wrongUse(overwrite)
  const report = await read(path, host)
  if (other === undefined) return show(report, host, options)
  const comparison = compareReports(report, await read(other, host), { slowerMs: options.slowerMs })
  host.stdout.write(options.json ? json(comparison) : comparisonText(comparison, [path, other], renderOptions(host).color))
  return comparison.isWorse ? 1 : 0
}

async function show(report: Report, host: CliHost, { html, json: asJson }: ResolvedOf<typeof REPORT_OPTIONS>): Promise<ExitCode> {
  if (html !== undefined) await writePage(html, reportPage(report))
  if (asJson) host.stdout.write(json(report))
  else host.stdout.write(html === undefined ? renderReport(report, renderOptions(host)) : `${html}\n`)
  return 0
}

const wrongUse = (problem: string): QuiesceError => new QuiesceError('ERR_OPTION_INVALID', `report: ${problem}`)
const json = (content: object): string => `${JSON.stringify(content, undefined, 2)}\n`

const writePage = (file: string, page: string): Promise<void> =>
  writeFile(file, page).catch((error: unknown) => {
    throw optionError('--html', file, `a file that can be written (${firstLine(toError(error).message)})`)
  })

async function read(path: string, { stdin, earlyStop }: CliHost): Promise<Report> {
  try {
    return reportIn(await (path === '-' ? textOf(stdin) : readText(path, earlyStop)))
  } catch (thrown) {
    throw new QuiesceError('ERR_JOURNAL_READ', `${path}: ${firstLine(toError(thrown).message)}`, { path }, thrown)
  }
}

function reportIn(content: string): Report {
  const given = parsed(content)
  if (!claimsToBeReport(given)) throw new Error('not a report of quiesce, version 1')
  return checkedReport(given)
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (thrown) {
    throw new Error(`not a complete report: ${toError(thrown).message}`, { cause: thrown })
  }
}
