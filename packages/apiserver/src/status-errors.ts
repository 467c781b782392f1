import { checkArguments, goQuote, QuiesceError, withFields } from './engine.ts'

/** What a failure is answered with, in the API's own form. */
export interface Failure {
  readonly message: string
  readonly reason: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly code: number
  /** The metadata of the answer: where a list goes on. */
  readonly metadata?: { readonly continue?: string }
}

/** One part of a failure, as clients show it. */
export interface StatusCause {
  readonly reason?: string
  readonly message: string
  readonly field?: string
}

/** What a failure is about, by the names that requests have for it. */
export interface QualifiedResource {
  readonly group: string
  readonly resource: string
}

/** `widgets.demo.example`, or `pods` in the group without a name. */
export const qualifiedName = ({ group, resource }: QualifiedResource): string => (group === '' ? resource : `${resource}.${group}`)

const A_FAILURE = withFields('the Status of a failure: { message, reason, code }', 'message', 'reason', 'code')
const A_RESOURCE = withFields('{ group, resource }', 'group', 'resource')

/**
 * A failure with the answer that its client gets. Storages and strategies throw those that the
 * functions of this file make; whatever else they throw is an internal error.
 */
export class StatusError extends QuiesceError {
  readonly failure: Failure

  constructor(failure: Failure) {
    checkArguments('new StatusError(failure)', [failure, A_FAILURE])
    super('ERR_STATUS', failure.message, { reason: failure.reason, code: failure.code })
    this.failure = failure
  }
}

const aboutObject = ({ group, resource }: QualifiedResource, name: string): Record<string, unknown> => ({
  ...(name !== '' && { name }),
  ...(group !== '' && { group }),
  kind: resource,
})

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewBadRequest */
export const badRequest = (message: string): StatusError => new StatusError({ message, reason: 'BadRequest', code: 400 })

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewNotFound */
export function notFound(of: QualifiedResource, name: string): StatusError {
  checkArguments('notFound(of, name)', [of, A_RESOURCE], [name, 'a text'])
  return new StatusError({
    message: `${qualifiedName(of)} ${goQuote(name)} not found`,
    reason: 'NotFound',
    details: aboutObject(of, name),
    code: 404,
  })
}

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewForbidden */
export const forbiddenObject = (of: QualifiedResource, name: string, why: string): StatusError =>
  new StatusError({
    message: `${qualifiedName(of)}${name === '' ? '' : ` ${goQuote(name)}`} is forbidden: ${why}`,
    reason: 'Forbidden',
    details: aboutObject(of, name),
    code: 403,
  })

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewAlreadyExists */
export const alreadyExists = (of: QualifiedResource, name: string, isBeingDeleted = false): StatusError =>
  new StatusError({
    message: `${isBeingDeleted ? 'object is being deleted: ' : ''}${qualifiedName(of)} ${goQuote(name)} already exists`,
    reason: 'AlreadyExists',
    details: aboutObject(of, name),
    code: 409,
  })

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewGenerateNameConflict */
export const generatedNameTaken = (of: QualifiedResource, name: string): StatusError =>
  new StatusError({
    message: `${qualifiedName(of)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`,
    reason: 'AlreadyExists',
    details: { ...aboutObject(of, name), retryAfterSeconds: 1 },
    code: 409,
  })

/** What a client is to do whose object is an older one. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewConflict */
export function conflict(of: QualifiedResource, name: string, why: string = MODIFIED): StatusError {
  checkArguments('conflict(of, name, why?)', [of, A_RESOURCE], [name, 'a text'], [why, 'a text'])
  return new StatusError({
    message: `Operation cannot be fulfilled on ${qualifiedName(of)} ${goQuote(name)}: ${why}`,
    reason: 'Conflict',
    details: aboutObject(of, name),
    code: 409,
  })
}

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewResourceExpired */
export function expired(message: string, continueToken?: string): StatusError {
  checkArguments('expired(message, continueToken?)', [message, 'a text'], [continueToken, 'a text'])
  return new StatusError({
    message,
    reason: 'Expired',
    code: 410,
    ...(continueToken !== undefined && { metadata: { continue: continueToken } }),
  })
}

/** @see kubernetes/apiserver pkg/storage/errors.go NewTooLargeResourceVersionError */
export const tooLargeResourceVersion = (asked: string, current: string): StatusError =>
  new StatusError({
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    reason: 'Timeout',
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
    code: 504,
  })

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewRequestEntityTooLargeError */
export const entityTooLarge = (message: string): StatusError =>
  new StatusError({ message: `Request entity too large: ${message}`, reason: 'RequestEntityTooLarge', code: 413 })

/**
 * @see kubernetes/apiserver pkg/endpoints/handlers/negotiation/errors.go
 * NewUnsupportedMediaTypeError
 */
export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError({
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    reason: 'UnsupportedMediaType',
    code: 415,
  })

/** @see kubernetes/apiserver pkg/endpoints/handlers/negotiation/errors.go NewNotAcceptableError */
export const notAcceptable = (accepted: readonly string[]): StatusError =>
  new StatusError({
    message: `only the following media types are accepted: ${accepted.join(', ')}`,
    reason: 'NotAcceptable',
    code: 406,
  })

/**
 * A request that can be read, and is about something that cannot be so.
 * @see kubernetes/apimachinery pkg/api/errors/errors.go NewGenericServerResponse
 */
export const unprocessable = (): StatusError =>
  new StatusError({
    message: 'the server rejected our request due to an error in our request',
    reason: 'Invalid',
    details: {},
    code: 422,
  })

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewServiceUnavailable */
export function serviceUnavailable(message: string): StatusError {
  checkArguments('serviceUnavailable(message)', [message, 'a text'])
  return new StatusError({ message, reason: 'ServiceUnavailable', details: { retryAfterSeconds: 1 }, code: 503 })
}

/** Nothing was done yet: another server can be asked. */
export const shuttingDown = (): StatusError => serviceUnavailable('apiserver is shutting down')

/**
 * What was asked for may have been done, or may still be.
 * @see kubernetes/apimachinery pkg/api/errors/errors.go NewTimeoutError
 */
export const serverTimeout = (message: string): StatusError =>
  new StatusError({ message: `Timeout: ${message}`, reason: 'Timeout', details: {}, code: 504 })

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewInternalError */
export const internalError = (message: string): StatusError =>
  new StatusError({
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  })
