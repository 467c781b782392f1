import type { OutgoingHttpHeaders } from 'node:http'
import type { ApiExchange } from '../api-exchange.ts'
import { Slot } from '../request/slots.ts'
import type { DefaultHeader, Filter, FiltersByPart, UserFilter } from './filter.ts'

/** Sets a header on the answer of a request, unless there is one of that name. */
export function setDefault({ name, value }: DefaultHeader, exchange: ApiExchange): void {
  const { response } = exchange
  if (!response.hasHeader(name)) response.setHeader(name, value(exchange))
}

/** The headers of one request, made when it is asked for. */
export type OuterHeaders = (exchange: ApiExchange) => OutgoingHttpHeaders

/** What is left when the answer of a handler is given up; undefined before the count. */
export const OUTER_HEADERS = new Slot<OuterHeaders | undefined>(undefined)

/**
 * Takes note of the headers that filters before the count have set. Ours say which, so that nothing
 * is copied for a request; those of the user's may have set any.
 */
export function outerHeadersOf({ outer, between }: FiltersByPart, users: readonly UserFilter[]): (exchange: ApiExchange) => OuterHeaders {
  const before: readonly (Filter & { readonly header?: DefaultHeader })[] = [...outer, ...between]
  if (before.some((filter) => users.some((one) => one === filter))) {
    return ({ response }) => {
      const copy = response.getHeaders()
      return () => copy
    }
  }
  const defaults = before.flatMap(({ header }) => header ?? [])
  const made: OuterHeaders = (exchange) => Object.fromEntries(defaults.map(({ name, value }) => [name.toLowerCase(), value(exchange)]))
  return () => made
}
