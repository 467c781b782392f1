import { goQuote } from '../../../../src/base/go-quote.ts'
import { badRequest } from '../status-errors.ts'
import type { ApiObject } from './api-object.ts'

/** Says whether an object's fields are those that are asked for. */
export interface FieldMatch {
  readonly matches: (object: ApiObject) => boolean
  /** The one name that an object can have; undefined: any. */
  readonly name: string | undefined
  readonly isEmpty: boolean
}

const TEXT_MAX = 16 * 1024

const FIELDS = new Map<string, (object: ApiObject) => string>([
  ['metadata.name', ({ metadata }) => metadata.name],
  ['metadata.namespace', ({ metadata }) => metadata.namespace ?? ''],
])

interface Term {
  readonly field: string
  readonly isEqual: boolean
  readonly value: string
}

/**
 * Reads a field selector: `metadata.name=a,metadata.namespace!=b`.
 * @throws StatusError 400 for one that cannot be read, or is about a field that is not known
 * @see kubernetes/apimachinery pkg/fields/selector.go ParseSelector
 */
export function fieldSelector(text: string, isNamespaced: boolean): FieldMatch {
  if (text.length > TEXT_MAX) throw badRequest(`field selector is too long: ${text.length} characters, allowed: ${TEXT_MAX}`)
  const known = [...FIELDS.keys()].filter((field) => isNamespaced || field !== 'metadata.namespace')
  const terms = piecesOf(text, ',')
    .filter((term) => term !== '')
    .map((term) => termOf(term, text))
  const stranger = terms.find(({ field }) => !known.includes(field))
  if (stranger !== undefined)
    throw badRequest(`${goQuote(stranger.field)} is not a known field selector: only ${known.map((field) => goQuote(field)).join(', ')}`)
  return {
    matches: (object) => terms.every(({ field, isEqual, value }) => ((FIELDS.get(field)?.(object) ?? '') === value) === isEqual),
    name: terms.find(({ field, isEqual }) => field === 'metadata.name' && isEqual)?.value,
    isEmpty: terms.length === 0,
  }
}

function termOf(term: string, text: string): Term {
  const at = piecesOf(term, '=')[0]?.length ?? 0
  if (at === term.length) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
  const isEqual = term[at - 1] !== '!'
  const value = term.slice(at + (isEqual && term[at + 1] === '=' ? 2 : 1))
  if (piecesOf(value, '=').length > 1) throw badRequest(`invalid field selector: unescaped character in ${goQuote(value)}`)
  return { field: term.slice(0, isEqual ? at : at - 1), isEqual, value: unescaped(value) }
}

/** Split where no backslash stands before; the backslashes stay. */
function piecesOf(text: string, separator: string): readonly string[] {
  const pieces: string[] = []
  let piece = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '\\') piece += character + (text[++at] ?? '')
    else if (character === separator) {
      pieces.push(piece)
      piece = ''
    } else piece += character
  }
  return [...pieces, piece]
}

function unescaped(text: string): string {
  let value = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character !== '\\') value += character
    else {
      const next = text[++at] ?? ''
      if (next !== '\\' && next !== ',' && next !== '=')
        throw badRequest(`invalid field selector: invalid escape sequence in ${goQuote(text)}`)
      value += next
    }
  }
  return value
}
