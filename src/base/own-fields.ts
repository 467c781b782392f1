import { isPlain } from './records.ts'

/**
 * The own fields of an object, each read once, and those of plain objects in its lists. What a
 * prototype has is no field: no option comes from a polluted `Object.prototype`, and no getter
 * changes its mind after a check.
 */
export const ownFields = <T extends object>(given: T): T => {
  const own = Object.assign(Object.create(null) as Record<string, unknown>, given)
  for (const [name, field] of Object.entries<unknown>(own)) if (Array.isArray(field)) Object.assign(own, { [name]: field.map(ownItem) })
  return own
}

/** An item of a list: one with a class or functions of its own is no set of fields. */
const ownItem = (item: unknown): unknown => (isSetOfFields(item) ? ownFields(item) : item)

function isSetOfFields(item: unknown): item is object {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return false
  const doesNothing = Object.values(Object.getOwnPropertyDescriptors(item)).every(({ value }) => typeof value !== 'function')
  return isPlain(item) && doesNothing
}
