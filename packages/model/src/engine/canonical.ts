import { isToken } from './actor-scope.ts'
import { remembered } from './memo.ts'
import { unsupported } from './unsupported.ts'

/**
 * Plain data as text: equal values give equal texts, whatever the order of their keys. States are
 * told apart by it, so everything that could carry hidden state (class instances, actor references,
 * symbols) is refused.
 *
 * Texts of objects are remembered by identity: contexts and events are immutable, and most of a
 * context is the same object in every state.
 */
export function canonical(value: unknown, where: string): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'bigint':
      return `${value}n`
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value)
    case 'boolean':
    case 'undefined':
      return String(value)
    case 'function':
      return `f${functionNumber(value)}`
    case 'symbol':
      throw unsupported(where, 'a symbol', 'store plain data instead')
    default:
      return value === null ? 'null' : remembered(texts, value as object, () => knownOf(value as object, where)).text
  }
}

interface Known {
  readonly text: string
  readonly fields: OwnFields | undefined
}

let texts = new WeakMap<object, Known>()

/** The objects whose texts are being made, each inside of the one before. */
const open = new Set<object>()

function knownOf(value: object, where: string): Known {
  if (open.has(value)) throw unsupported(where, 'an object that contains itself', 'store the id of what it refers to instead')
  const isOutermost = open.size === 0
  open.add(value)
  try {
    // Errors and dates have state that is no field.
    return { text: textOf(value, where), fields: value instanceof Error || value instanceof Date ? undefined : fieldsOf(value) }
  } catch (thrown) {
    if (isOutermost && thrown instanceof RangeError) throw unsupported(where, 'an object as deep as this', 'store flat data instead')
    throw thrown
  } finally {
    // Where the stack has run out, those inside have not come to this.
    if (isOutermost) open.clear()
    else open.delete(value)
  }
}

/** What an object or a list consists of. Comparing it costs a tenth of making a text again. */
export interface OwnFields {
  readonly keys: readonly string[]
  readonly values: readonly unknown[]
}

export const fieldsOf = (value: object): OwnFields => ({ keys: Object.keys(value), values: Object.values(value) })

/** Whether an object has the fields that it had, each of them untouched, as deep as it goes. */
export function hasFields(value: Readonly<Record<string, unknown>>, { keys, values }: OwnFields): boolean {
  const now = Object.keys(value)
  return now.length === keys.length && now.every((key, i) => key === keys[i] && isUntouched(value[key], values[i]))
}

function isUntouched(now: unknown, before: unknown): boolean {
  if (!Object.is(now, before)) return false
  if (typeof now !== 'object' || now === null) return true
  const fields = texts.get(now)?.fields
  return fields !== undefined && hasFields(now as Readonly<Record<string, unknown>>, fields)
}

/**
 * What was remembered of objects counts no longer: between two explorations they are the user's.
 */
export const forgetTexts = (): void => {
  texts = new WeakMap()
}

/** Where plain data is not what it was when its text was remembered, as deep inside as possible. */
export function changeIn(
  value: unknown,
  path: string,
): { readonly path: string; readonly before: string; readonly after: string } | undefined {
  if (typeof value !== 'object' || value === null || isUntouched(value, value)) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const found = changeIn(inner, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`)
    if (found) return found
  }
  const before = texts.get(value)?.text
  if (before === undefined) return undefined
  const after = textOf(value, path)
  return after === before ? undefined : { path, before, after }
}

function textOf(value: object, where: string): string {
  if (Array.isArray(value)) return `[${value.map((item, i) => canonical(item, `${where}[${i}]`)).join()}]`
  if (value instanceof Error) return `!${textOfFields({ ...value, name: value.name, message: value.message }, where)}`
  if (value instanceof Date) return `@${value.getTime()}`
  if (isToken(value)) throw unsupported(where, 'an actor reference', 'store the id of the child instead')
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return textOfFields(value, where)
  if ('sessionId' in value && 'send' in value) throw unsupported(where, 'an actor reference', 'store the id of the child instead')
  const name = (value as { constructor?: { name?: string } }).constructor?.name ?? 'object'
  throw unsupported(where, `an instance of ${name}`, 'store plain data instead')
}

const textOfFields = (value: object, where: string): string =>
  `{${Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonical(field, `${where}.${key}`)}`)
    .join()}}`

/** Functions have no state that could be seen: each is itself. */
const functions = new WeakMap<object, number>()
let functionsSeen = 0

const functionNumber = (fn: object): number => remembered(functions, fn, () => functionsSeen++)
