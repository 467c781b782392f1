import { badRequest, entityTooLarge, unprocessable } from '../status-errors.ts'
import { type Fields, isFields, isSameJson, setField } from './api-object.ts'

/** @see kubernetes/apiserver pkg/endpoints/handlers/patch.go maxJSONPatchOperations */
const OPERATIONS_MAX = 10_000
/** Characters of all that `copy` may add. */
const COPIED_MAX = 3 * 1024 * 1024

interface Operation {
  readonly op: string
  readonly path: readonly string[]
  readonly from: readonly string[]
  readonly value: unknown
}

/** The members of an operation. Upstream passes over others, and tells of them. */
const MEMBERS: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value'])
const NAMES: ReadonlySet<string> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test'])
const WITH_FROM: ReadonlySet<string> = new Set(['move', 'copy'])

/**
 * Reads a JSON patch.
 * @throws StatusError 400 for what is none, 413 for one with too many operations
 */
export function readJsonPatch(given: unknown): readonly Operation[] {
  if (given === null) return []
  if (!Array.isArray(given)) throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch')
  if (given.length > OPERATIONS_MAX)
    throw entityTooLarge(`The allowed maximum operations in a JSON patch is ${OPERATIONS_MAX}, got ${given.length}`)
  return given.map((each: unknown) => {
    if (!isFields(each)) throw badRequest('error decoding patch: an operation is no object')
    const { op, path, from } = each
    if (typeof op !== 'string' || !NAMES.has(op)) throw unprocessable()
    if (typeof path !== 'string' || (WITH_FROM.has(op) && typeof from !== 'string')) throw unprocessable()
    // As upstream, whose library finds no place for the whole document there.
    if (WITH_FROM.has(op) && (path === '' || from === '')) throw unprocessable()
    return { op, path: pointer(path), from: typeof from === 'string' ? pointer(from) : [], value: each['value'] ?? null }
  })
}

/** The paths of members that operations do not have: the first ones, at most `max`. */
export function unknownMembers(given: unknown, max: number): readonly string[] {
  const paths: string[] = []
  for (const [index, each] of [given].flat().entries())
    for (const name of Object.keys(isFields(each) ? each : {})) {
      if (paths.length === max) return paths
      if (!MEMBERS.has(name)) paths.push(`[${index}].${name}`)
    }
  return paths
}

/** Whether a path leads to a member that operations have, or into it: `[0].value.spec`. */
export const isOfMember = (path: string): boolean => MEMBERS.has(/^\[\d+\]\.([^.[]*)/.exec(path)?.[1] ?? '')

/** @see RFC 6901 */
function pointer(text: string): readonly string[] {
  if (text === '') return []
  if (!text.startsWith('/')) throw unprocessable()
  return text
    .slice(1)
    .split('/')
    .map((piece) => piece.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/**
 * Applies a JSON patch to a copy.
 * @throws StatusError 422 for an operation that cannot be done, a failed test included; 413 when
 * its copies become too large
 * @see RFC 6902
 */
export function jsonPatch(target: unknown, operations: readonly Operation[]): unknown {
  const root = { it: structuredClone(target) }
  let copied = 0
  for (const { op, path, from, value } of operations) {
    if (op === 'test') {
      if (!isSameJson(valueAt(root, path), value)) throw unprocessable()
    } else if (op === 'add') add(root, path, structuredClone(value))
    else if (op === 'remove') remove(root, path)
    else if (op === 'replace') replace(root, path, structuredClone(value))
    else if (op === 'copy') {
      const found = valueAt(root, from)
      copied += JSON.stringify(found).length
      if (copied > COPIED_MAX) throw entityTooLarge(`copies of the JSON patch are larger than ${COPIED_MAX}`)
      add(root, path, structuredClone(found))
    } else {
      const found = read(root, from)
      if (found === undefined) throw unprocessable()
      // Nothing can be moved into itself.
      if (path.length > from.length && from.every((piece, index) => path[index] === piece)) throw unprocessable()
      remove(root, from)
      add(root, path, found)
    }
  }
  return root.it
}

type Root = { it: unknown }

function read(root: Root, path: readonly string[]): unknown {
  let value = root.it
  for (const piece of path) value = inside(value, piece)
  return value
}

/** Undefined where there is nothing. */
function inside(value: unknown, piece: string): unknown {
  if (Array.isArray(value)) return value[indexOf(piece, value.length)] as unknown
  return isFields(value) && Object.hasOwn(value, piece) ? value[piece] : undefined
}

/** A place in a list of so many; a negative one is counted from its end, as upstream. */
function indexOf(piece: string, count: number): number {
  const given = /^[+-]?\d{1,9}$/.test(piece) ? Number(piece) : Number.NaN
  const index = given < 0 ? given + count : given
  if (!(index >= 0 && index < count)) throw unprocessable()
  return index
}

/** What is not there is null, as upstream, where there is something that it could be in. */
function valueAt(root: Root, path: readonly string[]): unknown {
  if (path.length === 0) return root.it
  const [of, last] = holder(root, path)
  return inside(of, last) ?? null
}

/** The list or object that a path ends in, and its last piece. */
function holder(root: Root, path: readonly string[]): readonly [unknown[] | Fields, string] {
  const of = read(root, path.slice(0, -1))
  if (!Array.isArray(of) && !isFields(of)) throw unprocessable()
  return [of, path.at(-1) as string]
}

function add(root: Root, path: readonly string[], value: unknown): void {
  if (path.length === 0) {
    root.it = value
    return
  }
  const [of, last] = holder(root, path)
  if (Array.isArray(of)) of.splice(last === '-' ? of.length : indexOf(last, of.length + 1), 0, value)
  else setField(of, last, value)
}

function remove(root: Root, path: readonly string[]): void {
  if (path.length === 0) throw unprocessable()
  const [of, last] = holder(root, path)
  if (Array.isArray(of)) of.splice(indexOf(last, of.length), 1)
  else if (Object.hasOwn(of, last)) delete of[last]
  else throw unprocessable()
}

/** A field that is not there is added, as upstream. */
function replace(root: Root, path: readonly string[], value: unknown): void {
  if (path.length === 0) {
    root.it = value
    return
  }
  const [of, last] = holder(root, path)
  if (Array.isArray(of)) of[indexOf(last, of.length)] = value
  else setField(of, last, value)
}
