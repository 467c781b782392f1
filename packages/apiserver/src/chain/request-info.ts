import { sendInternalError } from '../internal-error.ts'
import type { RequestInfo } from '../request/request-info.ts'
import type { ChainFilter } from './filter.ts'

/**
 * Says which requests last. The info itself is there from the start: it is derived from method and
 * URL, and never fails; one that names a verb and nothing that it is about is refused, as upstream
 * does.
 * @see kubernetes/apiserver pkg/endpoints/filters/requestinfo.go
 */
export const requestInfoFilter = {
  name: 'request-info',
  part: 'outer',
  upstream: 'WithRequestInfo',
  why: 'all filters behind it read the same',
  make: ({ config: { isLongRunning } }: { readonly config: { readonly isLongRunning: (info: RequestInfo) => boolean } }) => ({
    admit: (exchange) => {
      const { info, request } = exchange
      exchange.isLongRunning = isLongRunning(info)
      if (!info.isResourceRequest || info.parts.length > 0) return true
      sendInternalError(exchange, `failed to create RequestInfo: unable to determine kind and namespace from url, ${request.url}`)
      return false
    },
  }),
} as const satisfies ChainFilter<never>
