/**
 * Listeners on something that the whole process has once. They are installed with the first life
 * that listens and removed with the last, so that lives are independent of each other (V14), and a
 * process without one behaves as usual.
 */
export class SharedListeners<Source extends object, Args extends readonly unknown[]> {
  readonly #install: (source: Source, notify: (...args: Args) => void) => () => void
  readonly #bySource = new WeakMap<Source, { readonly listeners: Set<(...args: Args) => void>; readonly uninstall: () => void }>()

  /** @param install listens at `source`, and returns what takes that back */
  constructor(install: (source: Source, notify: (...args: Args) => void) => () => void) {
    this.#install = install
  }

  /** Calls back until disposed; disposing twice does nothing. */
  listen(source: Source, listener: (...args: Args) => void): Disposable {
    const shared = this.#bySource.get(source) ?? this.#begin(source)
    shared.listeners.add(listener)
    return {
      [Symbol.dispose]: () => {
        if (!shared.listeners.delete(listener) || shared.listeners.size > 0) return
        shared.uninstall()
        this.#bySource.delete(source)
      },
    }
  }

  /** Whether the one listener of all of them is installed. */
  isListening(source: Source): boolean {
    return this.#bySource.has(source)
  }

  #begin(source: Source) {
    const listeners = new Set<(...args: Args) => void>()
    const uninstall = this.#install(source, (...args) => {
      for (const listener of [...listeners]) listener(...args)
    })
    const shared = { listeners, uninstall }
    this.#bySource.set(source, shared)
    return shared
  }
}
