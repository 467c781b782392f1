import { goQuote } from '../engine.ts'
import { badRequest } from '../status-errors.ts'

/** One condition of a field selector. */
export interface FieldTerm {
  readonly field: string
  readonly isEqual: boolean
  readonly value: string
}

/** What a client may ask for at a time: each object is held against all of it. */
const TEXT_MAX = 16 * 1024

/**
 * Reads a field selector: `metadata.name=a,metadata.namespace!=b`.
 * @throws StatusError 400 for one that cannot be read
 * @see kubernetes/apimachinery pkg/fields/selector.go ParseSelector
 */
export function fieldTerms(text: string): readonly FieldTerm[] {
  if (text.length > TEXT_MAX) throw badRequest(`field selector is too long: ${text.length} characters, allowed: ${TEXT_MAX}`)
  return piecesOf(text, ',')
    .filter((term) => term !== '')
    .map((term) => termOf(term, text))
}

function termOf(term: string, text: string): FieldTerm {
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
