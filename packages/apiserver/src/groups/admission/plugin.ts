import type { UserInfo } from '../../authentication/user.ts'
import type { ApiObject } from '../api-object.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** What a request is about to do to one object. */
export interface AdmissionTarget {
  readonly operation: AdmissionOperation
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  /** `status`, `scale`, `finalize`, or empty. */
  readonly subresource: string
}

/**
 * One write on its way into a storage.
 * @see kubernetes/apiserver pkg/admission/interfaces.go Attributes
 */
export interface AdmissionRequest extends AdmissionTarget {
  /** Empty at the scope of the cluster. */
  readonly namespace: string
  /** Empty for an object whose name is still to be made up. */
  readonly name: string
  /**
   * The object as it would be stored; of a deletion there is none. `mutate` may change it, and
   * `validate` may not.
   */
  readonly object: ApiObject | undefined
  /** The object as it is stored; it is never to be changed. Undefined before it is created. */
  readonly oldObject: ApiObject | undefined
  readonly user: UserInfo | undefined
  readonly isDryRun: boolean
  /** Aborted when its answer is not awaited any more. */
  readonly signal: AbortSignal
  /** Warns the client. */
  readonly warn: (text: string) => void
  /** Adds to the audit of the request, under a key such as `tea.example/kind`. */
  readonly annotate: (key: string, value: string) => void
}

/**
 * Decides about writes, and may change what is written: all that mutate in their order, and then,
 * once the object has been checked, all that validate. What is thrown refuses the request: 403, or
 * the answer of a `StatusError`.
 * @see kubernetes/apiserver pkg/admission/interfaces.go MutationInterface, ValidationInterface
 */
export interface AdmissionPlugin {
  readonly name: string
  /** Which writes it is asked about. Default: all. */
  handles?(target: AdmissionTarget): boolean
  mutate?(request: AdmissionRequest): unknown
  validate?(request: AdmissionRequest): unknown
}

export const ADMISSION_FIELDS: readonly (keyof AdmissionPlugin)[] = ['name', 'handles', 'mutate', 'validate']
export const ADMISSION_ALLOWED = 'an object with name and mutate() or validate(); handles() is optional'

const isFunctionOrNone = (given: unknown): boolean => given === undefined || typeof given === 'function'

export function isAdmissionPlugin(given: unknown): given is AdmissionPlugin {
  if (typeof given !== 'object' || given === null) return false
  const { name, handles, mutate, validate } = given as Partial<Record<keyof AdmissionPlugin, unknown>>
  const isSound = [handles, mutate, validate].every(isFunctionOrNone)
  return typeof name === 'string' && name !== '' && isSound && (mutate ?? validate) !== undefined
}
