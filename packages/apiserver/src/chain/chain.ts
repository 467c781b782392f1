import type { ApiExchange } from '../api-exchange.ts'
import { isThenable, placeAll, show, wrongAnswer } from '../engine.ts'
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

/**
 * Whether every filter let it pass. Never waits: the filters must not take time.
 * @throws what a filter has thrown, or TypeError for an answer that is neither true nor false
 */
export function passNow(filters: readonly Filter[], exchange: ApiExchange): boolean {
  for (const filter of filters) {
    exchange.filtersAsked++
    const verdict: unknown = filter.admit(exchange)
    if (verdict === true) continue
    if (verdict === false) return false
    throw wrongAnswer(nameOf(filter), verdict, 'true or false, at once: only those behind the counting may take time')
  }
  return true
}

/**
 * The same for filters that may take time; waits only for those that do. What was answered in the
 * meantime, because its time was over, goes no further, nor does a request whose client has left:
 * the filters behind would not be told of its end.
 * @throws as {@link passNow}; once a filter takes time, the promise rejects with it
 */
export function pass(filters: readonly Filter[], exchange: ApiExchange, from = 0): boolean | Promise<boolean> {
  for (let at = from; at < filters.length; at++) {
    exchange.filtersAsked++
    const filter = filters[at] as Filter
    const verdict: unknown = filter.admit(exchange)
    if (verdict === true) continue
    if (verdict === false) return false
    if (!isThenable(verdict)) throw wrongAnswer(nameOf(filter), verdict, VERDICTS)
    return Promise.resolve(verdict).then((isLetPass) => {
      if (typeof isLetPass !== 'boolean') throw wrongAnswer(nameOf(filter), isLetPass, VERDICTS)
      return isLetPass && !TIME_IS_OVER.of(exchange) && !exchange.view.isOver && pass(filters, exchange, at + 1)
    })
  }
  return true
}

const nameOf = ({ name }: Filter): string => `filter ${show(name)}`
const VERDICTS = 'true or false, or a promise of it'

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
