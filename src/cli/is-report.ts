import { packageFile } from '../process/package-file.ts'
import { REPORT_SCHEMA, type Report } from '../report/report.ts'
import { firstProblem, type Schema, schemaAt } from './schema.ts'

let schema: Schema | undefined

/** Whether parsed JSON means to be a report of this version. */
export function claimsToBeReport(given: unknown): boolean {
  const { $schema, version } = (given ?? {}) as Partial<Report>
  return $schema === REPORT_SCHEMA && version === 1
}

/**
 * Parsed JSON that means to be a report, as one.
 * @throws Error that names the first field that is missing or is something else than
 * schema/report.schema.json allows
 */
export function checkedReport(given: unknown): Report {
  schema ??= schemaAt(packageFile('schema/report.schema.json'))
  const problem = firstProblem(schema, given)
  if (problem !== undefined) throw new Error(`not a complete report: ${problem}`)
  return given as Report
}
