/** Whether it looks like a promise; false for what cannot be read. */
export function isPromiseLike(given: unknown): boolean {
  try {
    return typeof (given as PromiseLike<unknown> | null | undefined)?.then === 'function'
  } catch {
    return false
  }
}

/**
 * Whether nothing but the prototype of plain objects stands behind it, or none; that of any realm,
 * as those that test runners and `node:vm` make have one each.
 */
export function isPlain(given: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(given)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Whether it can be a set of options: only own fields are read, so that a promise, whose `await`
 * was forgotten, a Map, or an object whose fields are getters of its class would mean the defaults
 * without a word. Never throws: what cannot be read is none.
 */
export function isFieldsOnly(given: unknown): given is Readonly<Record<string, unknown>> {
  try {
    if (typeof given !== 'object' || given === null || Array.isArray(given) || isPromiseLike(given)) return false
    return isPlain(given) || Object.keys(given).length > 0
  } catch {
    return false
  }
}
