import { QuiesceError, show } from '../base/errors.ts'

/** The place of a step: beside which other one it stands. */
export interface StepPlace {
  readonly before?: string | undefined
  readonly after?: string | undefined
}

/** What stands at one place of a chain and beside it, each in its order. */
export interface PlacedAt<T> {
  readonly place: string
  readonly before: readonly T[]
  readonly at: readonly T[]
  readonly after: readonly T[]
}

/**
 * Puts all of a chain in order: what has no place of its own stands at the one of its name, the
 * others directly before or after another one. Of several that stand beside the same one, the first
 * given comes first.
 * @param what they are called in messages
 * @param places of the chain, in order
 * @throws QuiesceError ERR_DUPLICATE for a name of two, or of a place; ERR_UNKNOWN_REFERENCE for
 * one whose place leads to none of `places`
 */
export function placeAll<T extends { readonly name: string }>(
  what: string,
  places: readonly string[],
  all: readonly T[],
  placeOf: (one: T) => StepPlace | undefined,
): readonly PlacedAt<T>[] {
  const isTaken = (one: T, at: number): boolean =>
    all.findIndex(({ name }) => name === one.name) < at || (placeOf(one) !== undefined && places.includes(one.name))
  const twice = all.find(isTaken)
  if (twice) throw new QuiesceError('ERR_DUPLICATE', `${what}: ${show(twice.name)} is there already`, { name: twice.name })

  const beside = (side: keyof StepPlace, name: string): T[] =>
    all.filter((one) => placeOf(one)?.[side] === name).flatMap((one) => [...beside('before', one.name), one, ...beside('after', one.name)])
  const placed = places.map((place) => ({
    place,
    before: beside('before', place),
    at: all.filter(({ name }) => name === place),
    after: beside('after', place),
  }))

  const found = new Set(placed.flatMap(({ before, at, after }) => [...before, ...at, ...after]))
  const lost = all.find((one) => !found.has(one))
  if (!lost) return placed
  const { before, after } = placeOf(lost) ?? {}
  const allowed = new Set([...places, ...Array.from(found, ({ name }) => name)])
  throw new QuiesceError(
    'ERR_UNKNOWN_REFERENCE',
    `${what}: the place of ${show(lost.name)}: got ${show(before ?? after)}, allowed: ${[...allowed].join(', ')}`,
    { name: lost.name },
  )
}
