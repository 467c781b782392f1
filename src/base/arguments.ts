import { awaitHint, optionError } from './errors.ts'
import { checkFields } from './fields.ts'
import { isFieldsOnly, isPromiseLike } from './records.ts'

const isFields = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given) && !isPromiseLike(given)

/** What an argument can be, in the words in which an error says it. */
const KINDS = {
  'a text': (given: unknown) => typeof given === 'string',
  'a number': (given: unknown) => typeof given === 'number',
  'a function': (given: unknown) => typeof given === 'function',
  'a list': Array.isArray,
  'an object': isFields,
  'an object of options': isFieldsOnly,
} as const

/** An object that needs more than that: the words of an error, and its fields. */
export interface Shape {
  readonly allowed: string
  readonly fields: readonly string[]
}

/** Options by name: there are no others. */
export interface OptionNames {
  readonly known: readonly string[]
}
type ArgumentKind = keyof typeof KINDS | Shape | OptionNames

/** What all that returns a life is called. */
export const LIFE_ALLOWED = 'what createServer(), attachLifecycle() or createLife() returned'

/** An object with fields, such as what another function has returned. */
export const withFields = (allowed: string, ...fields: readonly string[]): Shape => ({ allowed, fields })

/** An object of these options, any of which may be left out; a misspelt one is refused. */
export const withOptions = <T extends object>(...known: readonly (keyof T & string)[]): OptionNames => ({ known })

/**
 * Whether it is an object with these fields; a function with fields and an instance of a class are.
 */
const hasFields = (given: unknown, fields: readonly string[]): boolean =>
  ((typeof given === 'object' && given !== null) || typeof given === 'function') && fields.every((field) => field in given)

/**
 * Checks what an exported function was given, before anything reads it: without it the first wrong
 * argument is a TypeError from within, which says nothing about who has to change what.
 * @param call as it is written: the names of the error come from it. A name with `?` may be left
 * out, one with `...` is a list of such arguments
 * @param given each argument with what it has to be
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * const known = withOptions<MemoryEngineOptions>('history', 'revision')
 * checkArguments('memoryEngine(options?)', [options, known])
 */
export function checkArguments(call: string, ...given: readonly (readonly [value: unknown, kind: ArgumentKind])[]): void {
  given.forEach(([value, kind], at) => {
    // Names are read when something is wrong: some of what is checked is made per request.
    if (typeof kind === 'object' && 'known' in kind && isFieldsOnly(value)) checkFields(call, value, kind.known)
    else if (!isRight(value, kind)) complain(call, at, value, kind)
  })
}

function isRight(given: unknown, kind: ArgumentKind): boolean {
  if (typeof kind === 'string') return KINDS[kind](given)
  return 'known' in kind ? isFieldsOnly(given) : hasFields(given, kind.fields)
}

function complain(call: string, at: number, given: unknown, kind: ArgumentKind): void {
  const name = call.slice(call.indexOf('(') + 1, -1).split(', ')[at] ?? ''
  if (given === undefined && name.endsWith('?')) return
  const wrong = name.startsWith('...') ? (given as readonly unknown[]).filter((each) => !isRight(each, kind)) : [given]
  if (wrong.length === 0) return
  const allowed = typeof kind === 'string' ? kind : 'known' in kind ? `an object of ${kind.known.join(', ')}` : kind.allowed
  throw optionError(`${name.replace(/^\.{3}|\?$/, '')} of ${call}`, wrong[0], `${allowed}${awaitHint(wrong[0])}`)
}
