import { didYouMean } from './did-you-mean.ts'
import { optionError, QuiesceError } from './errors.ts'

/**
 * Refuses unknown fields: a misspelt one would mean the default without a word.
 *
 * @param of whose options these are, for the message
 * @throws QuiesceError ERR_OPTION_INVALID
 */
export function checkFields(of: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw optionError(`options of ${of}`, options, `an object of ${known.join(', ')}`)
  const field = Object.keys(options).find((name) => !known.includes(name))
  if (field === undefined) return
  const allowed = `one of ${known.join(', ')}`
  throw new QuiesceError('ERR_OPTION_INVALID', `${field} of ${of}: unknown option${didYouMean(field, known) || `, allowed: ${allowed}`}`, {
    field: `${field} of ${of}`,
    given: (options as Readonly<Record<string, unknown>>)[field],
    allowed,
  })
}
