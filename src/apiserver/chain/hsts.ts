import type { PlacedFilter } from './filter.ts'

/**
 * Has browsers come by HTTPS only. Undefined without directives.
 * @see kubernetes/apiserver pkg/server/filters/hsts.go WithHSTS
 */
export function hsts(directives: readonly string[]): PlacedFilter | undefined {
  if (directives.length === 0) return undefined
  const value = directives.join('; ')
  return {
    name: 'hsts',
    admit: ({ response }) => {
      if (!response.hasHeader('Strict-Transport-Security')) response.setHeader('Strict-Transport-Security', value)
      return true
    },
  }
}
