import type { ApiExchange } from '../api-exchange.ts'
import { exchangeOf, type QuiesceError } from '../engine.ts'

/** Aborts the context of a request, when there is one that anything can have asked for. */
export function abandon({ view }: ApiExchange, why: string | QuiesceError): void {
  const exchange = exchangeOf(view.request)
  if (exchange?.isHeard) exchange.askToEnd(why)
}
