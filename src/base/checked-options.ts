import { optionError } from './errors.ts'
import { checkFields } from './fields.ts'

/** What an option has to be: in words, and as a rule. */
export type OptionRule = readonly [allowed: string, accepts: (given: unknown) => boolean]

export const A_FUNCTION: OptionRule = ['a function', (given) => typeof given === 'function']
export const A_NUMBER: OptionRule = ['a number', (given) => typeof given === 'number' && Number.isFinite(given)]
export const A_COUNT: OptionRule = ['a number above 0', (given) => typeof given === 'number' && given > 0]
export const A_SWITCH: OptionRule = ['true or false', (given) => typeof given === 'boolean']
export const A_TEXT: OptionRule = ['a text', (given) => typeof given === 'string']
export const AN_OBJECT: OptionRule = ['an object', (given) => typeof given === 'object' && given !== null && !Array.isArray(given)]

export type RulesOf<T> = { readonly [Name in keyof T]-?: OptionRule }

/**
 * Refuses options that cannot be used, and names that there are not: a test would go on with
 * another world than the one that it asks for.
 * @param of whose options these are, for the message
 * @throws QuiesceError ERR_OPTION_INVALID
 */
export function checkOptions<T extends object>(of: string, options: T, rules: RulesOf<T>): void {
  checkFields(of, options, Object.keys(rules))
  checkGivenOptions(of, options, rules)
}

/** The same for those of the options that have a rule here; the others are of another table. */
export function checkGivenOptions<T extends object>(of: string, options: T, rules: Readonly<Record<string, OptionRule>>): void {
  const given = options as Readonly<Record<string, unknown>>
  for (const [name, [allowed, accepts]] of Object.entries(rules))
    if (given[name] !== undefined && !accepts(given[name])) throw optionError(`${name} of ${of}`, given[name], allowed)
}
