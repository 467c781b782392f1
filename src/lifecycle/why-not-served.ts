import { QuiesceError } from '../errors.ts'
import type { Report } from '../report/report.ts'

/** What `start()` rejects with when a life has ended before it served. */
export function whyNotServed(report: Report, startError: unknown): QuiesceError {
  const { reason } = report
  if (reason?.kind !== 'start-failed') return new QuiesceError('ERR_STOPPED_DURING_START', 'stopped before it served', { reason, report })
  const { phase, error } = reason
  return new QuiesceError('ERR_START', `could not start: ${phase}: ${error.message}`, { phase, report }, startError)
}
