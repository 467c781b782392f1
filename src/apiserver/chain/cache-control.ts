import type { PlacedFilter } from './filter.ts'
import { stand } from './standing-header.ts'

const header = { name: 'Cache-Control', value: () => 'no-cache, private' }

/**
 * Answers are for their client alone and not to be kept, unless a handler says something else.
 * @see kubernetes/apiserver pkg/endpoints/filters/cachecontrol.go WithCacheControl
 */
export const cacheControl: PlacedFilter = {
  name: 'cache-control',
  header,
  admit: (exchange) => {
    stand(header, exchange)
    return true
  },
}
