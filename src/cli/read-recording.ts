import { QuiesceError, toError } from '../base/errors.ts'
import { journalOfReport } from '../inspector/from-report.ts'
import type { JournalEntry } from '../inspector/protocol.ts'
import { Recording } from '../inspector/recording.ts'
import type { Report } from '../report/report.ts'
import { firstLine } from './first-line.ts'
import { checkedReport, claimsToBeReport } from './is-report.ts'

const KINDS: readonly JournalEntry['kind'][] = ['opening', 'setup', 'fact', 'actor', 'actor.stopped', 'sent', 'state', 'gauges', 'report']

/**
 * A recording from what a file holds: a report (`--report-file`), a journal (`--journal`), or a
 * counter-example (`quiesce check --trace-file`).
 * @throws QuiesceError ERR_JOURNAL_READ, whose message can follow the file's name
 */
export function readRecording(content: string): Recording {
  const whole = parsed(content)
  if (claimsToBeReport(whole)) {
    return new Recording(journalOfReport(reportFrom(whole)))
  }
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const entries = lines.flatMap((line, index) => entryOf(line, index, lines.length))
  const [opening] = entries
  if (opening?.kind !== 'opening' || opening.format !== 1) throw unreadable('neither a report nor a journal of quiesce, version 1')
  return new Recording(entries)
}

function reportFrom(given: unknown): Report {
  try {
    return checkedReport(given)
  } catch (thrown) {
    throw unreadable(thrown)
  }
}

/** The last line of a process that was killed may be half a line. */
function entryOf(line: string, index: number, count: number): JournalEntry[] {
  const entry = parsed(line)
  if (isEntry(entry)) return [entry]
  if (index > 0 && index === count - 1) return []
  throw unreadable(index === 0 ? 'neither a report nor a journal of quiesce, version 1' : `line ${index + 1} is not an entry of a journal`)
}

/** Whether an entry has what reading a journal needs; what it says is shown as it is. */
function isEntry(given: unknown): given is JournalEntry {
  if (typeof given !== 'object' || given === null) return false
  const { n, at, kind } = given as Partial<JournalEntry>
  return Number.isInteger(n) && typeof at === 'number' && (KINDS as readonly unknown[]).includes(kind)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // The caller says what it is instead.
    return undefined
  }
}

/** The same for a file that cannot be read at all. */
export const unreadable = (why: unknown): QuiesceError =>
  new QuiesceError('ERR_JOURNAL_READ', typeof why === 'string' ? why : firstLine(toError(why).message))
