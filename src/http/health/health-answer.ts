import { toError } from '../../base/errors.ts'
import type { Answer } from '../respond.ts'

/** What a health endpoint, or one check of it, found. */
export interface HealthResult {
  /** The endpoint's. */
  readonly path: string
  readonly passed: boolean
  /** The checks in order of registration. */
  readonly checks: readonly CheckResult[]
}

export interface CheckResult {
  readonly name: string
  readonly passed: boolean
  /** The request asked to leave it out. */
  readonly excluded?: true
  /** The error of a check that failed. */
  readonly reason?: string
}

/** How health is answered, where it is not as upstream does: 200 or 500, and text. */
export interface HealthAnswers {
  /** Default 200 and 500. */
  readonly status?: { readonly passed?: number | undefined; readonly failed?: number | undefined } | undefined
  /**
   * `text` (default): upstream's. `json`: `{ "status": "failed", "checks": [{ "name": "db",
   * "status": "failed" }] }`, with the reason where text has it too, below the endpoint only. A
   * function decides itself, and is given the reasons: text is sent as text, anything else as JSON.
   */
  readonly body?: 'text' | 'json' | ((result: HealthResult) => unknown) | undefined
  /** Added to every answer; they replace ours. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' }

/**
 * An answer in the user's shape. A body function that fails leaves it as it was: a probe that gets
 * no answer takes it for a failure.
 * @param upstreams how upstream answers
 * @param withReasons whether reasons may be shown
 */
export function shaped(
  upstreams: Answer,
  result: HealthResult,
  { status = {}, body = 'text', headers = {} }: HealthAnswers,
  withReasons: boolean,
  onError: (error: Error) => void,
): Answer {
  const code = (result.passed ? status.passed : status.failed) ?? upstreams.status
  const like = (type: Answer['headers'], text: string): Answer => ({ status: code, headers: { ...type, ...headers }, body: text })
  const json = (value: unknown): Answer => like({ ...upstreams.headers, ...JSON_TYPE }, `${JSON.stringify(value)}\n`)
  if (body === 'text') return like(upstreams.headers, upstreams.body)
  if (body === 'json') return json(asJson(result, withReasons))
  try {
    const own = body(result)
    return typeof own === 'string' ? like(upstreams.headers, own) : json(own)
  } catch (thrown) {
    onError(toError(thrown))
    return like(upstreams.headers, upstreams.body)
  }
}

const asJson = ({ passed, checks }: HealthResult, withReasons: boolean): object => ({
  status: passed ? 'ok' : 'failed',
  checks: checks.map(({ name, passed, excluded, reason }) => ({
    name,
    status: excluded ? 'excluded' : passed ? 'ok' : 'failed',
    ...(withReasons && reason !== undefined && { reason }),
  })),
})
