import type { RequestInfo } from '../../http/request-info.ts'
import type { PlacedFilter } from './filter.ts'

/**
 * Says which requests last. The info itself is there from the start: it is derived from method and
 * URL, and never fails.
 * @see kubernetes/apiserver pkg/endpoints/filters/requestinfo.go
 */
export const requestInfoFilter = (isLongRunning: (info: RequestInfo) => boolean): PlacedFilter => ({
  name: 'request-info',
  admit: (exchange) => {
    exchange.isLongRunning = isLongRunning(exchange.info)
    return true
  },
})
