import { badRequest } from '../status-errors.ts'
import { type Fields, fieldOf, isFields, setField } from './api-object.ts'
import { mergePatch } from './merge-patch.ts'
import type { JsonSchema } from './resource/schema.ts'

/** The lists in the metadata of every object that are merged. */
const METADATA: JsonSchema = {
  properties: {
    finalizers: { 'x-kubernetes-list-type': 'set' },
    ownerReferences: { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['uid'] },
  },
}

const DIRECTIVE = '$patch'
const DELETE_PREFIX = '$deleteFromPrimitiveList/'
const ORDER_PREFIX = '$setElementOrder/'

/**
 * Applies a strategic merge patch, which clients send for the kinds that are compiled into them. It
 * is a merge patch, but for lists that are sets, or maps by a key: these are merged. Names with `$`
 * say what is taken out of a list, and its order. Nothing of either is changed.
 * @param schema of the object's own fields
 * @throws StatusError 400
 * @see kubernetes/apimachinery pkg/util/strategicpatch/patch.go StrategicMergeMapPatch
 */
export const strategicMergePatch = (target: Fields, patch: Fields, schema: JsonSchema): Fields =>
  mergeFields(target, patch, { properties: { ...schema.properties, metadata: METADATA } })

function mergeFields(target: Fields, patch: Fields, schema: JsonSchema | undefined): Fields {
  const directive = directiveOf(patch)
  if (directive === 'delete') return {}
  if (directive === 'replace') return withoutDirectives(patch) as Fields
  if (directive !== undefined) throw badRequest(`unknown patch type: ${String(directive)}`)
  const merged: Fields = {}
  for (const [name, value] of Object.entries(target)) setField(merged, name, value)
  for (const name of new Set(Object.keys(patch).map(nameOfField))) {
    const ofField = schema?.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    const value = mergeField(fieldOf(target, name), patch, name, ofField)
    if (value === undefined) delete merged[name]
    else setField(merged, name, value)
  }
  return merged
}

/** The field that a name in a patch is about. */
function nameOfField(name: string): string {
  if (!name.startsWith('$')) return name
  const prefix = [DELETE_PREFIX, ORDER_PREFIX].find((each) => name.startsWith(each))
  if (prefix === undefined) throw badRequest(`the directive ${name} is not supported`)
  return name.slice(prefix.length)
}

/** Undefined: it is taken away, or was not there. */
function mergeField(old: unknown, patch: Fields, name: string, schema: JsonSchema | undefined): unknown {
  const given = fieldOf(patch, name)
  if (given === null) return undefined
  const deleted = listIn(patch, `${DELETE_PREFIX}${name}`)
  const order = listIn(patch, `${ORDER_PREFIX}${name}`)
  if (!Array.isArray(old)) {
    if (given === undefined) return old
    if (isFields(old) && isFields(given)) return mergeFields(old, given, schema)
    return withoutDirectives(given)
  }
  if (given !== undefined && !Array.isArray(given)) return withoutDirectives(given)
  const kept = deleted === undefined ? old : without(old, deleted)
  const type = schema?.['x-kubernetes-list-type']
  if (type !== 'set' && type !== 'map') return given === undefined ? kept : withoutDirectives(given)
  const key = schema?.['x-kubernetes-list-map-keys']?.[0]
  const ids = new Ids(key, name)
  const merged = given === undefined ? kept : mergeLists(kept, given, ids, schema?.items)
  return inOrder(merged, order ?? given?.filter((each) => directiveOf(each) === undefined) ?? [], old, ids)
}

const directiveOf = (value: unknown): unknown => (isFields(value) ? fieldOf(value, DIRECTIVE) : undefined)

function listIn(patch: Fields, name: string): readonly unknown[] | undefined {
  const given = fieldOf(patch, name)
  if (given === undefined || Array.isArray(given)) return given
  throw badRequest(`${name} is not a list`)
}

function without(list: readonly unknown[], deleted: readonly unknown[]): readonly unknown[] {
  const gone = new Set(deleted)
  return list.filter((each) => !gone.has(each))
}

/** Identifies elements of a list: by the key field of the list if it has one, else by value. */
class Ids {
  readonly #key: string | undefined
  readonly #list: string

  constructor(key: string | undefined, list: string) {
    this.#key = key
    this.#list = list
  }

  of(element: unknown): unknown {
    if (this.#key === undefined) return element
    const id = isFields(element) ? fieldOf(element, this.#key) : undefined
    if (id === undefined) throw badRequest(`an element of ${this.#list} has no ${this.#key}, by which such lists are merged`)
    return id
  }

  /** The elements, each under what identifies it. */
  index(list: readonly unknown[]): Map<unknown, unknown> {
    return new Map(list.map((each) => [this.of(each), each]))
  }
}

function mergeLists(old: readonly unknown[], given: readonly unknown[], ids: Ids, schema: JsonSchema | undefined): readonly unknown[] {
  const isReplaced = given.some((each) => directiveOf(each) === 'replace')
  const merged = isReplaced ? new Map<unknown, unknown>() : ids.index(old)
  for (const each of given) {
    const directive = directiveOf(each)
    if (directive === 'replace') continue
    const id = ids.of(each)
    const known = merged.get(id)
    if (directive === 'delete') merged.delete(id)
    else merged.set(id, isFields(known) && isFields(each) ? mergeFields(known, each, schema) : withoutDirectives(each))
  }
  return [...merged.values()]
}

/**
 * The elements that a client has named in its order, and among them the others in theirs: those
 * that stood before a named one still do.
 * @see kubernetes/apimachinery pkg/util/strategicpatch/patch.go normalizeElementOrder
 */
function inOrder(list: readonly unknown[], order: readonly unknown[], old: readonly unknown[], ids: Ids): readonly unknown[] {
  const wanted = new Map([...ids.index(order).keys()].map((id, at) => [id, at]))
  const before = new Map([...ids.index(old).keys()].map((id, at) => [id, at]))
  const by =
    (places: ReadonlyMap<unknown, number>) =>
    (one: unknown, other: unknown): number =>
      (places.get(ids.of(one)) ?? places.size) - (places.get(ids.of(other)) ?? places.size)
  const named = list.filter((each) => wanted.has(ids.of(each))).sort(by(wanted))
  const others = list.filter((each) => !wanted.has(ids.of(each))).sort(by(before))
  const ordered: unknown[] = []
  let next = 0
  for (const each of named) {
    const at = before.get(ids.of(each)) ?? 0
    for (; next < others.length && (before.get(ids.of(others[next])) ?? at) < at; next++) ordered.push(others[next])
    ordered.push(each)
  }
  return [...ordered, ...others.slice(next)]
}

/** A value as it stands in an object, for which there is nothing to merge it with. */
function withoutDirectives(given: unknown): unknown {
  const isDeleted = (value: unknown): boolean => directiveOf(value) === 'delete'
  if (isDeleted(given)) return undefined
  if (Array.isArray(given)) return given.filter((each) => !isDeleted(each)).map(withoutDirectives)
  if (!isFields(given)) return given
  const kept = Object.entries(given).filter(([name, value]) => !name.startsWith('$') && value !== null && !isDeleted(value))
  return mergePatch(undefined, Object.fromEntries(kept.map(([name, value]) => [name, withoutDirectives(value)])))
}
