import { QuiesceError, show } from './errors.ts'

/**
 * Things registered under a name (hooks, destroy functions, phases, mux signals), in the order of
 * registration. A name is taken once; a second registration is refused with the place of the first;
 * after the registry is closed nothing is added.
 */
export class Registry<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly registeredAt: string }>()
  readonly #texts: RegistryTexts
  readonly #changed: () => void
  #closed = false

  constructor(texts: RegistryTexts, changed: () => void = () => {}) {
    this.#texts = texts
    this.#changed = changed
  }

  /**
   * Adds `value` under `name` and returns what takes it away again (a second dispose does nothing).
   * @throws QuiesceError ERR_NAME_MISSING, ERR_TOO_LATE or ERR_DUPLICATE (`details.registeredAt` is
   * the stack of the first registration)
   */
  add(name: string, value: T): Disposable {
    checkName(name)
    if (this.#closed) throw new QuiesceError('ERR_TOO_LATE', this.#texts.tooLate(name), { name })
    const first = this.#entries.get(name)
    if (first)
      throw new QuiesceError('ERR_DUPLICATE', this.#texts.duplicate(name, first.registeredAt), { name, registeredAt: first.registeredAt })
    const entry = { value, registeredAt: new Error('first registration').stack ?? '' }
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

  /** From here on nothing is added or removed. */
  close(): void {
    this.#closed = true
  }
}

export interface RegistryTexts {
  tooLate(name: string): string
  duplicate(name: string, registeredAt: string): string
}

/** Longest name that is accepted; names appear in logs, paths and pictures. */
const NAME_LENGTH_MAX = 200

/**
 * @throws QuiesceError ERR_NAME_MISSING for what cannot stand in logs, paths and pictures as a name
 */
export function checkName(name: unknown): asserts name is string {
  if (typeof name === 'string' && name.trim() === '') throw new QuiesceError('ERR_NAME_MISSING', 'missing name', { name })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (typeof name !== 'string' || name.length > NAME_LENGTH_MAX || /[\u0000-\u001f\u007f]/.test(name)) {
    throw new QuiesceError(
      'ERR_NAME_MISSING',
      `name: got ${show(name)}, allowed: text of 1 to ${NAME_LENGTH_MAX} characters without control characters`,
      { name },
    )
  }
}
