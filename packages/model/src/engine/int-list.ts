/** A growing list of integers, four bytes each: graphs have millions of edges. */
export class IntList {
  #items = new Int32Array(1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(item: number): void {
    if (this.#length === this.#items.length) {
      const items = new Int32Array(this.#items.length * 2)
      items.set(this.#items)
      this.#items = items
    }
    this.#items[this.#length++] = item
  }

  at(index: number): number {
    return this.#items[index] as number
  }
}
