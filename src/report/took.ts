import type { Report } from './report.ts'

/** Milliseconds from the stop request to the end; undefined without a stop request. */
export const tookMs = ({ stopRequestedAt, endedAt }: Pick<Report, 'stopRequestedAt' | 'endedAt'>): number | undefined =>
  stopRequestedAt === null ? undefined : Date.parse(endedAt) - Date.parse(stopRequestedAt)
