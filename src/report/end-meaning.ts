import { exitCodeMeaning } from '../machines/exit-codes.ts'
import type { Report } from './report.ts'

/**
 * What the exit code of a report means. A limit of its own that ends something in order costs
 * nothing: there the code is 0, and what was broken off is said all the same.
 */
export function endMeaning(report: EndedWith): string {
  const left = report.exitCode === 0 ? brokenOff(report) : undefined
  return left === undefined ? exitCodeMeaning(report.exitCode) : `in order; ${left}`
}

type EndedWith = Pick<Report, 'exitCode' | 'watches' | 'handlers' | 'connections'>

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
