/** One for all of them, which may be more by then: disposes of each, in their order. */
export const disposedTogether = (all: readonly Disposable[]): Disposable => ({
  [Symbol.dispose]: () => {
    for (const one of all) one[Symbol.dispose]()
  },
})

/**
 * Makes one for each of `wanted`, or none: when one cannot be made, those before it are disposed
 * of, and what that threw is thrown on.
 */
export function allOrNone<T>(wanted: Iterable<T>, make: (one: T) => Disposable): Disposable {
  const made: Disposable[] = []
  const all = disposedTogether(made)
  try {
    for (const one of wanted) made.push(make(one))
    return all
  } catch (thrown) {
    all[Symbol.dispose]()
    throw thrown
  }
}
