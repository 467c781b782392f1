import type { Exchange } from './exchange.ts'

/** What stands in a list, one at a time, and keeps its neighbours itself. */
interface Linked<T> {
  older: T | undefined
  newer: T | undefined
}

/**
 * Exchanges in the order in which they were added, linked through themselves: an exchange is in one
 * list at a time. A Set would do, but costs each request more than everything else here together,
 * because it reallocates as it empties and fills again [measured].
 */
export class ExchangeList<T extends Linked<T> = Exchange> {
  oldest: T | undefined = undefined
  newest: T | undefined = undefined

  add(exchange: T): void {
    const { newest } = this
    exchange.older = newest
    if (newest) newest.newer = exchange
    else this.oldest = exchange
    this.newest = exchange
  }

  has(exchange: T): boolean {
    return exchange.older !== undefined || this.oldest === exchange
  }

  remove(exchange: T): void {
    const { older, newer } = exchange
    if (older) older.newer = newer
    else this.oldest = newer
    if (newer) newer.older = older
    else this.newest = older
    exchange.older = undefined
    exchange.newer = undefined
  }

  *[Symbol.iterator](): Generator<T> {
    for (let exchange = this.oldest; exchange; exchange = exchange.newer) yield exchange
  }
}
