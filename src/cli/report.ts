import { QuiesceError, toError } from '../base/errors.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { renderReport } from '../report/render-report.ts'
import { type CliHost, renderOptions } from './cli.ts'
import { firstLine } from './first-line.ts'
import { checkedReport, claimsToBeReport } from './is-report.ts'
import { readText, textOf } from './read-text.ts'
import { readOptions } from './settings.ts'

/**
 * Prints the timeline of a report.
 * @throws QuiesceError for arguments and files that cannot be used
 */
export async function reportCommand(host: CliHost, args: readonly string[]): Promise<ExitCode> {
  const { operand: path } = readOptions('report', {}, args, true)
  if (!path)
    throw new QuiesceError('ERR_OPTION_INVALID', 'report: got no file, allowed: a report that --report-file wrote, or - for standard input')
  try {
    const content = await (path === '-' ? textOf(host.stdin) : readText(path, host.earlyStop))
    host.stdout.write(renderReport(reportIn(content), renderOptions(host)))
  } catch (thrown) {
    throw new QuiesceError('ERR_JOURNAL_READ', `${path}: ${firstLine(toError(thrown).message)}`, { path }, thrown)
  }
  return 0
}

function reportIn(content: string) {
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
