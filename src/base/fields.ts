import { didYouMean } from './did-you-mean.ts'
import { optionError, QuiesceError } from './errors.ts'
import { ownFields } from './own-fields.ts'

/**
 * Refuses unknown fields: a misspelt one would mean the default without a word.
 *
 * @param of whose options these are, for the message
 * @returns a copy of its own fields, which is what is to be read
 * @throws QuiesceError ERR_OPTION_INVALID
 */
export function checkFields<T extends object>(of: string, options: T, known: readonly string[]): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw optionError(`options of ${of}`, options, `an object of ${known.join(', ')}`)
  const field = Object.keys(options).find((name) => !known.includes(name))
  if (field === undefined) return ownFields(options)
  const allowed = `one of ${known.join(', ')}`
  throw new QuiesceError('ERR_OPTION_INVALID', `${field} of ${of}: unknown option${didYouMean(field, known) || `, allowed: ${allowed}`}`, {
    field: `${field} of ${of}`,
    given: (options as Readonly<Record<string, unknown>>)[field],
    allowed,
  })
}
