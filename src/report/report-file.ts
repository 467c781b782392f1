import { writeFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { sayOnStandardError } from '../actors/terminal.ts'
import { QuiesceError, toError } from '../errors.ts'
import type { Report } from './report.ts'

/**
 * Writes the report beside its place and moves it there, so that nobody ever reads half of one. What goes wrong is also said on
 * stderr: the logs are flushed by now, and the report cannot say it.
 *
 * @param signal aborts it, without a word; what is in the report's place by then stays there
 * @throws QuiesceError ERR_REPORT_WRITE
 */
export async function writeReport(path: string | undefined, report: Report, signal: AbortSignal): Promise<void> {
  if (path === undefined) return
  const temporary = `${path}.${process.pid}.tmp`
  try {
    await writeFile(temporary, text(report), { signal })
    signal.throwIfAborted()
    await rename(temporary, path)
  } catch (thrown) {
    await rm(temporary, { force: true })
    const error = writeError(path, thrown)
    if (!signal.aborted) sayOnStandardError(process.stderr, `${error.message}\n`)
    throw error
  }
}

/** The same in one synchronous step, for when there is no time left. What goes wrong is said on stderr only. */
export function writeReportNow(path: string | undefined, report: Report): void {
  if (path === undefined) return
  try {
    writeFileSync(path, text(report))
  } catch (thrown) {
    sayOnStandardError(process.stderr, `${writeError(path, thrown).message}\n`)
  }
}

const text = (report: Report): string => `${JSON.stringify(report, undefined, 2)}\n`

const writeError = (path: string, thrown: unknown): QuiesceError =>
  new QuiesceError('ERR_REPORT_WRITE', `quiesce: the report could not be written to ${path}: ${toError(thrown).message}`, { path }, thrown)
