import type { StorageEvent } from './storage.ts'

/** A change of one key. */
export interface Change {
  readonly revision: number
  readonly key: string
  readonly event: StorageEvent
}

/** The last changes of one resource: as many as are kept, and at times twice that. */
export class History {
  readonly #max: number
  readonly #changes: Change[] = []
  #forgotten: number

  /** @param from the revision before which nothing is known */
  constructor(max: number, from: number) {
    this.#max = max
    this.#forgotten = from
  }

  /** Changes behind this revision are all here, and no others. */
  get from(): number {
    return this.#forgotten
  }

  add(change: Change): void {
    this.#changes.push(change)
    if (this.#changes.length <= 2 * this.#max) return
    const dropped = this.#changes.splice(0, this.#changes.length - this.#max)
    this.#forgotten = dropped.at(-1)?.revision ?? this.#forgotten
  }

  /** Older ones than are here, up to where these begin: they are known from `from` on. */
  precede(changes: readonly Change[], from: number): void {
    this.#changes.unshift(...changes)
    this.#forgotten = from
  }

  /** The changes behind a revision, oldest first. */
  after(revision: number): readonly Change[] {
    let low = 0
    for (let high = this.#changes.length; low < high; ) {
      const middle = (low + high) >> 1
      if ((this.#changes[middle] as Change).revision <= revision) low = middle + 1
      else high = middle
    }
    return this.#changes.slice(low)
  }
}
