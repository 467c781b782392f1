/**
 * Gives each distinct thing one object with a number, so that comparing and storing it costs no
 * more than a number.
 */
export class Interner<T extends { readonly index: number }> {
  readonly all: T[] = []
  readonly #byKey = new Map<string, T>()

  get(key: string): T | undefined {
    return this.#byKey.get(key)
  }

  /** The thing of this key; made, with the next number, when it is new. */
  intern(key: string, make: (index: number) => T): T {
    let thing = this.#byKey.get(key)
    if (thing === undefined) {
      thing = make(this.all.length)
      this.#byKey.set(key, thing)
      this.all.push(thing)
    }
    return thing
  }

  at(index: number): T {
    return this.all[index] as T
  }
}
