import type { Wrong } from '../engine.ts'
import { firstHeader } from '../first-header.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'

const METHODS = 'POST, GET, OPTIONS, PUT, DELETE, PATCH'
const HEADERS = 'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since'

/**
 * Lets pages of other origins read the answers, and answers what browsers ask first. An origin
 * that no expression matches is served without a word about it: its browser does the rest.
 * Undefined without expressions.
 * @see kubernetes/apiserver pkg/server/filters/cors.go WithCORS
 */
export const cors = {
  name: 'cors',
  part: 'inner',
  upstream: 'WithCORS',
  why: 'browsers ask before they have credentials',
  ends: [204],
  make: ({ config }: { readonly config: { readonly corsAllowedOrigins: readonly string[] } }) => filterOf(config.corsAllowedOrigins),
} as const satisfies ChainFilter<never>

/** @param expressions as {@link wrongExpression} accepts them; each matches part of an origin */
function filterOf(expressions: readonly string[]): MadeFilter | undefined {
  if (expressions.length === 0) return undefined
  const compiled = expressions.map(compile)
  return {
    admit: ({ request, response }) => {
      const origin = firstHeader(request, 'origin')
      if (origin === '' || !compiled.some((expression) => expression.test(origin))) return true
      response.setHeader('Access-Control-Allow-Origin', origin)
      response.setHeader('Access-Control-Allow-Methods', METHODS)
      response.setHeader('Access-Control-Allow-Headers', HEADERS)
      response.setHeader('Access-Control-Expose-Headers', 'Date')
      response.setHeader('Access-Control-Allow-Credentials', 'true')
      if (request.method !== 'OPTIONS') return true
      response.statusCode = 204
      response.end()
      return false
    },
  }
}

/** `(?i)` in front, which Go has and JavaScript has not, is a flag. */
const compile = (expression: string): RegExp =>
  expression.startsWith('(?i)') ? new RegExp(expression.slice(4), 'iu') : new RegExp(expression, 'u')

export const EXPRESSIONS_ALLOWED =
  'a list of regular expressions that pin to the start (^ or //) and the end ($ or :) of the host in the Origin header'

/**
 * What is wrong with one of a list of expressions, in upstream's words.
 * @see kubernetes/apiserver pkg/server/options/server_run_options.go validateCorsAllowedOriginList
 */
export function wrongExpression(given: unknown): Wrong | undefined {
  if (typeof given !== 'string') return { path: '', given, allowed: EXPRESSIONS_ALLOWED }
  const wrong = (upstream: string): Wrong => ({ path: '', given, allowed: EXPRESSIONS_ALLOWED, upstream })
  if (given === '') return wrong('empty value in --cors-allowed-origins')
  const invalid = (why: string): Wrong => wrong(`--cors-allowed-origins has an invalid regular expression: ${why}`)
  try {
    compile(given)
  } catch (error) {
    return invalid((error as Error).message)
  }
  const pinsStart = given.includes('^') || given.includes('//')
  const pinsEnd = given.includes('$') || given.includes(':')
  return pinsStart && pinsEnd ? undefined : invalid('regular expression does not pin to start/end of host in the origin header')
}
