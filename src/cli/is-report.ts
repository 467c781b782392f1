import { REPORT_SCHEMA, type Report } from '../report.ts'

const LISTS = ['listeners', 'signals', 'phases', 'handlers', 'hooks', 'lateAnswers', 'errors', 'warnings']
const OBJECTS = ['platform', 'requests', 'watches', 'connections', 'rejections']

/** Whether parsed JSON is a report, as far as printing it needs. The schema says the rest. */
export function isReport(given: unknown): given is Report {
  if (typeof given !== 'object' || given === null) return false
  const fields = given as Record<string, unknown>
  return (
    fields['$schema'] === REPORT_SCHEMA &&
    fields['version'] === 1 &&
    LISTS.every((name) => Array.isArray(fields[name])) &&
    OBJECTS.every((name) => typeof fields[name] === 'object' && fields[name] !== null)
  )
}
