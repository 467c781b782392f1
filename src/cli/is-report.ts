import { EXIT_CODES } from '../machines/exit-codes.ts'
import { REPORT_SCHEMA, type Report } from '../report/report.ts'

type Check = (given: unknown) => boolean

const text: Check = (given) => typeof given === 'string'
const number: Check = (given) => typeof given === 'number'
const boolean: Check = (given) => typeof given === 'boolean'
const date: Check = (given) => typeof given === 'string' && !Number.isNaN(Date.parse(given))
const isRecord = (given: unknown): given is Record<string, unknown> => typeof given === 'object' && given !== null && !Array.isArray(given)
const orNull =
  (check: Check): Check =>
  (given) =>
    given === null || check(given)
const orMissing =
  (check: Check): Check =>
  (given) =>
    given === undefined || check(given)
const listOf =
  (check: Check): Check =>
  (given) =>
    Array.isArray(given) && given.every(check)
/** More fields than these may be there. */
const record =
  (fields: Readonly<Record<string, Check>>): Check =>
  (given) =>
    isRecord(given) && Object.entries(fields).every(([name, check]) => check(given[name]))

const error = record({ message: text })
const stragglers = listOf(record({ name: text, ageMs: number }))
const drain = record({ before: number, after: number, cut: stragglers })

const REASONS: Readonly<Record<string, Check>> = {
  'os-signal': record({ signal: text }),
  stop: record({ reason: text }),
  ipc: isRecord,
  'abort-signal': record({ reason: text }),
  'server-closed': isRecord,
  'listener-died': record({ address: text, error }),
  'hook-failed': record({ hook: text, error }),
  'start-failed': record({ phase: text, error }),
  crash: record({ origin: text, error }),
}
const reason: Check = (given) => isRecord(given) && REASONS[String(given['kind'])]?.(given) === true

/** Reports of 0.1.0 have none. */
const forcedBy: Check = (given) =>
  given === undefined || given === null || (isRecord(given) && (given['error'] === undefined || error(given['error'])))

const complete = record({
  exitCode: (given) => typeof given === 'number' && Object.hasOwn(EXIT_CODES, given),
  reason: orNull(reason),
  forced: orNull(text),
  forcedBy,
  startedAt: date,
  stopRequestedAt: orNull(date),
  endedAt: date,
  platform: record({ name: text, reason: text }),
  listeners: listOf(record({ url: text, admin: boolean })),
  signals: listOf(record({ name: text, at: number, outcome: text })),
  phases: listOf(record({ name: text, start: number, end: orNull(number), outcome: orNull(text) })),
  requests: drain,
  watches: drain,
  connections: record({ told: number, idleUntold: number, ended: number, forced: number, forcedNames: stragglers }),
  handlers: stragglers,
  rejections: (given) => isRecord(given) && Object.values(given).every(number),
  hooks: listOf(record({ kind: text, name: text, outcome: orNull(text) })),
  lateAnswers: listOf(record({ what: text, answer: text, lateMs: number })),
  errors: listOf(record({ where: text, error, count: orMissing(number) })),
  warnings: listOf(record({ message: text })),
})

/** Whether parsed JSON means to be a report of this version. */
export const claimsToBeReport = record({ $schema: (given) => given === REPORT_SCHEMA, version: (given) => given === 1 })

/** Whether parsed JSON is a whole report, as far as printing it needs. The schema says the rest. */
export const isReport = (given: unknown): given is Report => claimsToBeReport(given) && complete(given)
