/** Puts a method of the object's own in front of the one it has; the result takes it away, unless somebody has put another in front of it. */
export function override<T extends object, Name extends keyof T>(target: T, name: Name, method: T[Name]): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name)
  target[name] = method
  return () => {
    if (target[name] !== method) return
    if (before) Object.defineProperty(target, name, before)
    else delete (target as Partial<T>)[name]
  }
}
