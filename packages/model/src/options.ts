import { ModelError } from './errors.ts'
import { hint } from './near.ts'

/**
 * Refuses what is no object, and a field that nothing reads: of every object with options that a
 * function of this package takes.
 * @param fields all that there are, by name
 * @param label what the object is called in a message
 * @throws ModelError ERR_MODEL_OPTION
 */
export function assertFields(given: unknown, fields: Readonly<Record<string, true>>, label: string): asserts given is object {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new ModelError('ERR_MODEL_OPTION', `${label}: got ${shown(given)}, allowed: an object`)
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(fields, key))
  if (unknown === undefined) return
  const allowed = Object.keys(fields)
  throw new ModelError('ERR_MODEL_OPTION', `${label}.${unknown}: unknown${hint(unknown, allowed)}`, { field: unknown, allowed })
}

/** A value that was given, for a message. */
export const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : typeof value === 'object' ? (JSON.stringify(value) ?? 'nothing') : String(value)
