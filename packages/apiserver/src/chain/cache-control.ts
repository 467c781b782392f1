import { setDefault } from './default-headers.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'

const header = { name: 'Cache-Control', value: () => 'no-cache, private' }

/**
 * Answers are for their client alone and not to be kept, unless a handler says something else.
 * @see kubernetes/apiserver pkg/endpoints/filters/cachecontrol.go WithCacheControl
 */
export const cacheControl = {
  name: 'cache-control',
  part: 'between',
  upstream: 'WithCacheControl',
  why: 'on every answer of a server that goes on',
  make: () => filter,
} as const satisfies ChainFilter<never>

const filter: MadeFilter = {
  header,
  admit: (exchange) => {
    setDefault(header, exchange)
    return true
  },
}
