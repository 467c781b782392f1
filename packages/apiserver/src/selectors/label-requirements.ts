import { goQuote } from '../engine.ts'
import { labelValueProblems, qualifiedNameProblems } from '../names.ts'
import { badRequest } from '../status-errors.ts'

type Operator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt'

/** One condition of a label selector. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: Operator
  readonly values: ReadonlySet<string>
}

/** What a client may ask for at a time: each object is held against all of it. */
const TEXT_MAX = 16 * 1024

const SPECIAL = new Set(['=', '!', '(', ')', ',', '>', '<'])
const OPERATORS = new Map<string, Operator>([
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['in', 'in'],
  ['notin', 'notin'],
  ['>', 'gt'],
  ['<', 'lt'],
])

/** Words, and runs of special characters that are one operator; spaces only part them. */
function tokensOf(text: string): readonly string[] {
  const tokens: string[] = []
  for (let at = 0; at < text.length; ) {
    const character = text[at] as string
    if (/\s/.test(character)) {
      at++
      continue
    }
    let end = at + 1
    if (SPECIAL.has(character)) {
      if ((character === '=' || character === '!') && text[end] === '=') end++
    } else while (end < text.length && !SPECIAL.has(text[end] as string) && !/\s/.test(text[end] as string)) end++
    tokens.push(text.slice(at, end))
    at = end
  }
  return tokens
}

const unreadable = (message: string) => badRequest(`unable to parse requirement: ${message}`)

/**
 * Reads a label selector: `app=a,tier in (x, y),!old,size>3`.
 * @throws StatusError 400 for one that cannot be read, with upstream's text
 * @see kubernetes/apimachinery pkg/labels/selector.go Parse
 */
export function labelRequirements(text: string): readonly LabelRequirement[] {
  if (text.length > TEXT_MAX) throw badRequest(`label selector is too long: ${text.length} characters, allowed: ${TEXT_MAX}`)
  const tokens = tokensOf(text)
  const requirements: LabelRequirement[] = []
  let at = 0
  const take = (): string => tokens[at++] ?? ''
  while (at < tokens.length) {
    requirements.push(requirementOf(take, () => tokens[at] ?? ''))
    const next = take()
    if (next === '') break
    if (next !== ',') throw badRequest(`found '${next}', expected: ',' or 'end of string'`)
    if (at === tokens.length) throw badRequest("found '', expected: identifier after ','")
  }
  return requirements
}

function requirementOf(take: () => string, next: () => string): LabelRequirement {
  const first = take()
  const isAbsent = first === '!'
  const key = isAbsent ? take() : first
  if (key === '' || SPECIAL.has(key[0] as string)) throw unreadable(`found '${key}', expected: identifier`)
  const [problem] = qualifiedNameProblems(key)
  if (problem !== undefined) throw unreadable(`key: Invalid value: ${goQuote(key)}: ${problem}`)
  if (isAbsent) return { key, operator: '!', values: new Set() }
  if (next() === '' || next() === ',') return { key, operator: 'exists', values: new Set() }
  const word = take()
  const operator = OPERATORS.get(word)
  if (operator === undefined) throw unreadable(`found '${word}', expected: in, notin, =, ==, !=, gt, lt`)
  const values = operator === 'in' || operator === 'notin' ? listOf(take) : [oneOf(take, next)]
  for (const value of values) {
    if ((operator === 'gt' || operator === 'lt') && !/^[+-]?\d{1,19}$/.test(value))
      throw unreadable(`values[0][${key}]: Invalid value: ${goQuote(value)}: for 'Gt', 'Lt' operators, the value must be an integer`)
    const [wrong] = labelValueProblems(value)
    if (wrong !== undefined) throw unreadable(`values[0][${key}]: Invalid value: ${goQuote(value)}: ${wrong}`)
  }
  return { key, operator, values: new Set(values) }
}

/** A value behind `=`; nothing is the empty one. */
function oneOf(take: () => string, next: () => string): string {
  if (next() === '' || next() === ',') return ''
  const value = take()
  if (SPECIAL.has(value[0] as string)) throw unreadable(`found '${value}', expected: identifier`)
  return value
}

function listOf(take: () => string): readonly string[] {
  const open = take()
  if (open !== '(') throw unreadable(`found '${open}', expected: '('`)
  const values: string[] = []
  for (let value = ''; ; ) {
    const token = take()
    if (token === ')' || token === ',') {
      values.push(value)
      value = ''
      if (token === ')') return values
    } else if (token === '' || SPECIAL.has(token[0] as string) || value !== '')
      throw unreadable(`found '${token}', expected: ',', or ')' or identifier`)
    else value = token
  }
}
