import { validateHeaderName, validateHeaderValue } from '../../base/node-http.ts'
import { isFieldsOnly } from '../../base/records.ts'
import { plainPathOf } from '../../base/request-target.ts'
import { HEALTH_PATHS, type HealthSource } from '../../http/health/health.ts'
import type { HealthAnswers } from '../../http/health/health-answer.ts'
import { CHECK_TIMEOUT_MS } from '../../http/health/health-check.ts'
import { defineOptions, type Kind, type Needs, option, type ResolvedOf, resolveOptions, type UserOptions } from '../kit/define.ts'
import { duration, fields, integer, onOff, onOffOr, text, value } from '../kit/kinds.ts'
import { fieldPath, type Wrong } from '../kit/wrong.ts'

/** Whether it is a path that no reader takes for another. @see plainPathOf */
export const isPlainPath = (given: unknown): boolean => typeof given === 'string' && given.length > 1 && plainPathOf(given) === given

/** What requests are compared with: their path, without what comes after it. */
const path = () => text('a path that begins with / and has no ? or #', (given) => /^\/[^?#]*$/.test(given))

export const HEALTH_PATH_OPTIONS = defineOptions({
  /** @default /healthz */
  healthz: option(path(), { default: HEALTH_PATHS.healthz, meaning: 'Path of the endpoint that says whether all is well' }),
  /** @default /livez */
  livez: option(path(), { default: HEALTH_PATHS.livez, meaning: 'Path of the endpoint that says whether the process lives' }),
  /** @default /readyz */
  readyz: option(path(), { default: HEALTH_PATHS.readyz, meaning: 'Path of the endpoint that says whether traffic should come' }),
})

export type HealthPaths = { readonly [Endpoint in keyof typeof HEALTH_PATH_OPTIONS]: string }
/** Other places for the endpoints. */
export interface HealthPathOptions extends UserOptions<typeof HEALTH_PATH_OPTIONS> {}

const paths = (): Kind<HealthPathOptions, HealthPaths, 'value'> =>
  fields(HEALTH_PATH_OPTIONS, { allowed: 'an object of healthz, livez, readyz' })

const ENDPOINTS = Object.keys(HEALTH_PATH_OPTIONS)
const SOURCES = ['all', ...ENDPOINTS]

/** A kind of object whose entries have rules of their own: what one may be, if it is refused. */
const entries = <T>(allowed: string, refused: (name: string, given: unknown) => string | undefined): Kind<T, T, 'value'> => {
  const wrong = (given: unknown): Wrong | undefined => {
    if (!isFieldsOnly(given)) return { path: '', given, allowed }
    for (const [name, entry] of Object.entries(given)) {
      const instead = refused(name, entry)
      if (instead !== undefined) return { path: fieldPath(name), given: entry, allowed: instead }
    }
    return undefined
  }
  return { ...value<T>(allowed, (given) => wrong(given) === undefined), wrong }
}

function extraProblem(path: string, source: unknown): string | undefined {
  if (!isPlainPath(path)) return 'only below a path like /health, without escapes'
  const names = Array.isArray(source) && source.length > 0 && source.every((name) => typeof name === 'string')
  return names || SOURCES.includes(source as string) ? undefined : `${SOURCES.join(', ')}, or a list of check names`
}

function headerProblem(name: string, content: unknown): string | undefined {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, content as string)
  } catch (thrown) {
    return `a header that can be sent (${(thrown as Error).message})`
  }
  return typeof content === 'string' ? undefined : 'text'
}

const STATUS_OPTIONS = defineOptions({
  /** @default 200 */
  passed: option(integer(200, 203, '200 to 203, which have a body'), { default: 200, meaning: 'Status of an endpoint that passes' }),
  /** @default 500 */
  failed: option(integer(400, 599, '400 to 599'), { default: 500, meaning: 'Status of an endpoint that fails' }),
})

export const HEALTH_OPTIONS = defineOptions({
  /**
   * Other places for the three endpoints.
   * @default healthz /healthz, livez /livez, readyz /readyz
   */
  paths: option(paths(), {
    default: {},
    meaning: 'Paths of the three endpoints',
  }),
  /**
   * More endpoints, by path: each answers as one of the three does, with `all` checks of the life,
   * or with those that are named.
   * @default {}
   */
  extra: option(entries<Readonly<Record<string, HealthSource>>>('an object of endpoints, by path', extraProblem), {
    default: {},
    meaning: 'More endpoints, by path: each as one of the three, with all checks, or with those that are named',
  }),
  /**
   * Status codes of the answers.
   * @default passed 200, failed 500
   */
  status: option(fields(STATUS_OPTIONS, { allowed: '{ passed, failed }' }), { default: {}, meaning: 'Status codes of the answers' }),
  /**
   * `text` is upstream's. `json`: `{ "status": "failed", "checks": [{ "name": "db", "status":
   * "failed" }] }`, with the reason where text has it too, below the endpoint only. A function
   * decides itself, and is given the reasons: text is sent as text, anything else as JSON.
   * @default text
   */
  body: option(
    {
      ...value<NonNullable<HealthAnswers['body']>>(
        'text, json or a function of the result',
        (given) => given === 'text' || given === 'json' || typeof given === 'function',
      ),
      show: String,
    },
    { default: 'text', meaning: 'Body of the answers' },
  ),
  /**
   * Added to every answer; they replace ours.
   * @default {}
   */
  headers: option(entries<Readonly<Record<string, string>>>('an object of texts', headerProblem), {
    default: {},
    meaning: 'Headers of every answer, in place of ours where they have the same name',
  }),
})

/** Where and how health is answered. */
export interface HealthOptions extends UserOptions<typeof HEALTH_OPTIONS> {}

/**
 * One path would answer for two endpoints, were they not distinct, those that stay at their default
 * included.
 */
function twoEndpoints({ paths = {}, extra = {} }: HealthOptions): Wrong | undefined {
  const all = [...Object.values(resolveOptions(HEALTH_PATH_OPTIONS, paths)), ...Object.keys(extra)]
  const twice = all.find((path, index) => all.indexOf(path) !== index)
  return twice === undefined ? undefined : { path: '.paths', given: twice, allowed: 'paths that differ: this one has two endpoints' }
}

/** Whether, where and how health is answered. */
const health = (): Kind<boolean | HealthOptions, ResolvedOf<typeof HEALTH_OPTIONS> | undefined, 'value'> =>
  onOffOr(
    fields(HEALTH_OPTIONS, {
      allowed:
        '{ paths: { healthz, livez, readyz }, extra, status: { passed, failed }, body, headers } with paths that differ, begin with / and have no ? or #',
      together: twoEndpoints,
    }),
  )

/** The need of a life that serves nothing: for what is answered there alone. */
const needsAdmin: Needs = {
  anyOf: ['admin'],
  otherwise: 'without effect',
  because: 'this life has no listener that could answer',
  at: ['createLife'],
}
/** The need of what only health endpoints ask about. */
const needsHealth: Needs = {
  anyOf: ['health'],
  otherwise: 'without effect',
  because: 'no health endpoint is answered, unless routes of quiesce/hono are mounted',
  at: ['attachLifecycle'],
}

/** Health and metrics of the server. */
export const LIFE_HEALTH_OPTIONS = defineOptions({
  /**
   * Time after start during which liveness does not wait for post-start hooks.
   * @default 0s
   * @see kubernetes/apiserver pkg/server/config.go Config.LivezGracePeriod
   */
  livezGrace: option(duration(), {
    flag: 'livez-grace-period',
    default: '0s',
    meaning: 'Time after start during which liveness does not wait for post-start hooks',
    needs: needsHealth,
    upstream: '--livez-grace-period',
    upstreamRefusal: '--livez-grace-period can not be a negative value',
  }),
  /**
   * Longest time of one health check; above 0. Probers usually wait 1 s.
   * @default 900ms
   */
  healthCheckTimeout: option(duration('1ms'), {
    default: CHECK_TIMEOUT_MS,
    meaning: 'Longest time of one health check; after it the check has failed',
    needs: needsHealth,
  }),
  /**
   * Whether, where and how health is answered.
   * @default true for createServer, false for attachLifecycle
   */
  health: option(health(), {
    default: true,
    on: { attachLifecycle: false },
    meaning: 'Whether, where and how health is answered',
    needs: needsAdmin,
  }),
  /**
   * Whether `/metrics` and `/metrics/slis` are answered before the application, for a scraper that
   * reaches no other port. The listener of `admin` answers them in any case.
   * @default false
   */
  metrics: option(onOff(), {
    default: false,
    meaning: 'Whether /metrics and /metrics/slis are answered before the application, too',
    needs: needsAdmin,
  }),
})
