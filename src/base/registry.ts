import { stackOfCaller } from './call-site.ts'
import { checkName } from './checked.ts'
import { QuiesceError } from './errors.ts'

/**
 * Things registered under a name (hooks, destroy functions, phases, mux signals), in the order of
 * registration. A name is taken once; a second registration is refused with the place of the first;
 * after the registry is closed nothing is added.
 */
export class Registry<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly registered: Error }>()
  readonly #texts: RegistryTexts
  readonly #changed: () => void
  #closed = false

  constructor(texts: RegistryTexts, changed: () => void = () => {}) {
    this.#texts = texts
    this.#changed = changed
  }

  /**
   * Adds `value` under `name` and returns what takes it away again (a second dispose does nothing).
   * @throws QuiesceError ERR_NAME_MISSING, ERR_TOO_LATE or ERR_DUPLICATE, whose message names the
   * line of the first registration (`details.registeredAt` is the stack from that line on)
   */
  add(name: string, value: T): Disposable {
    checkName(this.#texts.of, name)
    if (this.#closed) throw new QuiesceError('ERR_TOO_LATE', this.#texts.tooLate(name), { name })
    const first = this.#entries.get(name)
    if (first) {
      const registeredAt = stackOfCaller(first.registered.stack)
      const [line = ''] = registeredAt.split('\n', 1)
      throw new QuiesceError('ERR_DUPLICATE', this.#texts.duplicate(name, line || 'an earlier call'), { name, registeredAt })
    }
    const entry = { value, registered: new Error('first registration') }
    this.#entries.set(name, entry)
    this.#changed()
    return {
      [Symbol.dispose]: () => {
        if (this.#closed || this.#entries.get(name) !== entry) return
        this.#entries.delete(name)
        this.#changed()
      },
    }
  }

  get(name: string): T | undefined {
    return this.#entries.get(name)?.value
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Names and values in the order of registration. */
  entries(): [string, T][] {
    return [...this.#entries].map(([name, { value }]) => [name, value])
  }

  /** Ends registration: nothing is added or removed from here on. */
  close(): void {
    this.#closed = true
  }
}

export interface RegistryTexts {
  /** What is registered here: `a pre-shutdown hook`. */
  readonly of: string
  tooLate(name: string): string
  /** @param line where the first registration is, as a line of a stack */
  duplicate(name: string, line: string): string
}
