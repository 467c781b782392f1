/**
 * What is made of an object, made once: properties ask for the same of a state, and of what a step
 * says, again and again.
 */
export function onceForEach<K extends object, T>(make: (key: K) => T): (key: K) => T {
  const known = new WeakMap<K, { readonly made: T }>()
  return (key) => {
    let entry = known.get(key)
    if (entry === undefined) {
      entry = { made: make(key) }
      known.set(key, entry)
    }
    return entry.made
  }
}
