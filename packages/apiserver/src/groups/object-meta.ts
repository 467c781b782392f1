import { goQuote } from '../engine.ts'
import { labelProblems, labelValueProblems, qualifiedNameProblems, subdomainProblems } from '../names.ts'
import { type Fields, isFields, type ObjectMeta, type OwnerReference, setField } from './api-object.ts'
import { DELETE_DEPENDENTS, ORPHAN_DEPENDENTS, STANDARD_FINALIZERS } from './deletion-finalizers.ts'
import { type FieldError, fieldErrors } from './field-errors.ts'

/** What Go calls the types that JSON values do not fit. */
type GoType = 'string' | 'int64' | 'map[string]string' | '[]string' | '[]v1.OwnerReference' | 'v1.Time'

/** The fields in the order in which they are sent. What is not in this list is not kept. */
const FIELDS: readonly (readonly [keyof ObjectMeta, GoType])[] = [
  ['name', 'string'],
  ['generateName', 'string'],
  ['namespace', 'string'],
  ['uid', 'string'],
  ['resourceVersion', 'string'],
  ['generation', 'int64'],
  ['creationTimestamp', 'v1.Time'],
  ['deletionTimestamp', 'v1.Time'],
  ['deletionGracePeriodSeconds', 'int64'],
  ['labels', 'map[string]string'],
  ['annotations', 'map[string]string'],
  ['ownerReferences', '[]v1.OwnerReference'],
  ['finalizers', '[]string'],
]
/**
 * The fields that are read from clients, and not kept: no server here says who owns which field
 * (V73).
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['managedFields', 'selfLink'])
const KNOWN: ReadonlySet<string> = new Set(FIELDS.map(([name]) => name))

/** What was read of metadata; `problem` is upstream's text for a value of another type. */
export interface ReadMeta {
  readonly metadata: ObjectMeta
  readonly unknown: readonly string[]
  readonly problem: string | undefined
}

const jsonType = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value)

/** Reads what a client has sent as metadata, a field at a time. */
export function readMeta(given: unknown): ReadMeta {
  const metadata: Fields = { name: '' }
  if (given === undefined || given === null) return { metadata: metadata as unknown as ObjectMeta, unknown: [], problem: undefined }
  const problemOf = (value: unknown, field: string, type: string): ReadMeta => ({
    metadata: metadata as unknown as ObjectMeta,
    unknown: [],
    problem: `json: cannot unmarshal ${jsonType(value)} into Go struct field ObjectMeta.metadata${field} of type ${type}`,
  })
  if (!isFields(given)) return problemOf(given, '', 'v1.ObjectMeta')
  const unknown: string[] = []
  for (const [name, type] of FIELDS) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined || value === null) continue
    const wrong = misfit(value, type)
    if (wrong !== undefined) return problemOf(wrong.value, `.${name}`, wrong.type)
    if (isEmpty(value) && name !== 'name') continue
    if (type === '[]v1.OwnerReference') {
      const owners = readOwners(value as readonly (Fields | null)[])
      unknown.push(...owners.unknown)
      if (owners.problem !== undefined) return { metadata: metadata as unknown as ObjectMeta, unknown, problem: owners.problem }
      setField(metadata, name, owners.read)
    } else setField(metadata, name, type === 'map[string]string' || type === '[]string' ? withoutNulls(value as object) : value)
  }
  unknown.push(...Object.keys(given).filter((name) => !KNOWN.has(name) && !LEFT_OUT.has(name)))
  return { metadata: metadata as unknown as ObjectMeta, unknown, problem: undefined }
}

/** What is empty is not sent, as upstream's `omitempty`. */
const isEmpty = (value: unknown): boolean =>
  value === '' || value === 0 || (Array.isArray(value) && value.length === 0) || (isFields(value) && Object.keys(value).length === 0)

/** The value that does not fit, which may be one inside, and the type that it should have. */
function misfit(value: unknown, type: GoType): { readonly value: unknown; readonly type: string } | undefined {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? undefined : { value, type }
    case 'int64':
      return Number.isSafeInteger(value) ? undefined : { value, type }
    case 'v1.Time':
      return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value)) ? undefined : { value, type }
    case 'map[string]string': {
      if (!isFields(value)) return { value, type }
      const wrong = Object.values(value).find((each) => each !== null && typeof each !== 'string')
      return wrong === undefined ? undefined : { value: wrong, type: 'string' }
    }
    case '[]string': {
      if (!Array.isArray(value)) return { value, type }
      const wrong = value.find((each) => each !== null && typeof each !== 'string') as unknown
      return wrong === undefined ? undefined : { value: wrong, type: 'string' }
    }
    case '[]v1.OwnerReference':
      return isOwners(value) ? undefined : { value, type }
  }
}

/** A time of RFC 3339. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/

const isOwners = (value: unknown): value is readonly (Fields | null)[] =>
  Array.isArray(value) && value.every((each) => each === null || isFields(each))

/** Null is the empty text, in a list or by a name. */
function withoutNulls(texts: object): object {
  if (Array.isArray(texts)) return texts.includes(null) ? texts.map((each: unknown) => each ?? '') : texts
  if (!Object.values(texts).includes(null)) return texts
  const copy: Fields = {}
  for (const [name, each] of Object.entries(texts)) setField(copy, name, each ?? '')
  return copy
}

/** The type of a field, in the words of both languages. */
interface OwnerField {
  readonly type: 'string' | 'boolean'
  readonly goType: string
}

const A_TEXT: OwnerField = { type: 'string', goType: 'string' }
const A_FLAG: OwnerField = { type: 'boolean', goType: 'bool' }
const OWNER_FIELDS: ReadonlyMap<string, OwnerField> = new Map<string, OwnerField>([
  ['apiVersion', A_TEXT],
  ['kind', A_TEXT],
  ['name', A_TEXT],
  ['uid', A_TEXT],
  ['controller', A_FLAG],
  ['blockOwnerDeletion', A_FLAG],
])

interface ReadOwners {
  readonly read: readonly OwnerReference[]
  readonly unknown: readonly string[]
  readonly problem: string | undefined
}

/** The owners field by field, as all metadata is read; null is what is not there. */
function readOwners(given: readonly (Fields | null)[]): ReadOwners {
  const read: OwnerReference[] = []
  const unknown: string[] = []
  for (const [index, each] of given.entries()) {
    const owner: Fields = { apiVersion: '', kind: '', name: '', uid: '' }
    for (const [name, value] of Object.entries(each ?? {})) {
      const field = OWNER_FIELDS.get(name)
      if (field === undefined) unknown.push(`ownerReferences[${index}].${name}`)
      else if (value !== null && typeof value !== field.type) {
        const problem = `json: cannot unmarshal ${jsonType(value)} into Go struct field OwnerReference.ownerReferences.${name} of type ${field.goType}`
        return { read, unknown, problem }
      } else if (value !== null) owner[name] = value
    }
    read.push(owner as unknown as OwnerReference)
  }
  return { read, unknown, problem: undefined }
}

/**
 * Takes owners away that are in the list already, and returns their uids. The same object may own
 * in two ways, as with and without `controller`.
 * @see kubernetes/apiserver pkg/endpoints/handlers/rest.go dedupOwnerReferences
 */
export function takeRepeatedOwners(metadata: ObjectMeta): readonly string[] {
  const known = new Set<string>()
  const repeated: string[] = []
  const owners = metadata.ownerReferences?.filter((owner) => {
    const text = JSON.stringify([...OWNER_FIELDS.keys()].map((name) => owner[name as keyof OwnerReference] ?? null))
    if (known.has(text)) repeated.push(owner.uid)
    const isNew = !known.has(text)
    known.add(text)
    return isNew
  })
  if (owners !== undefined && repeated.length > 0) metadata.ownerReferences = owners
  return repeated
}

/** The metadata in the order of {@link FIELDS}, for what was put together from several. */
export function orderedMeta(metadata: ObjectMeta): ObjectMeta {
  const ordered: Fields = {}
  for (const [name] of FIELDS) if (metadata[name] !== undefined) ordered[name] = metadata[name]
  return ordered as unknown as ObjectMeta
}

/** Bytes of all keys and values of annotations. */
const ANNOTATIONS_MAX = 256 * 1024

/** @see kubernetes/apimachinery pkg/api/validation/objectmeta.go ValidateObjectMetaAccessor */
export function metaErrors(metadata: ObjectMeta, isNamespaced: boolean): readonly FieldError[] {
  const errors: FieldError[] = []
  const { name, generateName, namespace, labels = {}, annotations = {}, ownerReferences = [], finalizers = [] } = metadata
  const invalid = (field: string, value: unknown, problems: readonly string[]): void =>
    void errors.push(...problems.map((problem) => fieldErrors.invalid(`metadata.${field}`, value, problem)))
  if (generateName !== undefined) invalid('generateName', generateName, subdomainProblems(`${generateName.replace(/-$/, '')}a`))
  // A name that is missing is one that is no subdomain, as the recorded server says it.
  invalid('name', name, subdomainProblems(name))
  if (isNamespaced) {
    if (namespace === undefined) errors.push(fieldErrors.required('metadata.namespace'))
    else invalid('namespace', namespace, labelProblems(namespace))
  } else if (namespace !== undefined) errors.push(fieldErrors.forbidden('metadata.namespace', 'not allowed on this type'))
  for (const [key, value] of Object.entries(labels)) {
    invalid('labels', key, qualifiedNameProblems(key))
    invalid('labels', value, labelValueProblems(value))
  }
  let bytes = 0
  for (const [key, value] of Object.entries(annotations)) {
    invalid('annotations', key, qualifiedNameProblems(key.toLowerCase()))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (bytes > ANNOTATIONS_MAX) errors.push(fieldErrors.tooLong('metadata.annotations', ANNOTATIONS_MAX))
  errors.push(...ownerErrors(ownerReferences))
  for (const finalizer of finalizers) invalid('finalizers', finalizer, qualifiedNameProblems(finalizer))
  if (finalizers.includes(ORPHAN_DEPENDENTS) && finalizers.includes(DELETE_DEPENDENTS))
    invalid('finalizers', finalizers, [`finalizer ${ORPHAN_DEPENDENTS} and ${DELETE_DEPENDENTS} cannot be both set`])
  return errors
}

/**
 * Warns of each new finalizer without a domain: another program may use the same name.
 * @see kubernetes/apiextensions-apiserver pkg/registry/customresource/validator.go
 * validateKubeFinalizerName
 */
export function finalizerWarnings({ finalizers = [] }: ObjectMeta, old: ObjectMeta | undefined): readonly string[] {
  const known = new Set(old?.finalizers)
  const added = [...new Set(finalizers)].filter((each) => !known.has(each) && !each.includes('/') && !STANDARD_FINALIZERS.has(each))
  return added.sort().map((each) => {
    const path = each.includes('.') ? ' including a path (/)' : ''
    return `metadata.finalizers: ${goQuote(each)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
  })
}

/**
 * What may not become of the metadata of an object that is there.
 * @see kubernetes/apimachinery pkg/api/validation/objectmeta.go ValidateObjectMetaAccessorUpdate
 */
export function metaUpdateErrors(metadata: ObjectMeta, old: ObjectMeta): readonly FieldError[] {
  const ofDeletion = (['deletionTimestamp', 'deletionGracePeriodSeconds'] as const)
    .filter((field) => metadata[field] !== old[field])
    .map((field) => fieldErrors.invalid(`metadata.${field}`, metadata[field], 'field is immutable'))
  return [...newFinalizers(metadata, old), ...ofDeletion]
}

function newFinalizers({ finalizers = [] }: ObjectMeta, old: ObjectMeta): readonly FieldError[] {
  if (old.deletionTimestamp === undefined) return []
  // A client says how many there are.
  const known = new Set(old.finalizers)
  const added = [...new Set(finalizers)].filter((each) => !known.has(each)).sort()
  if (added.length === 0) return []
  const shown = `[]string{${added.map(goQuote).join(', ')}}`
  return [
    fieldErrors.forbidden(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`,
    ),
  ]
}

const VERSION = /^(?:[^/]*\/)?[^/]+$/

function ownerErrors(owners: readonly OwnerReference[]): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [index, owner] of owners.entries()) {
    const field = `metadata.ownerReferences[${index}]`
    for (const name of ['apiVersion', 'kind', 'name', 'uid'] as const)
      if (owner[name] === '') errors.push(fieldErrors.required(`${field}.${name}`, 'must not be empty'))
    const { apiVersion, kind } = owner
    if (apiVersion !== '' && !VERSION.test(apiVersion))
      errors.push(fieldErrors.invalid(`${field}.apiVersion`, apiVersion, 'must be <group>/<version> or <version>'))
    // Events are many, and nothing lives on by them.
    if (kind === 'Event' && apiVersion === 'v1')
      errors.push(fieldErrors.invalid(field, owner, '/v1, Kind=Event is disallowed from being an owner'))
  }
  if (owners.filter(({ controller }) => controller === true).length > 1)
    errors.push(fieldErrors.invalid('metadata.ownerReferences', owners, 'Only one reference can have Controller set to true'))
  return errors
}
