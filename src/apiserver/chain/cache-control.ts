import type { PlacedFilter } from './filter.ts'

/**
 * Answers are for their client alone and not to be kept, unless a handler says something else.
 * @see kubernetes/apiserver pkg/endpoints/filters/cachecontrol.go WithCacheControl
 */
export const cacheControl: PlacedFilter = {
  name: 'cache-control',
  admit: ({ response }) => {
    if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-cache, private')
    return true
  },
}
