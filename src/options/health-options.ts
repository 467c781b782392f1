import { validateHeaderName, validateHeaderValue } from 'node:http'
import { didYouMean } from '../base/did-you-mean.ts'
import { plainPathOf } from '../base/request-target.ts'
import type { HealthSource } from '../http/health/health.ts'
import type { HealthAnswers } from '../http/health/health-answer.ts'

export interface HealthPaths {
  readonly healthz: string
  readonly livez: string
  readonly readyz: string
}

/** Where and how health is answered. */
export interface HealthOptions extends HealthAnswers {
  /** Other places for the three endpoints. */
  readonly paths?: Partial<HealthPaths> | undefined
  /** More endpoints, by path: each answers as one of the three does, with `all` checks of the life, or with those that are named. */
  readonly extra?: Readonly<Record<string, HealthSource>> | undefined
}

export const HEALTH_PATHS_DEFAULT: HealthPaths = { healthz: '/healthz', livez: '/livez', readyz: '/readyz' }
export const HEALTH_ALLOWED =
  'true, false, or { paths: { healthz, livez, readyz }, extra, status: { passed, failed }, body, headers } with paths that differ, begin with / and have no ? or #'

const ENDPOINTS = Object.keys(HEALTH_PATHS_DEFAULT)
const SOURCES = ['all', ...ENDPOINTS]
const FIELDS = ['paths', 'extra', 'status', 'body', 'headers']

const isRecord = (given: unknown): given is Record<string, unknown> => typeof given === 'object' && given !== null && !Array.isArray(given)
/** What requests are compared with: their path, without what comes after it. */
const isPath = (given: unknown): boolean => typeof given === 'string' && /^\/[^?#]*$/.test(given)
/** Not only a path: one that no reader takes for another. @see plainPathOf */
export const isPlainPath = (given: unknown): boolean => typeof given === 'string' && given.length > 1 && plainPathOf(given) === given

/** What is wrong with the option `health`, first things first; undefined when nothing is. */
export function healthProblem(given: unknown): string | undefined {
  if (typeof given === 'boolean') return undefined
  if (!isRecord(given)) return ''
  const unknown = Object.keys(given).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined) return `${unknown}: unknown${didYouMean(unknown, FIELDS)}`
  const { paths, extra, status, body, headers } = given
  return pathsProblem(paths, extra) ?? statusProblem(status) ?? bodyProblem(body) ?? headersProblem(headers)
}

/** One path would answer for two endpoints, were they not distinct, those that stay at their default included. */
function pathsProblem(paths: unknown = {}, extra: unknown = {}): string | undefined {
  if (!isRecord(paths) || !isRecord(extra)) return 'paths and extra: objects'
  for (const [name, path] of Object.entries(paths)) {
    if (!ENDPOINTS.includes(name)) return `paths.${name}: unknown${didYouMean(name, ENDPOINTS)}`
    if (path !== undefined && !isPath(path)) return `paths.${name}`
  }
  for (const [path, source] of Object.entries(extra)) {
    if (!isPlainPath(path)) return `extra ${JSON.stringify(path)}: a path like /health, without escapes`
    const names = Array.isArray(source) && source.length > 0 && source.every((name) => typeof name === 'string')
    if (!names && !SOURCES.includes(source as string)) return `extra ${path}: ${SOURCES.join(', ')}, or a list of check names`
  }
  const moved = Object.fromEntries(Object.entries(paths).filter(([, path]) => path !== undefined))
  const all = [...Object.values({ ...HEALTH_PATHS_DEFAULT, ...moved }), ...Object.keys(extra)]
  return new Set(all).size === all.length ? undefined : 'one path has two endpoints'
}

const isStatus = (given: unknown, from: number, to: number): boolean =>
  given === undefined || (Number.isInteger(given) && (given as number) >= from && (given as number) <= to)

function statusProblem(status: unknown = {}): string | undefined {
  if (!isRecord(status) || Object.keys(status).some((field) => field !== 'passed' && field !== 'failed'))
    return 'status: { passed, failed }'
  if (!isStatus(status['passed'], 200, 203)) return 'status.passed: 200 to 203, which have a body'
  return isStatus(status['failed'], 400, 599) ? undefined : 'status.failed: 400 to 599'
}

const bodyProblem = (body: unknown = 'text'): string | undefined =>
  body === 'text' || body === 'json' || typeof body === 'function' ? undefined : 'body: text, json or a function of the result'

function headersProblem(headers: unknown = {}): string | undefined {
  if (!isRecord(headers)) return 'headers: an object of texts'
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value as string)
    } catch (thrown) {
      return `headers: ${(thrown as Error).message}`
    }
    if (typeof value !== 'string') return `headers.${name}: text`
  }
  return undefined
}
