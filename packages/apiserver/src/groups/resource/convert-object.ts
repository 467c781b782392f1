import { toError } from '../../engine.ts'
import { type ApiObject, type Fields, isFields, isSameJson, type ObjectMeta, setField } from '../api-object.ts'
import { type FieldError, invalidObject } from '../field-errors.ts'
import { metaErrors, orderedMeta } from '../object-meta.ts'
import type { Resource } from './define-resource.ts'
import { type Findings, updateErrors, walkOwnFields } from './schema-walk.ts'

/**
 * The reason why an object is converted. What is stored has to be all that its version allows: what
 * it does not know would be lost. What is only read is served as well as it can be.
 */
export type ConversionPurpose = 'read' | 'store'

/** The object whose place another one takes, in a version; undefined: there is none. */
type FormBefore = (version: Resource) => ApiObject | undefined

/**
 * A conversion has failed, which is the fault of those who wrote it, or of what is stored. Nothing
 * has been written.
 */
export class ConversionError extends Error {
  constructor(object: ApiObject, to: Resource, why: string, cause?: unknown) {
    const { kind, apiVersion, metadata } = object
    const { namespace, name } = metadata
    const which = namespace === undefined ? name : `${namespace}/${name}`
    super(`conversion of ${apiVersion}, Kind=${kind} ${JSON.stringify(which)} to ${to.apiVersion} failed: ${why}`, { cause })
    this.name = 'ConversionError'
  }
}

/**
 * An object as another version of its kind has it: by way of the hub. One that is of that version
 * is returned as it is. What is wrong with it is no error where it was so `before`, in the object
 * whose place it takes.
 * @throws ConversionError; StatusError 422 for a value that the version to be stored does not allow
 * @see kubernetes/apiextensions-apiserver pkg/apiserver/conversion/webhook_converter.go
 */
export function convertObject(
  object: ApiObject,
  to: Resource,
  purpose: ConversionPurpose,
  before: FormBefore = () => undefined,
): ApiObject {
  if (object.apiVersion === to.apiVersion) return object
  const from = Object.values(to.versions).find(({ apiVersion }) => apiVersion === object.apiVersion)
  if (from === undefined) throw new ConversionError(object, to, `it is of none of the versions ${Object.keys(to.versions).join(', ')}`)
  const hub = to.versions[to.hub] as Resource
  const asHub = from.convert === undefined ? object : step(object, hub, from.convert.toHub, purpose, before)
  return to.convert === undefined ? asHub : step(asHub, to, to.convert.fromHub, purpose, before)
}

function step(
  object: ApiObject,
  to: Resource,
  convert: (object: ApiObject) => unknown,
  purpose: ConversionPurpose,
  before: FormBefore,
): ApiObject {
  const fail = (why: string, cause?: unknown) => new ConversionError(object, to, why, cause)
  let made: Fields
  try {
    made = fieldsOf(convert(structuredClone(object) as ApiObject))
  } catch (thrown) {
    throw fail(toError(thrown).message, thrown)
  }
  const { kind: _, apiVersion: _version, metadata: given, ...own } = made
  const { metadata, problem } = metadataOf(object.metadata, given, to)
  if (problem !== undefined) throw fail(problem)
  const findings: Findings = { unknown: [], errors: [] }
  const kept = walkOwnFields(to.schema, own, findings)
  const converted = { kind: to.kind, apiVersion: to.apiVersion, metadata, ...kept }
  const old = findings.errors.length === 0 ? undefined : before(to)
  const errors = old === undefined ? findings.errors : updateErrors(to.schema, converted, old, 'all')
  const rubbish = rubbishIn(findings.unknown, errors, purpose)
  if (rubbish !== undefined) throw fail(rubbish)
  if (purpose === 'store' && errors.length > 0) throw invalidObject({ group: to.group, kind: to.kind, name: metadata.name }, errors)
  return converted
}

/** What no version can be that was converted as it should be: another type, or a part of it. */
function rubbishIn(unknown: readonly string[], errors: readonly FieldError[], purpose: ConversionPurpose): string | undefined {
  const isRubbish = ({ reason }: FieldError): boolean =>
    reason === 'FieldValueTypeInvalid' || (purpose === 'store' && reason === 'FieldValueRequired')
  const wrong = errors.find(isRubbish)
  if (wrong !== undefined) return `${wrong.field}: ${wrong.message}`
  return purpose === 'store' && unknown.length > 0 ? `${unknown[0]}: the version has no such field, and it would be lost` : undefined
}

interface ConvertedMeta {
  readonly metadata: ObjectMeta
  readonly problem: string | undefined
}

/** The metadata as it was, with other labels and annotations. */
function metadataOf(metadata: ObjectMeta, given: unknown, { isNamespaced }: Resource): ConvertedMeta {
  if (given === undefined) return { metadata, problem: undefined }
  const wrong = (problem: string): ConvertedMeta => ({ metadata, problem })
  if (!isFields(given)) return wrong('metadata is no object')
  for (const name of ['name', 'namespace', 'uid'] as const)
    if (given[name] !== undefined && given[name] !== metadata[name])
      return wrong(`must have the same ${name}: ${metadata[name] ?? ''} != ${String(given[name])}`)
  const { labels: _, annotations: _annotations, ...rest } = metadata
  const changed: ObjectMeta = rest
  for (const name of ['labels', 'annotations'] as const) {
    const texts = given[name] ?? {}
    if (!isFields(texts) || !Object.values(texts).every((text) => typeof text === 'string'))
      return wrong(`metadata.${name} are no texts by name`)
    if (Object.keys(texts).length > 0) changed[name] = texts as Record<string, string>
  }
  if (isSameJson(changed, metadata)) return { metadata, problem: undefined }
  const error = metaErrors(changed, isNamespaced).find(({ field }) => /^metadata\.(?:labels|annotations)/.test(field))
  return error === undefined ? { metadata: orderedMeta(changed), problem: undefined } : wrong(`${error.field}: ${error.message}`)
}

/** A copy of what a conversion has returned, which may go on to use it. */
function fieldsOf(returned: unknown): Fields {
  if (!isFields(returned)) throw new Error(`it returned no object, but ${returned === null ? 'null' : typeof returned}`)
  if (typeof returned['then'] === 'function') {
    // A promise that rejects, and that no code waits for, would end the process.
    Promise.resolve(returned).catch(() => {})
    throw new Error('it returned a promise: a conversion takes no time')
  }
  return jsonCopy(returned, '') as Fields
}

function jsonCopy(value: unknown, path: string): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value
  if (Array.isArray(value)) return value.map((each, index) => jsonCopy(each, `${path}[${index}]`))
  if (!isFields(value) || !PLAIN.has(Object.getPrototypeOf(value))) throw new Error(`${path === '' ? 'what it returned' : path} is no JSON`)
  const copy: Fields = {}
  for (const [name, each] of Object.entries(value))
    if (each !== undefined) setField(copy, name, jsonCopy(each, path === '' ? name : `${path}.${name}`))
  return copy
}

const PLAIN: ReadonlySet<unknown> = new Set([Object.prototype, null])
