import { exitCodeMeaning } from '../machines/exit-codes.ts'
import type { Report } from './report.ts'

/**
 * The exit code that a life ended with. A process that ends before its life does so with a code of
 * its own, which is the one that its parent sees.
 */
export const exitCodeSeen = ({ exitCode, forced, forcedBy }: Ended): number =>
  (forced === 'process-exit' ? forcedBy?.exitCode : undefined) ?? exitCode

/** The end with its number: the last line of a report. */
export const endSentence = (report: EndedWith): string => `exit code ${exitCodeSeen(report)}: ${endMeaning(report)}`

/**
 * What the exit code of a report means. A limit of its own that ends something in order costs
 * nothing: the code stays 0 or 4, what was broken off is said, and that it ended in order is not.
 * Of a code that is not ours there is only to say whose it is.
 */
export function endMeaning(report: EndedWith): string {
  if (report.forced === 'process-exit') return ENDED_BEFORE
  const begins = report.exitCode === 0 ? 'no request was cut' : report.exitCode === 4 ? 'something failed' : undefined
  const left = begins && brokenOff(report)
  return left === undefined ? exitCodeMeaning(report.exitCode) : `${begins}; ${left}`
}

const ENDED_BEFORE = 'the process ended before its server had: process.exit() by the program, a crash, or nothing left to run'

type Ended = Pick<Report, 'exitCode' | 'forced' | 'forcedBy'>
type EndedWith = Ended & Pick<Report, 'watches' | 'handlers' | 'connections'>

/** A connection that a watch or a handler had is closed with it. */
function brokenOff({ watches, handlers, connections }: EndedWith): string | undefined {
  const parts = [
    ...(watches.after > 0 ? [`${some(watches.after, 'watch', 'es')} outlived the grace and ${were(watches.after)} broken off`] : []),
    ...(handlers.length > 0 ? [`${some(handlers.length, 'handler', 's')} outlived the response`] : []),
  ]
  if (parts.length > 0) return parts.join(', ')
  const { forced } = connections
  return forced > 0 ? `${some(forced, 'connection', 's')} ${were(forced)} closed by force` : undefined
}

const some = (count: number, what: string, plural: string): string => `${count} ${what}${count === 1 ? '' : plural}`
const were = (count: number): string => (count === 1 ? 'was' : 'were')
