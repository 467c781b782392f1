import { type ApiObject, type Fields, fieldOf, isFields, isSameJson, setField } from '../api-object.ts'
import { type FieldError, fieldErrors } from '../field-errors.ts'
import type { JsonSchema } from './schema.ts'

/** What was found out about a value on the way. */
export interface Findings {
  /** Paths of fields that the schema does not know; they are not kept. */
  readonly unknown: string[]
  readonly errors: FieldError[]
}

/**
 * Makes of a value the one that is kept, in one walk: fields that the schema does not know are
 * left out, defaults are filled in, and what is wrong is noted with the texts that custom resources
 * have upstream. The given value is not changed.
 * What is wrong with a value that takes the place of the same one is not noted: `before` is that,
 * and undefined where nothing was before.
 * @see kubernetes/apiextensions-apiserver pkg/apiserver/validation/validation.go, ratcheting.go
 */
export function walkSchema(schema: JsonSchema, value: unknown, path: string, findings: Findings, before?: unknown): unknown {
  const { errors } = findings
  const known = errors.length
  const kept = walkValue(schema, value, path, findings, before)
  if (errors.length > known && before !== undefined && isUnchanged(schema, kept, before))
    errors.splice(known, errors.length, ...errors.slice(known).filter(isRepetition))
  return kept
}

function walkValue(schema: JsonSchema, value: unknown, path: string, findings: Findings, before: unknown): unknown {
  if (schema.anyOf !== undefined || schema.oneOf !== undefined) return walkBranches(schema, value, path, findings)
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (value === null) {
    if (!allowsNull(schema)) wrongType(types.length === 0 ? ['integer', 'string'] : types, value, path, findings)
    return null
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (!Number.isSafeInteger(value) && typeof value !== 'string') wrongType(['integer', 'string'], value, path, findings)
  } else if (types.length > 0 && !types.some((type) => isOfType(type, value))) {
    wrongType(types, value, path, findings)
    return value
  }
  const kept = Array.isArray(value)
    ? walkItems(schema, value, path, findings, before)
    : isFields(value)
      ? walkFields(schema, value, path, findings, before)
      : value
  // What is left out does not count, and what is filled in does, as when it is read back.
  checkValue(schema, kept, path, findings)
  return kept
}

/** What every object has, whatever its schema says. */
export const TYPE_AND_METADATA: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata'])

/** All fields of an object but those that every object has. */
export function fieldsOfKind(object: Fields | ApiObject): Fields {
  const own: Fields = {}
  for (const [name, field] of Object.entries(object)) if (!TYPE_AND_METADATA.has(name)) setField(own, name, field)
  return own
}

/**
 * The same for an object's own fields: what every object has is not among them, and is not looked
 * for.
 */
export function walkOwnFields(schema: JsonSchema, own: Fields, findings: Findings, before?: Fields): Fields {
  const { required } = schema
  const isAsked = required?.some((name) => TYPE_AND_METADATA.has(name)) === true
  const asked = isAsked ? { ...schema, required: required.filter((name) => !TYPE_AND_METADATA.has(name)) } : schema
  return walkSchema(asked, own, '', findings, before) as Fields
}

/**
 * The part of an object that a write changes: `other` is all but the status. Of the rest, what is
 * sent is passed over, as it is not stored.
 */
export type WrittenPart = 'all' | 'status' | 'other'

/**
 * As {@link walkOwnFields}, for a write of a part: what is wrong with the rest is no error. What is
 * unknown is told of all.
 */
export function walkPart(schema: JsonSchema, own: Fields, part: WrittenPart, findings: Findings, before?: Fields): Fields {
  if (part === 'all' || schema.anyOf !== undefined || schema.oneOf !== undefined) return walkOwnFields(schema, own, findings, before)
  const aside: Findings = { unknown: findings.unknown, errors: [] }
  const { status, ...others } = own
  const required = (schema.required ?? []).filter((name) => name !== 'status')
  const { status: _, ...othersBefore } = before ?? {}
  const kept = walkOwnFields({ ...schema, required }, others, part === 'status' ? aside : findings, before && othersBefore)
  if (Object.hasOwn(own, 'status')) {
    delete kept['status']
    Object.assign(kept, walkFields(ofStatusAlone(schema), { status }, '', part === 'status' ? findings : aside, before))
  }
  return kept
}

function ofStatusAlone({ properties, additionalProperties, ...schema }: JsonSchema): JsonSchema {
  const status = properties?.['status']
  return {
    'x-kubernetes-preserve-unknown-fields': schema['x-kubernetes-preserve-unknown-fields'] === true,
    ...(properties !== undefined && { properties: status === undefined ? {} : { status } }),
    ...(additionalProperties !== undefined && { additionalProperties }),
  }
}

function walkFields(schema: JsonSchema, value: Fields, path: string, findings: Findings, before: unknown): Fields {
  const fieldsBefore = isFields(before) ? before : {}
  const { properties, additionalProperties, required = [] } = schema
  const keepsUnknown =
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    additionalProperties === true ||
    (properties === undefined && additionalProperties === undefined)
  const kept: Fields = {}
  for (const [name, given] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    const inner = schemaOf(schema, name)
    if (inner !== undefined) {
      if (!isLeftOut(inner, given)) setField(kept, name, walkSchema(inner, given, at, findings, fieldOf(fieldsBefore, name)))
    } else if (keepsUnknown) setField(kept, name, given)
    else findings.unknown.push(at)
  }
  for (const [name, property] of Object.entries(properties ?? {}))
    if (property.default !== undefined && !Object.hasOwn(kept, name))
      setField(kept, name, walkSchema(property, structuredClone(property.default), path === '' ? name : `${path}.${name}`, findings))
  for (const name of required)
    if (fieldOf(kept, name) === undefined) findings.errors.push(fieldErrors.required(path === '' ? name : `${path}.${name}`))
  return kept
}

/** What the schema says of a field; undefined: nothing. */
function schemaOf({ properties, additionalProperties }: JsonSchema, name: string): JsonSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name]
  return isFields(additionalProperties) ? (additionalProperties as JsonSchema) : undefined
}

/** Null is what is not there, for a field that cannot be null, and for one that has a default. */
const isLeftOut = (schema: JsonSchema, given: unknown): boolean =>
  given === null && schema.nullable !== true && (schema.default !== undefined || !allowsNull(schema))

function allowsNull({ nullable, type, anyOf, oneOf, ...schema }: JsonSchema): boolean {
  if (nullable === true) return true
  const branches = anyOf ?? oneOf
  if (branches !== undefined) return branches.some(allowsNull)
  if (schema['x-kubernetes-int-or-string'] === true) return false
  return type === undefined || [type].flat().includes('null')
}

function walkItems(schema: JsonSchema, value: readonly unknown[], path: string, findings: Findings, before: unknown): readonly unknown[] {
  const { items } = schema
  if (items === undefined) return value
  const itemBefore = itemsByKey(schema, before)
  return value.map((each, index) => walkSchema(items, each, `${path}[${index}]`, findings, itemBefore?.(each)))
}

/**
 * The first branch that fits decides what is kept, and the rest of the schema holds whichever that
 * is: a pattern beside an integer or a text is one for both.
 */
function walkBranches(schema: JsonSchema, value: unknown, path: string, findings: Findings): unknown {
  if (value === null && schema.nullable === true) return null
  const isOneOf = schema.anyOf === undefined
  const { [isOneOf ? 'oneOf' : 'anyOf']: branches = [], ...others } = schema
  const fitting: { readonly kept: unknown; readonly unknown: readonly string[] }[] = []
  for (const branch of branches) {
    const own: Findings = { unknown: [], errors: [] }
    const kept = walkSchema(branch, value, path, own)
    if (own.errors.length === 0) fitting.push({ kept, unknown: own.unknown })
    if (fitting.length > 0 && !isOneOf) break
  }
  const [first] = fitting
  if (first === undefined || (isOneOf && fitting.length > 1)) {
    const which = isOneOf ? 'one and only one schema (oneOf)' : 'at least one schema (anyOf)'
    findings.errors.push(fieldErrors.invalid(path, value, `${path} in body must validate ${which}`))
    return value
  }
  findings.unknown.push(...first.unknown)
  return walkSchema(others, first.kept, path, findings)
}

/**
 * The errors of a part of an object that takes the place of another one. Those of what is left as
 * it was are not among them, so that an object can still be changed that a new rule has made wrong.
 * Of lists, only maps are compared by item; and what lists repeat is no error where any list of the
 * object did before.
 * @see kubernetes/apiextensions-apiserver pkg/registry/customresource/strategy.go ValidateUpdate
 */
export function updateErrors(schema: JsonSchema, object: ApiObject, old: ApiObject, part: WrittenPart): readonly FieldError[] {
  const found: Findings = { unknown: [], errors: [] }
  const ofBefore: Findings = { unknown: [], errors: [] }
  // The defaults that the schema has now are no change.
  walkPart(schema, fieldsOfKind(object), part, found, walkOwnFields(schema, fieldsOfKind(old), ofBefore))
  return ofBefore.errors.some(isRepetition) ? found.errors.filter((error) => !isRepetition(error)) : found.errors
}

const isRepetition = ({ reason }: FieldError): boolean => reason === 'FieldValueDuplicate'

/** Whether it is the same value: of a list that is a map, whatever the order of its items. */
function isUnchanged(schema: JsonSchema, value: unknown, before: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(before)) {
    const { items = {} } = schema
    const itemBefore = itemsByKey(schema, before)
    if (itemBefore === undefined) return isSameJson(value, before)
    return value.length === before.length && value.every((each) => isUnchanged(items, each, itemBefore(each)))
  }
  if (!isFields(value) || !isFields(before)) return isSameJson(value, before)
  const names = Object.keys(value)
  return (
    names.length === Object.keys(before).length &&
    names.every((name) => Object.hasOwn(before, name) && isUnchanged(schemaOf(schema, name) ?? {}, value[name], before[name]))
  )
}

/**
 * How the items of a list that is a map are found by those that have the same key; undefined: it is
 * none.
 */
function itemsByKey(schema: JsonSchema, list: unknown): ((item: unknown) => unknown) | undefined {
  const names = schema['x-kubernetes-list-map-keys']
  if (names === undefined || !Array.isArray(list)) return undefined
  const keyOf = (item: unknown): string | undefined => {
    const key = names.map((name) => (isFields(item) ? fieldOf(item, name) : undefined))
    return key.every((each) => ['string', 'number', 'boolean'].includes(typeof each)) ? JSON.stringify(key) : undefined
  }
  // The first of those that have the same key.
  const byKey = new Map<unknown, unknown>(list.toReversed().map((item: unknown) => [keyOf(item), item]))
  byKey.delete(undefined)
  return (item) => byKey.get(keyOf(item))
}

/** A number without a fraction is an integer, as it is one in Go. */
function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isSafeInteger(value) ? 'integer' : typeof value
}

function isOfType(type: string, value: unknown): boolean {
  // Beyond that, a number is another one than was meant.
  if (type === 'integer') return Number.isSafeInteger(value)
  // What JSON has no word for would be stored as null.
  return type === 'number' ? Number.isFinite(value) : type === typeOf(value)
}

function wrongType(types: readonly string[], value: unknown, path: string, findings: Findings): void {
  const type = typeOf(value)
  findings.errors.push(fieldErrors.typeInvalid(path, type, `${path} in body must be of type ${types.join(',')}: "${type}"`))
}

function checkValue(schema: JsonSchema, value: unknown, path: string, { errors }: Findings): void {
  const invalid = (why: string, shown = value): void => void errors.push(fieldErrors.invalid(path, shown, `${path} in body ${why}`))
  const allowed = schema.const === undefined ? schema.enum : [schema.const]
  if (allowed !== undefined && !allowed.some((each) => isSameJson(each, value))) errors.push(fieldErrors.notSupported(path, value, allowed))
  if (typeof value === 'number') checkNumber(schema, value, invalid)
  else if (typeof value === 'string') {
    const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema
    const length = minLength > 0 || maxLength < value.length ? Array.from(value).length : value.length
    if (length < minLength) invalid(`should be at least ${minLength} chars long`)
    if (length > maxLength) errors.push(fieldErrors.tooLong(path, maxLength))
    if (pattern !== undefined && (value.length > MATCHED_MAX || !expression(pattern).test(value))) invalid(`should match '${pattern}'`)
  } else if (Array.isArray(value)) {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
    if (value.length < minItems) invalid(`should have at least ${minItems} items`, value.length)
    if (value.length > maxItems) errors.push(fieldErrors.tooMany(path, value.length, maxItems))
    if (schema.uniqueItems === true && repeated(value).length > 0) invalid("shouldn't contain duplicates")
    for (const [index, shown] of repeatedIn(schema, value)) errors.push(fieldErrors.duplicate(`${path}[${index}]`, shown))
  } else if (isFields(value)) {
    const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema
    const count = Object.keys(value).length
    if (count < minProperties) invalid(`should have at least ${minProperties} properties`, count)
    if (count > maxProperties) errors.push(fieldErrors.tooMany(path, count, maxProperties))
  }
}

/**
 * The places of a list that is a set, or a map by some fields of its items, where something stands
 * that stood before, and what that is.
 * @see kubernetes/apiextensions-apiserver pkg/apiserver/schema/listtype/validation.go
 */
function repeatedIn(schema: JsonSchema, value: readonly unknown[]): readonly (readonly [number, unknown])[] {
  const listType = schema['x-kubernetes-list-type']
  if (listType !== 'set' && listType !== 'map') return []
  const names = schema['x-kubernetes-list-map-keys'] ?? []
  const keyOf = (item: unknown): unknown => {
    const given = isFields(item) ? item : {}
    return Object.fromEntries(names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]))
  }
  const keys = listType === 'set' ? value : value.map(keyOf)
  return repeated(keys).map((index) => [index, keys[index]])
}

/** The second place of each value that a list has more than once. */
function repeated(values: readonly unknown[]): readonly number[] {
  const times = new Map<string, number>()
  const places: number[] = []
  for (const [index, value] of values.entries()) {
    const text = JSON.stringify(value, inOrder)
    const before = times.get(text) ?? 0
    times.set(text, before + 1)
    if (before === 1) places.push(index)
  }
  return places
}

/** The same object has the same text, in whichever order its fields were sent. */
const inOrder = (_name: string, value: unknown): unknown =>
  isFields(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value

function checkNumber(schema: JsonSchema, value: number, invalid: (why: string) => void): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum : exclusiveMinimum === true ? minimum : undefined
  const below = typeof exclusiveMaximum === 'number' ? exclusiveMaximum : exclusiveMaximum === true ? maximum : undefined
  if (above !== undefined && value <= above) invalid(`should be greater than ${above}`)
  else if (minimum !== undefined && value < minimum) invalid(`should be greater than or equal to ${minimum}`)
  if (below !== undefined && value >= below) invalid(`should be less than ${below}`)
  else if (maximum !== undefined && value > maximum) invalid(`should be less than or equal to ${maximum}`)
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) invalid(`should be a multiple of ${multipleOf}`)
}

/** How far from a whole number a quotient may be, which fractions seldom have exactly. */
const QUOTIENT_ERROR = 1e-9

/**
 * Whether it is so often the factor. 19.99 is 1999 times 0.01, though its quotient is less; of
 * integers nothing is left over.
 * @see kubernetes/kube-openapi pkg/validation/validate/values.go MultipleOf, MultipleOfInt
 */
function isMultiple(value: number, factor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(factor)) return value % factor === 0
  const times = value / factor
  const whole = Math.round(times)
  return times === whole || Math.abs(times - whole) < QUOTIENT_ERROR * Math.abs(whole)
}

/**
 * Characters that are held against a pattern, which may take a time that grows faster than they do;
 * a longer text does not match.
 */
const MATCHED_MAX = 4_096

/** The expressions of schemas, of which there are few. */
const EXPRESSIONS = new Map<string, RegExp>()

function expression(pattern: string): RegExp {
  const known = EXPRESSIONS.get(pattern) ?? new RegExp(pattern, 'u')
  EXPRESSIONS.set(pattern, known)
  return known
}
