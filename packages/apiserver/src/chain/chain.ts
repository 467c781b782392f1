import type { ApiExchange } from '../api-exchange.ts'
import { placeAll } from '../engine.ts'
import type { Filter, FilterFailed, FiltersByPart, PlacedFilter, UserFilter } from './filter.ts'
import { CHAIN_ORDER } from './order.ts'
import { TIME_IS_OVER } from './timeout.ts'

/**
 * Puts filters in the order of {@link CHAIN_ORDER}; those of the user's stand beside another one,
 * behind the last without a place.
 * @throws QuiesceError ERR_DUPLICATE for a name of two filters, ERR_UNKNOWN_REFERENCE for a place
 * that is none
 */
export function buildChain(ours: readonly PlacedFilter[], users: readonly UserFilter[] = []): FiltersByPart {
  const last = CHAIN_ORDER.at(-1)?.name
  const ofUser = new Set<Filter>(users)
  const placed = placeAll<UserFilter>(
    'filters',
    CHAIN_ORDER.map(({ name }) => name),
    [...ours, ...users],
    (one) => (ofUser.has(one) ? { before: one.before, after: one.before === undefined ? (one.after ?? last) : undefined } : undefined),
  )
  const chain: Record<keyof FiltersByPart, Filter[]> = { outer: [], between: [], inner: [] }
  let part: keyof FiltersByPart = 'outer'
  for (const [index, { before, at, after }] of placed.entries()) {
    chain[part].push(...before, ...at)
    // The engine's own steps end a part: what stands beside one is asked on its side of it.
    if (CHAIN_ORDER[index]?.part === 'engine') part = part === 'outer' ? 'between' : 'inner'
    chain[part].push(...after)
  }
  return chain
}

/** Whether every filter let it pass. Never waits: the filters must not take time. */
export function passNow(filters: readonly Filter[], exchange: ApiExchange): boolean {
  for (const filter of filters) {
    exchange.filtersAsked++
    if (filter.admit(exchange) !== true) return false
  }
  return true
}

/**
 * The same for filters that may take time; waits only for those that do. What was answered in the
 * meantime, because its time was over, goes no further, nor does a request whose client has left:
 * the filters behind would not be told of its end.
 */
export function pass(filters: readonly Filter[], exchange: ApiExchange, from = 0): boolean | Promise<boolean> {
  for (let at = from; at < filters.length; at++) {
    exchange.filtersAsked++
    const verdict = (filters[at] as Filter).admit(exchange)
    if (verdict === true) continue
    if (verdict === false) return false
    return verdict.then((isLetPass) => isLetPass && !TIME_IS_OVER.of(exchange) && !exchange.view.isOver && pass(filters, exchange, at + 1))
  }
  return true
}

/** Notifies the filters that a request has reached, and that have `over`, of its end. */
export function overFor({ outer, between, inner }: FiltersByPart, failed: FilterFailed): (exchange: ApiExchange) => void {
  const listeners = [...outer, ...between, ...inner].map((filter, at) => ({ filter, at })).filter(({ filter }) => filter.over !== undefined)
  listeners.reverse()
  return (exchange) => {
    for (const { filter, at } of listeners) {
      if (at >= exchange.filtersAsked) continue
      try {
        filter.over?.(exchange)
      } catch (error) {
        failed(filter.name, error)
      }
    }
  }
}
