import { didYouMean } from './did-you-mean.ts'
import { awaitHint, optionError, QuiesceError } from './errors.ts'
import { ownFields } from './own-fields.ts'
import { isFieldsOnly } from './records.ts'

/**
 * Refuses unknown fields, and what has none of its own: a misspelt one, or a promise of them, would
 * mean the default without a word.
 *
 * @param of whose options these are, for the message
 * @returns a copy of its own fields, which is what is to be read
 * @throws QuiesceError ERR_OPTION_INVALID
 */
export function checkFields<T extends object>(of: string, options: T, known: readonly string[]): T {
  if (!isFieldsOnly(options)) throw optionError(`options of ${of}`, options, `an object of ${known.join(', ')}${awaitHint(options)}`)
  const own = readable(`options of ${of}`, options)
  const field = Object.keys(own).find((name) => !known.includes(name))
  if (field === undefined) return own
  const allowed = `one of ${known.join(', ')}`
  throw new QuiesceError('ERR_OPTION_INVALID', `${field} of ${of}: unknown option${didYouMean(field, known) || `, allowed: ${allowed}`}`, {
    field: `${field} of ${of}`,
    given: (own as Readonly<Record<string, unknown>>)[field],
    allowed,
  })
}

/** @throws QuiesceError ERR_OPTION_INVALID for a getter, or a proxy, that throws when it is read */
function readable<T extends object>(field: string, options: T): T {
  try {
    return ownFields(options)
  } catch (thrown) {
    throw optionError(field, options, 'fields that can be read', thrown)
  }
}
