import { goQuote } from '../engine.ts'
import { fieldTerms } from '../selectors/field-terms.ts'
import { badRequest } from '../status-errors.ts'
import type { ApiObject } from './api-object.ts'

/** Says whether an object's fields are those that are asked for. */
export interface FieldMatch {
  readonly matches: (object: ApiObject) => boolean
  /** The one name that an object can have; undefined: any. */
  readonly name: string | undefined
  readonly isEmpty: boolean
}

const FIELDS = new Map<string, (object: ApiObject) => string>([
  ['metadata.name', ({ metadata }) => metadata.name],
  ['metadata.namespace', ({ metadata }) => metadata.namespace ?? ''],
])

/**
 * What a field selector selects.
 * @throws StatusError 400 for one that cannot be read, or is about a field that is not known
 */
export function fieldSelector(text: string, isNamespaced: boolean): FieldMatch {
  const known = [...FIELDS.keys()].filter((field) => isNamespaced || field !== 'metadata.namespace')
  const terms = fieldTerms(text)
  const stranger = terms.find(({ field }) => !known.includes(field))
  if (stranger !== undefined)
    throw badRequest(`${goQuote(stranger.field)} is not a known field selector: only ${known.map((field) => goQuote(field)).join(', ')}`)
  return {
    matches: (object) => terms.every(({ field, isEqual, value }) => ((FIELDS.get(field)?.(object) ?? '') === value) === isEqual),
    name: terms.find(({ field, isEqual }) => field === 'metadata.name' && isEqual)?.value,
    isEmpty: terms.length === 0,
  }
}
