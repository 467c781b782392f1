import { nameAmongCopies } from '../base/shared-by-copies.ts'
import type { WireExchange } from './ports.ts'

/**
 * The key of a request's exchange: a property costs the request path less than a look-up in a
 * WeakMap.
 */
const EXCHANGE: unique symbol = Symbol.for(nameAmongCopies('exchange'))

interface Tagged {
  [EXCHANGE]?: WireExchange | undefined
}

/** Has {@link wireExchangeOf} find an exchange by this object, which stands for its request. */
export function findBy(object: object, exchange: WireExchange): void {
  ;(object as Tagged)[EXCHANGE] = exchange
}

/** Has none be found by this object any more. */
export function loseBy(object: object): void {
  ;(object as Tagged)[EXCHANGE] = undefined
}

/** The exchange of node's request, or undefined when its server was not taken over. */
export function wireExchangeOf(request: object): WireExchange | undefined {
  return (request as Tagged)[EXCHANGE]
}
