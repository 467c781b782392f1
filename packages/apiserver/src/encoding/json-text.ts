import { BODY_DEPTH_MAX } from './body-depth.ts'
import { isExact } from './exact-number.ts'

/** What the text of a JSON value says that the value itself does not. */
export interface JsonText {
  readonly isTooDeep: boolean
  /** Paths of fields that stand in their object twice: `spec.size`. */
  readonly duplicates: readonly string[]
  /** The first number that would be changed by being kept; undefined: there is none. */
  readonly inexact: string | undefined
}

/** Shorter integers are all kept as they are. */
const EXACT_DIGITS = 15

/**
 * Looks at a text that has been parsed as JSON: once through, without another parser's errors.
 * Duplicates are collected as far as they can be shown.
 */
export function lookAtJson(text: string, duplicatesMax: number): JsonText {
  const duplicates: string[] = []
  let inexact: string | undefined
  /** The open objects, each with its names and the one that is being read; null for a list. */
  const open: ({ readonly names: Set<string>; name: string } | { index: number })[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      const innermost = open.at(-1)
      if (innermost !== undefined && 'names' in innermost && isName(text, end)) {
        const name = JSON.parse(text.slice(at, end)) as string
        innermost.name = name
        if (innermost.names.has(name) && duplicates.length < duplicatesMax) duplicates.push(pathOf(open))
        innermost.names.add(name)
      }
      at = end - 1
    } else if (character === '{') open.push({ names: new Set(), name: '' })
    else if (character === '[') open.push({ index: 0 })
    else if (character === '}' || character === ']') open.pop()
    else if (character === ',') {
      const innermost = open.at(-1)
      if (innermost !== undefined && 'index' in innermost) innermost.index++
    } else if (character === '-' || isDigit(character)) {
      const end = endOfNumber(text, at)
      if (inexact === undefined && !isExactAt(text, at, end)) inexact = text.slice(at, end)
      at = end - 1
    }
    if (open.length > BODY_DEPTH_MAX) return { isTooDeep: true, duplicates, inexact }
  }
  return { isTooDeep: false, duplicates, inexact }
}

/** The place behind the closing quote. */
function endOfString(text: string, from: number): number {
  let at = from + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

const isDigit = (character: string | undefined): boolean => character !== undefined && character >= '0' && character <= '9'

/** The place behind a number. */
function endOfNumber(text: string, from: number): number {
  let at = from + 1
  while (isDigit(text[at]) || '.eE+-'.includes(text[at] ?? ' ')) at++
  return at
}

/** Most numbers are short, and need not be looked at. */
function isExactAt(text: string, from: number, end: number): boolean {
  let isPlain = end - from <= EXACT_DIGITS
  for (let at = from; isPlain && at < end; at++) isPlain = text[at] !== 'e' && text[at] !== 'E'
  return isPlain || isExact(text.slice(from, end))
}

function isName(text: string, from: number): boolean {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
}

const pathOf = (open: readonly ({ readonly name: string } | { readonly index: number })[]): string =>
  open.reduce((path, each) => ('index' in each ? `${path}[${each.index}]` : path === '' ? each.name : `${path}.${each.name}`), '')

/** What Go's parser says of a text that is no JSON, as near as node's error lets it be said. */
export function goJsonError(text: string, thrown: unknown): string {
  const { message = '' } = thrown as { readonly message?: string }
  const [, place] = /at position (\d+)/.exec(message) ?? []
  const character = place === undefined ? undefined : text[Number(place)]
  if (text === '' || character === undefined) return 'unexpected end of JSON input'
  return `invalid character '${character}' looking for beginning of value`
}
