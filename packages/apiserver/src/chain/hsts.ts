import type { Wrong } from '../engine.ts'
import { setDefault } from './default-headers.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'

/**
 * Has browsers come by HTTPS only. Undefined without directives.
 * @see kubernetes/apiserver pkg/server/filters/hsts.go WithHSTS
 */
export const hsts = {
  name: 'hsts',
  part: 'between',
  upstream: 'WithHSTS',
  why: 'on every answer of a server that goes on',
  make: ({ config: { hstsDirectives } }: { readonly config: { readonly hstsDirectives: readonly string[] } }) => filterOf(hstsDirectives),
} as const satisfies ChainFilter<never>

function filterOf(directives: readonly string[]): MadeFilter | undefined {
  if (directives.length === 0) return undefined
  const joined = directives.join('; ')
  const header = { name: 'Strict-Transport-Security', value: () => joined }
  return {
    header,
    admit: (exchange) => {
      setDefault(header, exchange)
      return true
    },
  }
}

export const DIRECTIVES_ALLOWED = 'a list of max-age=SECONDS, includeSubDomains, preload'
const REFUSED =
  '--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. ' +
  'see https://tools.ietf.org/html/rfc6797#section-6.1 for more information'

/**
 * What is wrong with one of a list of directives, in upstream's words.
 * @see kubernetes/apiserver pkg/server/options/server_run_options.go validateHSTSDirectives
 */
export function wrongDirective(given: unknown): Wrong | undefined {
  const wrong = { path: '', given, allowed: DIRECTIVES_ALLOWED }
  if (typeof given !== 'string') return wrong
  if (given.trim() === '') return { ...wrong, upstream: 'empty value in strict-transport-security-directives' }
  // What no header may hold would fail each answer.
  return /^(includeSubDomains|preload|max-age=[ -<>-~]*)$/.test(given) ? undefined : { ...wrong, upstream: REFUSED }
}
