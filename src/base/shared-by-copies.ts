/**
 * How these values are used among copies. One more when a copy could not work with what an older
 * one has made: then each has its own, as if it were alone.
 */
const FORM = 1

/**
 * The name of a symbol of the registry, by which every copy of this package finds what another one
 * has left on an object of the process: a tree of dependencies may have two, of two versions, or of
 * one as ES modules and as CommonJS.
 */
export const nameAmongCopies = (name: string): string => `quiesce.${name}@${FORM}`

/**
 * What there is once in a process, whichever copy of this package asks for it: the listeners at the
 * process, and who ends it. Two that know nothing of each other would end it under each other's
 * requests.
 */
export function sharedByCopies<T extends object>(name: string, make: () => T): T {
  const copies = globalThis as Record<symbol, unknown>
  const key = Symbol.for(nameAmongCopies(name))
  copies[key] ??= make()
  return copies[key] as T
}
