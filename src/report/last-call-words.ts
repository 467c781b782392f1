import type { Report } from './report.ts'

/**
 * What came of the last call, wherever a report is shown. A request of it is let in or, where a
 * drain refuses, answered like any other; without the second a count of 0 reads like a loss.
 */
export function lastCallWords({ lastCall, rejections }: Pick<Report, 'lastCall' | 'rejections'>): string | undefined {
  if (lastCall === null || lastCall === undefined) return undefined
  const areOthers = Object.values(rejections).some((count) => count > 0)
  return `${letInWords(lastCall)}${areOthers ? '; the others got the answer of a refusal' : ''}`
}

/** The words of the last call alone, when it is not known yet what was refused. */
export const letInWords = ({ accepted, answered }: { readonly accepted: number; readonly answered: number }): string =>
  `${accepted} ${accepted === 1 ? 'connection' : 'connections'} accepted, ${answered} ${answered === 1 ? 'request' : 'requests'} let in`
