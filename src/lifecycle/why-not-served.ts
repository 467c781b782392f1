import { QuiesceError } from '../base/errors.ts'
import type { Report } from '../report/report.ts'

/** What `start()` rejects with when a life has ended before it served. */
export function whyNotServed(report: Report, startError: unknown): QuiesceError {
  const { reason } = report
  if (reason?.kind !== 'start-failed') return new QuiesceError('ERR_STOPPED_DURING_START', 'stopped before it served', { reason, report })
  const { phase, error } = reason
  const held = error.code === 'ERR_TIMEOUT' ? whatHeld(phase, report) : undefined
  const why = held === undefined ? error.message : `${error.message}: ${held}`
  return new QuiesceError('ERR_START', `could not start: ${phase}: ${why}`, { phase, report }, startError)
}

/** What a phase said when it was given up, which says more than that its time was over. */
const whatHeld = (phase: string, { errors }: Report): string | undefined =>
  errors.find(({ where, error }) => where === phase && error.code !== 'ERR_TIMEOUT')?.error.message
