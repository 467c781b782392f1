/**
 * Listeners on something that the whole process has once. They are installed with the first life
 * that listens and removed with the last, so that lives are independent of each other (V14), and a
 * process without one behaves as usual.
 */
export class SharedListeners<Source extends object, Args extends readonly unknown[]> {
  readonly #install: (source: Source, notify: (...args: Args) => void) => () => void
  readonly #bySource = new WeakMap<Source, { readonly listeners: Map<(...args: Args) => void, boolean>; readonly uninstall: () => void }>()

  /** @param install listens at `source`, and returns what takes that back */
  constructor(install: (source: Source, notify: (...args: Args) => void) => () => void) {
    this.#install = install
  }

  /**
   * Calls back until disposed; disposing twice does nothing.
   * @param isLast behind all that are not
   */
  listen(source: Source, listener: (...args: Args) => void, isLast = false): Disposable {
    const shared = this.#bySource.get(source) ?? this.#begin(source)
    shared.listeners.set(listener, isLast)
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
    const listeners = new Map<(...args: Args) => void, boolean>()
    const uninstall = this.#install(source, (...args) => {
      for (const [listener] of [...listeners].sort(([, a], [, b]) => Number(a) - Number(b))) listener(...args)
    })
    const shared = { listeners, uninstall }
    this.#bySource.set(source, shared)
    return shared
  }
}
