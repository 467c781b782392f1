import type { QuiesceError } from '../../../../src/base/errors.ts'
import { exchangeOf } from '../../../../src/http/traffic/exchange.ts'
import type { ApiExchange } from '../api-exchange.ts'

/** Aborts the context of a request, when there is one that anything can have asked for. */
export function abandon({ view }: ApiExchange, why: string | QuiesceError): void {
  const exchange = exchangeOf(view.request)
  if (exchange?.isHeard) exchange.askToEnd(why)
}
