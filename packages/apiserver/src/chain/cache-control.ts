import { setDefault } from './default-headers.ts'
import type { PlacedFilter } from './filter.ts'

const header = { name: 'Cache-Control', value: () => 'no-cache, private' }

/**
 * Answers are for their client alone and not to be kept, unless a handler says something else.
 * @see kubernetes/apiserver pkg/endpoints/filters/cachecontrol.go WithCacheControl
 */
export const cacheControl: PlacedFilter = {
  name: 'cache-control',
  header,
  admit: (exchange) => {
    setDefault(header, exchange)
    return true
  },
}
