import { safeJson } from '../encoding/json.ts'
import { goQuote } from '../engine.ts'
import { type StatusCause, StatusError } from '../status-errors.ts'

/** What is wrong with one field. */
export interface FieldError {
  /** `spec.ports[0].name` */
  readonly field: string
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueDuplicate'
    | 'FieldValueTypeInvalid'
  /** The message without the field. */
  readonly message: string
}

const shown = (value: unknown): string => (typeof value === 'string' ? goQuote(value) : safeJson(isJson(value) ? value : null))

const isJson = (value: unknown): boolean => !['function', 'symbol', 'undefined'].includes(typeof value)

/**
 * One function for each kind, with upstream's texts.
 * @see kubernetes/apimachinery pkg/util/validation/field/errors.go
 */
export const fieldErrors = {
  required: (field: string, detail = ''): FieldError => ({
    field,
    reason: 'FieldValueRequired',
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  }),
  invalid: (field: string, value: unknown, detail: string): FieldError => ({
    field,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${shown(value)}: ${detail}`,
  }),
  typeInvalid: (field: string, value: unknown, detail: string): FieldError => ({
    field,
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${shown(value)}: ${detail}`,
  }),
  notSupported: (field: string, value: unknown, supported: readonly unknown[]): FieldError => ({
    field,
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${shown(value)}: supported values: ${supported.map(shown).join(', ')}`,
  }),
  forbidden: (field: string, detail: string): FieldError => ({
    field,
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${detail}`,
  }),
  duplicate: (field: string, value: unknown): FieldError => ({
    field,
    reason: 'FieldValueDuplicate',
    message: `Duplicate value: ${shown(value)}`,
  }),
  tooLong: (field: string, max: number): FieldError => ({
    field,
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${max} bytes`,
  }),
  tooMany: (field: string, count: number, max: number): FieldError => ({
    field,
    reason: 'FieldValueTooMany',
    message: `Too many: ${count}: must have at most ${max} item${max === 1 ? '' : 's'}`,
  }),
} as const

/** Texts of the same field are shown once each, as many as a client can read. */
const CAUSES_MAX = 100

/** What is invalid, by its kind and name. */
export interface InvalidObject {
  readonly group: string
  readonly kind: string
  readonly name: string
}

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewInvalid */
export function invalidObject({ group, kind, name }: InvalidObject, errors: readonly FieldError[]): StatusError {
  const causes = errors.slice(0, CAUSES_MAX).map(({ reason, message, field }): StatusCause => ({ reason, message, field }))
  const lines = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))]
  const all = lines.length === 1 ? (lines[0] as string) : `[${lines.join(', ')}]`
  return new StatusError({
    message: `${group === '' ? kind : `${kind}.${group}`} ${goQuote(name)} is invalid: ${all}`,
    reason: 'Invalid',
    details: { ...(name !== '' && { name }), ...(group !== '' && { group }), kind, causes },
    code: 422,
  })
}
