/**
 * A map from pairs of small numbers; much faster than one from a large number or a text that stands
 * for both.
 */
export class PairMap<T> {
  readonly #rows: Map<number, T>[] = []

  get(row: number, column: number): T | undefined {
    return this.#rows[row]?.get(column)
  }

  set(row: number, column: number, value: T): void {
    const cells = this.#rows[row]
    if (cells) cells.set(column, value)
    else this.#rows[row] = new Map([[column, value]])
  }
}
