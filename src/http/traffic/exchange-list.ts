import type { Exchange } from './exchange.ts'

/**
 * Exchanges in the order in which they were added, linked through themselves: an exchange is in one
 * list at a time. A Set would do, but costs each request more than everything else here together,
 * because it reallocates as it empties and fills again [measured].
 */
export class ExchangeList {
  oldest: Exchange | undefined = undefined
  newest: Exchange | undefined = undefined

  add(exchange: Exchange): void {
    const { newest } = this
    exchange.older = newest
    if (newest) newest.newer = exchange
    else this.oldest = exchange
    this.newest = exchange
  }

  remove(exchange: Exchange): void {
    const { older, newer } = exchange
    if (older) older.newer = newer
    else this.oldest = newer
    if (newer) newer.older = older
    else this.newest = older
    exchange.older = undefined
    exchange.newer = undefined
  }

  *[Symbol.iterator](): Generator<Exchange> {
    for (let exchange = this.oldest; exchange; exchange = exchange.newer) yield exchange
  }
}
