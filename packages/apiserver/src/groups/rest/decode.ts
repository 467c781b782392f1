import { inexactNumber } from '../../encoding/exact-number.ts'
import { goJsonError, lookAtJson } from '../../encoding/json-text.ts'
import { readYamlBody } from '../../encoding/read-yaml-body.ts'
import { goQuote, toError } from '../../engine.ts'
import { badRequest, entityTooLarge } from '../../status-errors.ts'
import { type ApiObject, type Fields, isFields } from '../api-object.ts'
import type { FieldError } from '../field-errors.ts'
import { readMeta, takeRepeatedOwners } from '../object-meta.ts'
import type { Resource } from '../resource/define-resource.ts'
import { type Findings, fieldsOfKind, type WrittenPart, walkPart } from '../resource/schema-walk.ts'
import type { FieldValidation } from './options.ts'

/** A value that a client has sent, and what only its text says. */
export interface ReadValue {
  readonly value: unknown
  readonly duplicates: readonly string[]
  /** Texts about other parts of what was sent that have no effect, for the client to read. */
  readonly passedOver?: readonly string[]
}

/** The number of errors that are shown; a client mends them one by one. */
export const SHOWN_MAX = 100

/** Characters of the JSON that a body of YAML is. */
const FROM_YAML_MAX = 3 * 1024 * 1024

/** @throws StatusError 400 with upstream's text, behind `prefix` */
export async function readValue(text: string, isYaml: boolean, prefix: string, summary: (text: string) => string): Promise<ReadValue> {
  if (!isYaml) return readJson(text, prefix, summary)
  let asJson: string
  let duplicates: readonly string[]
  try {
    const read = await readYamlBody(text, SHOWN_MAX)
    duplicates = read.duplicates
    // It may hold what JSON has no word for, such as objects that are names.
    asJson = JSON.stringify(read.value ?? null)
  } catch (thrown) {
    throw badRequest(`${prefix}yaml: ${toError(thrown).message}`)
  }
  if (asJson.length > FROM_YAML_MAX) throw entityTooLarge(`what the aliases stand for is longer than ${FROM_YAML_MAX}`)
  return { ...readJson(asJson, prefix, summary), duplicates }
}

function readJson(text: string, prefix: string, summary: (text: string) => string): ReadValue {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    throw badRequest(`${prefix}${goJsonError(text, thrown)}${summary(text)}`)
  }
  const { isTooDeep, duplicates, inexact } = lookAtJson(text, SHOWN_MAX)
  if (isTooDeep) throw badRequest(`${prefix}exceeded max depth`)
  if (inexact !== undefined) throw badRequest(`${prefix}${inexactNumber(inexact)}`)
  return { value, duplicates }
}

const SUMMARY_MAX = 30

/** The beginning of what could not be read. @see apimachinery summarizeData */
function summarized(text: string): string {
  if (text === '') return ' (<empty>)'
  const bytes = Buffer.from(text)
  const begin = bytes.subarray(0, SUMMARY_MAX)
  return ` (${text.startsWith('{') ? begin.toString() : begin.toString('hex')}${bytes.length > SUMMARY_MAX ? ' ...' : ''})`
}

const GO_TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** An object as it was sent, in the form in which it is kept. */
export interface Decoded {
  readonly object: ApiObject
  /** The errors of the schema; they are said together with those of the metadata. */
  readonly errors: readonly FieldError[]
}

/** How strictly a body is read, and who is told of what was passed over. */
export interface Decoding {
  readonly part: WrittenPart
  readonly fieldValidation: FieldValidation
  readonly warn: (text: string) => void
}

/**
 * Reads an object that a client has sent.
 * @throws StatusError 400
 */
export async function decodeBody(resource: Resource, text: string, isYaml: boolean, decoding: Decoding): Promise<Decoded> {
  const { kind } = resource
  const prefix = `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: `
  const read = await readValue(text, isYaml, prefix, summarized)
  if (read.value !== null && !isFields(read.value)) {
    const type = Array.isArray(read.value) ? 'array' : typeof read.value
    throw badRequest(`${prefix}json: cannot unmarshal ${type} into Go value of type ${GO_TYPE_META}${summarized(text)}`)
  }
  const value = read.value ?? {}
  if (!isOfKubernetes(resource.group)) checkTyped(resource, value, text)
  return decodeValue(resource, { ...read, value }, decoding)
}

/** The group is one of Kubernetes' own, whose clients leave out what the path says anyway. */
const isOfKubernetes = (group: string): boolean => !group.includes('.') || group.endsWith('.k8s.io')

const ECHO_MAX = 1024

/**
 * As custom resources upstream, objects say what they are.
 * @throws StatusError 400
 */
function checkTyped({ kind, apiVersion }: Resource, given: Fields, text: string): void {
  const { kind: ofKind, apiVersion: ofVersion } = given
  if ((ofKind ?? '') === '') {
    const shown = text.length > ECHO_MAX ? `${text.slice(0, ECHO_MAX)} ...` : text
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): Object 'Kind' is missing in '${shown}'${summarized(text)}`,
    )
  }
  if (ofVersion === undefined || ofVersion === '')
    throw badRequest(`the API version in the data () does not match the expected API version (${apiVersion})`)
}

/**
 * The beginning of the warning about owners that are named twice; their uids follow.
 * @see kubernetes/apiserver pkg/endpoints/handlers/rest.go DuplicateOwnerReferencesWarningFormat
 */
const REPEATED_OWNERS =
  '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: '

/** The same for a value that was read before, or made by a patch. */
export function decodeValue(resource: Resource, { value, duplicates, passedOver: before = [] }: ReadValue, decoding: Decoding): Decoded {
  const { kind, version, apiVersion } = resource
  const given = value as Fields
  const refuse = (why: string, ofVersion = version, ofKind = kind) =>
    badRequest(`${ofKind} in version ${goQuote(ofVersion)} cannot be handled as a ${kind}: ${why}`)
  for (const field of ['apiVersion', 'kind'])
    if (given[field] !== undefined && typeof given[field] !== 'string')
      throw refuse(`json: cannot unmarshal ${typeof given[field]} into Go struct field .${field} of type string`)
  const { apiVersion: ofVersion = '', kind: ofKind = '' } = given as { readonly apiVersion?: string; readonly kind?: string }
  // It is one of ours, though not for this path.
  if (ofVersion !== apiVersion && (ofKind === '' || ofKind === kind) && isOfOtherVersion(resource, ofVersion))
    throw badRequest(`the API version in the data (${ofVersion}) does not match the expected API version (${apiVersion})`)
  if ((ofVersion !== '' && ofVersion !== apiVersion) || (ofKind !== '' && ofKind !== kind)) {
    const shown = ofVersion === '' ? apiVersion : ofVersion
    throw refuse(
      `no kind ${goQuote(ofKind === '' ? kind : ofKind)} is registered for version ${goQuote(shown)}`,
      shown.split('/').at(-1),
      ofKind === '' ? kind : ofKind,
    )
  }
  const { metadata, unknown, problem } = readMeta(given['metadata'])
  if (problem !== undefined) throw refuse(problem)
  const repeatedOwners = takeRepeatedOwners(metadata)
  if (repeatedOwners.length > 0) decoding.warn(`${REPEATED_OWNERS}${repeatedOwners.join(', ')}`)
  const findings: Findings = { unknown: unknown.map((name) => `metadata.${name}`), errors: [] }
  const kept = walkPart(resource.schema, fieldsOfKind(given), decoding.part, findings)
  const passedOver = [
    ...before.slice(0, SHOWN_MAX),
    ...duplicates.map((field) => `duplicate field ${goQuote(field)}`),
    ...findings.unknown.slice(0, SHOWN_MAX).map((field) => `unknown field ${goQuote(field)}`),
  ]
  if (passedOver.length > 0 && decoding.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${passedOver.join(', ')}`)
  if (decoding.fieldValidation === 'Warn') for (const each of passedOver) decoding.warn(each)
  return { object: { kind, apiVersion, metadata, ...kept }, errors: findings.errors }
}

/** What was made of an object after it was read is checked anew. */
export const decodeAgain = (resource: Resource, object: ApiObject, part: WrittenPart): Decoded =>
  decodeValue(resource, { value: object, duplicates: [] }, { part, fieldValidation: 'Ignore', warn: () => {} })

const isOfOtherVersion = ({ versions }: Resource, apiVersion: string): boolean =>
  Object.values(versions).some((other) => other.apiVersion === apiVersion)
