import { goQuote } from '../../engine.ts'
import { badRequest } from '../../status-errors.ts'
import { type FieldError, fieldErrors, invalidObject } from '../field-errors.ts'
import { type FieldMatch, fieldSelector } from '../field-selector.ts'
import { type LabelMatch, labelSelector } from '../label-selector.ts'
import type { RestRequest } from './rest-request.ts'

/** @throws StatusError 422 when something is wrong with the options of a verb */
export function refuseOptions(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind, name: '' }, errors)
}

const INT64_MAX = 2n ** 63n - 1n

/**
 * The number that a parameter is; undefined: it is not there.
 * @throws StatusError 400 for what is no whole number, or none of 64 bits
 */
export function wholeNumber(rest: RestRequest, name: string): number | undefined {
  const [text] = rest.queries(name)
  if (text === undefined) return undefined
  const wrong = (why: string) => badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: ${why}`)
  if (!/^[+-]?\d+$/.test(text)) throw wrong('invalid syntax')
  const value = BigInt(text.replace('+', ''))
  if (value > INT64_MAX || value < -INT64_MAX - 1n) throw wrong('value out of range')
  return Number(value)
}

/** What is there is true, but for `0` and `false`; undefined: it is not there. */
export function flag(rest: RestRequest, name: string): boolean | undefined {
  const [value] = rest.queries(name)
  return value === undefined ? undefined : value !== '0' && value.toLowerCase() !== 'false'
}

/** What a client asks for of a list or a watch. */
export interface ListOptions {
  readonly labels: LabelMatch
  readonly fields: FieldMatch
  readonly hasSelector: boolean
  readonly limit: number | undefined
  readonly continueToken: string
  /** Empty: none. */
  readonly resourceVersion: string
  /** Whether any version will do, however old: `0` was asked for. */
  readonly isAtHand: boolean
  readonly match: string
  readonly sendInitialEvents: boolean | undefined
  readonly allowsBookmarks: boolean
}

/**
 * @throws StatusError 400 for what cannot be read, 422 for what does not go together
 * @see kubernetes/apimachinery pkg/apis/meta/internalversion/validation/validation.go
 */
export function listOptions(rest: RestRequest, isWatch: boolean): ListOptions {
  const limit = wholeNumber(rest, 'limit') ?? 0
  wholeNumber(rest, 'timeoutSeconds')
  const given = rest.query('resourceVersion')
  const match = rest.query('resourceVersionMatch')
  const continueToken = rest.query('continue')
  const sendInitialEvents = flag(rest, 'sendInitialEvents')
  refuseOptions(
    'ListOptions',
    isWatch ? watchErrors(match, continueToken, sendInitialEvents) : listErrors(match, given, continueToken, sendInitialEvents),
  )
  const resourceVersion = askedVersion(rest)
  const labelText = rest.query('labelSelector')
  const fields = fieldSelector(rest.query('fieldSelector'), rest.resource.isNamespaced)
  return {
    labels: labelSelector(labelText),
    fields,
    hasSelector: labelText.trim() !== '' || !fields.isEmpty,
    limit: limit > 0 ? limit : undefined,
    continueToken,
    resourceVersion,
    isAtHand: given !== '' && resourceVersion === '',
    match,
    sendInitialEvents,
    allowsBookmarks: flag(rest, 'allowWatchBookmarks') === true,
  }
}

/**
 * Digits of a version that numbers of JavaScript can tell from others; no storage has so many: any
 * longer one is as far in the future.
 */
const VERSION_DIGITS = 15
const UINT64_MAX = 2n ** 64n - 1n

/**
 * The version that a read is to be of at least; empty: none, or any.
 * @throws StatusError 400 for what is no version
 */
export function askedVersion(rest: RestRequest): string {
  const text = rest.query('resourceVersion')
  const refuse = (why: string) =>
    badRequest(`resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: ${why}`)
  if (!/^\d*$/.test(text)) throw refuse('invalid syntax')
  const version = text.replace(/^0+/, '')
  if (version.length <= VERSION_DIGITS) return version
  if (version.length > 20 || BigInt(version) > UINT64_MAX) throw refuse('value out of range')
  return '9'.repeat(VERSION_DIGITS)
}

const MATCHES = ['Exact', 'NotOlderThan']

function listErrors(match: string, version: string, token: string, initial: boolean | undefined): readonly FieldError[] {
  const errors: FieldError[] = []
  const forbidden = (field: string, why: string) => errors.push(fieldErrors.forbidden(field, why))
  if (match !== '') {
    if (version === '') forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided')
    if (token !== '') forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided')
    if (!MATCHES.includes(match)) errors.push(fieldErrors.notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']))
    if (match === 'Exact' && version === '0')
      forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  }
  if (initial !== undefined) forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')
  if (token !== '' && version !== '' && version !== '0')
    errors.push(fieldErrors.invalid('resourceVersion', version, 'specifying resource version is not allowed when using continue'))
  return errors
}

function watchErrors(match: string, token: string, initial: boolean | undefined): readonly FieldError[] {
  const errors: FieldError[] = []
  const forbidden = (field: string, why: string) => errors.push(fieldErrors.forbidden(field, why))
  if (initial !== undefined) {
    if (match === '') forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
    else if (match !== 'NotOlderThan') errors.push(fieldErrors.notSupported('resourceVersionMatch', match, ['NotOlderThan']))
  } else if (match !== '')
    forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')
  if (token !== '') forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided')
  return errors
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** What a client asks for of a create, an update or a patch. */
export interface WriteOptions {
  readonly isDryRun: boolean
  readonly fieldValidation: FieldValidation
}

const MANAGER_MAX = 128

/** @see kubernetes/apimachinery pkg/apis/meta/v1/validation/validation.go */
export function writeOptions(rest: RestRequest, kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'): WriteOptions {
  const manager = rest.query('fieldManager')
  const validation = rest.query('fieldValidation')
  const errors: FieldError[] = []
  if (kind === 'PatchOptions' && flag(rest, 'force') !== undefined)
    errors.push(fieldErrors.forbidden('force', 'may not be specified for non-apply patch'))
  if (Buffer.byteLength(manager) > MANAGER_MAX) errors.push(fieldErrors.tooLong('fieldManager', MANAGER_MAX))
  if (/\p{C}/u.test(manager)) errors.push(fieldErrors.invalid('fieldManager', manager, 'should only contain printable characters'))
  errors.push(...dryRunErrors(rest.queries('dryRun')))
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(validation))
    errors.push(fieldErrors.notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']))
  refuseOptions(kind, errors)
  return { isDryRun: rest.queries('dryRun').length > 0, fieldValidation: validation === '' ? 'Warn' : (validation as FieldValidation) }
}

export const dryRunErrors = (given: readonly string[]): readonly FieldError[] =>
  given.every((each) => each === 'All') ? [] : [fieldErrors.notSupported('dryRun', given, ['All'])]
