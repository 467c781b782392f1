/**
 * Shadows a method of the object; the result restores it, unless it has been shadowed again since.
 */
export function override<T extends object, Name extends keyof T>(target: T, name: Name, method: T[Name]): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name)
  target[name] = method
  return () => {
    if (target[name] !== method) return
    if (before) Object.defineProperty(target, name, before)
    else delete (target as Partial<T>)[name]
  }
}
