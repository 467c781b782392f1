/** What stands in a list, one at a time, and keeps its neighbours itself. */
interface Linked<T> {
  older: T | undefined
  newer: T | undefined
}

/**
 * Exchanges in the order in which they were added, linked through themselves in a ring, so that an
 * exchange is in one list at a time. A Set would do, but costs each request more than everything
 * else here together, because it reallocates as it empties and fills again; and a list is old when
 * its exchange is young, so that each reference that it has to one costs V8's collector something:
 * hence only one [measured].
 */
export class ExchangeList<T extends Linked<T>> {
  newest: T | undefined = undefined

  get oldest(): T | undefined {
    return this.newest?.newer
  }

  add(exchange: T): void {
    const { newest } = this
    if (newest) {
      const oldest = newest.newer as T
      exchange.older = newest
      exchange.newer = oldest
      newest.newer = exchange
      oldest.older = exchange
    } else {
      exchange.older = exchange
      exchange.newer = exchange
    }
    this.newest = exchange
  }

  has(exchange: T): boolean {
    return exchange.newer !== undefined
  }

  /** Removes an exchange; one that is in no list stays so. */
  remove(exchange: T): void {
    if (!this.has(exchange)) return
    const older = exchange.older as T
    const newer = exchange.newer as T
    if (older === exchange) this.newest = undefined
    else {
      older.newer = newer
      newer.older = older
      if (this.newest === exchange) this.newest = older
    }
    exchange.older = undefined
    exchange.newer = undefined
  }

  *[Symbol.iterator](): Generator<T> {
    for (let exchange = this.oldest; exchange; exchange = exchange === this.newest ? undefined : exchange.newer) yield exchange
  }
}
