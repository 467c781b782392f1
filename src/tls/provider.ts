import type { Sourced } from './pair.ts'

/** What a provider is made of. */
export interface Loading<T> {
  readonly what: 'pair' | 'client CA'
  /** How messages call it: its file, or its option. */
  readonly from: string
  /** What is watched; empty for what was given as text. */
  readonly files: readonly string[]
  /** @throws QuiesceError ERR_TLS */
  read(): Promise<readonly Sourced[]>
  /** @throws QuiesceError ERR_TLS */
  check(texts: readonly Sourced[]): T
}

/** A pair or a bundle that may change: the last one that could be used is kept. */
export class Provider<T> {
  readonly what: Loading<T>['what']
  readonly from: string
  readonly files: readonly string[]
  readonly #loading: Loading<T>
  #texts: readonly Sourced[] | undefined
  #current: T | undefined
  #loads = 0
  #failures = 0

  constructor(loading: Loading<T>) {
    this.#loading = loading
    this.what = loading.what
    this.from = loading.from
    this.files = loading.files
  }

  /** Undefined before the first that could be used. */
  get current(): T | undefined {
    return this.#current
  }

  /** How often there was another one that could be used, the first included. */
  get loads(): number {
    return this.#loads
  }

  /** How often what was read could not be used. */
  get failures(): number {
    return this.#failures
  }

  /**
   * Reads it again, and says whether it is another one. Rejected, what there was stays.
   * @throws QuiesceError ERR_TLS for what cannot be used
   */
  async refresh(): Promise<boolean> {
    try {
      const texts = await this.#loading.read()
      if (this.#texts?.every(({ text }, index) => text === texts[index]?.text)) return false
      this.#current = this.#loading.check(texts)
      this.#texts = texts
      this.#loads++
      return true
    } catch (thrown) {
      this.#failures++
      throw thrown
    }
  }
}
