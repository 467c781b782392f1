import type { PlacedFilter } from './filter.ts'
import { stand } from './standing-header.ts'

/**
 * Has browsers come by HTTPS only. Undefined without directives.
 * @see kubernetes/apiserver pkg/server/filters/hsts.go WithHSTS
 */
export function hsts(directives: readonly string[]): PlacedFilter | undefined {
  if (directives.length === 0) return undefined
  const joined = directives.join('; ')
  const header = { name: 'Strict-Transport-Security', value: () => joined }
  return {
    name: 'hsts',
    header,
    admit: (exchange) => {
      stand(header, exchange)
      return true
    },
  }
}
