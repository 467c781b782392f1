import type { IncomingMessage } from 'node:http'
import { firstHeader } from '../first-header.ts'

/** A form in which an object can be sent. */
export interface Representation {
  readonly type: string
  /** Which other form of the object it is, as clients ask for one: `g=GROUP;v=VERSION;as=KIND`. */
  readonly as?: string
  /** Whether there is a stream of it, which a client may name without asking for one. */
  readonly isStreamed?: boolean
}

export interface Negotiated<T> {
  readonly form: T
  /** Its client wants to read it. */
  readonly isForPeople: boolean
}

/**
 * What of the offered ones a client wants: that of the first clause of its `Accept`, by quality,
 * then by how much it says, then in its order, that names one. Without a header the first;
 * undefined when none will do. A clause that asks for another form of the object has no other.
 * @see kubernetes/apiserver pkg/endpoints/handlers/negotiation/negotiate.go
 */
export function negotiate<T extends Representation>(request: IncomingMessage, offered: readonly T[]): Negotiated<T> | undefined {
  const accept = firstHeader(request, 'accept')
  if (accept === '') return offered[0] && { form: offered[0], isForPeople: false }
  for (const clause of clausesOf(accept)) {
    const form = offered.find((one) => isNamed(one, clause) && isAllowed(one, clause.parameters))
    if (form) return { form, isForPeople: clause.parameters.get('pretty') === '1' }
  }
  return undefined
}

interface Clause {
  readonly type: string
  readonly subtype: string
  readonly quality: number
  readonly parameters: ReadonlyMap<string, string>
}

/** Upper case is another type, as upstream. */
const isNamed = ({ type }: Representation, clause: Clause): boolean =>
  (clause.type === '*' && clause.subtype === '*') ||
  type === `${clause.type}/${clause.subtype}` ||
  (clause.subtype === '*' && type.startsWith(`${clause.type}/`))

function isAllowed({ as, isStreamed = false }: Representation, parameters: Clause['parameters']): boolean {
  const [group, version, kind] = ['g', 'v', 'as'].map((name) => parameters.get(name))
  const asked = (group ?? version ?? kind) === undefined ? undefined : `g=${group ?? ''};v=${version ?? ''};as=${kind ?? ''}`
  const stream = parameters.get('stream')
  return asked === as && !parameters.has('sv') && (stream === undefined || (isStreamed && stream === 'watch'))
}

/** Go sorts so many by insertion. @see golang/go sort.Sort */
const INSERTED_MAX = 12

/**
 * What is wanted most first. The order is not one of all clauses, so that it depends on how they
 * are sorted: by insertion, as Go sorts a dozen. Of more than that, which no client sends in good
 * faith, it is any order, in a time that is not the square of their number.
 * @see munnerz/goautoneg ParseAccept
 */
function clausesOf(accept: string): readonly Clause[] {
  const clauses = accept.split(',').flatMap((clause) => clauseOf(clause) ?? [])
  if (clauses.length > INSERTED_MAX) return clauses.sort((a, b) => Number(isWantedMore(b, a)) - Number(isWantedMore(a, b)))
  for (let end = 1; end < clauses.length; end++)
    for (let at = end; at > 0 && isWantedMore(clauses[at] as Clause, clauses[at - 1] as Clause); at--)
      clauses.splice(at - 1, 2, clauses[at] as Clause, clauses[at - 1] as Clause)
  return clauses
}

const isWantedMore = (a: Clause, b: Clause): boolean =>
  a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')

/** What Go reads as a number; each digit can stand in one place only. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** Undefined for what is none, which is passed over. */
function clauseOf(text: string): Clause | undefined {
  const [range = '', ...given] = trimmed(text).split(';')
  const [type = '', subtype = '', ...more] = range.split('/').map(trimmed)
  if (more.join('/') !== '' || (subtype === '' && type !== '*')) return undefined
  const parameters = new Map<string, string>()
  let quality = 1
  for (const pair of given) {
    const [name = '', value = '', ...others] = pair.split('=')
    if (value === '' || others.join('=') !== '') continue
    if (trimmed(name) === 'q') quality = DECIMAL.test(value) ? Number(value) : 0
    else parameters.set(trimmed(name), trimmed(value))
  }
  return { type, subtype: subtype === '' ? '*' : subtype, quality, parameters }
}

/** Spaces alone. No regular expression: a run of spaces inside makes one quadratic. */
function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (text[start] === ' ') start++
  while (end > start && text[end - 1] === ' ') end--
  return text.slice(start, end)
}
