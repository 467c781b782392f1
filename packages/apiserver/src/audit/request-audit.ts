import { apiExchangeOf } from '../api-exchange.ts'
import { optionError } from '../engine.ts'
import { Slot } from '../request/slots.ts'
import { type AuditedUser, type AuditLevel, type AuditStage, LEVELS, type RequestPart } from './event.ts'

const NOTHING: ReadonlySet<AuditStage> = new Set()

/** What is recorded of one request, while it is on its way. */
export class RequestAudit {
  /** The level; until the policy has decided, everything may be recorded. */
  level: AuditLevel = 'RequestResponse'
  annotations: Record<string, string> | undefined = undefined
  /** The omitted stages, set by the filter. */
  omits: ReadonlySet<AuditStage> = NOTHING
  omitManagedFields = false
  id = ''
  part: RequestPart | undefined = undefined
  user: AuditedUser = {}
  /** The clock's wall time when its other time was 0: all stages of a request use the same. */
  wallOffset = 0
  /** When it came, in events. */
  received = ''
  hasStarted = false
  /** The verb that allowed it to act as another user; undefined for the older way. */
  impersonationConstraint: string | undefined = undefined
  /** Whether nothing more is recorded of it: its end was, or it was refused. */
  isDone = false
  requestObject: unknown = undefined
  responseObject: unknown = undefined
}

/** The record of a request, made by the filter audit, or by what is noted for it before. */
export const AUDIT = new Slot<RequestAudit | undefined>(undefined)

export const records = (level: AuditLevel, atLeast: AuditLevel): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(atLeast)

/**
 * Adds a fact to the events of a request that are still to come; also before the policy has decided
 * about it. False when the key is taken, which changes nothing, or the request is not recorded.
 * @throws QuiesceError ERR_OPTION_INVALID for a key or a value that is no text
 * @see kubernetes/apiserver pkg/audit/context.go AddAuditAnnotation
 */
export function addAuditAnnotation(request: object, key: string, value: string): boolean {
  if (typeof key !== 'string') throw optionError('key of addAuditAnnotation(request, key, value)', key, 'a text')
  if (typeof value !== 'string') throw optionError('value of addAuditAnnotation(request, key, value)', value, 'a text')
  const exchange = apiExchangeOf(request)
  if (exchange === undefined) return false
  const audit = AUDIT.of(exchange) ?? new RequestAudit()
  AUDIT.set(exchange, audit)
  if (audit.level === 'None') return false
  audit.annotations ??= {}
  if (Object.hasOwn(audit.annotations, key)) return false
  audit.annotations[key] = value
  return true
}

/**
 * Records what a request has brought, from the level `Request` on, as it is now; it must be JSON.
 * @see kubernetes/apiserver pkg/audit/request.go LogRequestObject
 */
export function auditRequestObject(request: object, object: unknown): void {
  const audit = auditOf(request)
  if (audit !== undefined && records(audit.level, 'Request')) audit.requestObject = copyOf(object, audit.omitManagedFields)
}

/**
 * Records what a request is answered with, from the level `RequestResponse` on, as it is now.
 * @see kubernetes/apiserver pkg/audit/request.go LogResponseObject
 */
export function auditResponseObject(request: object, object: unknown): void {
  const audit = auditOf(request)
  if (audit !== undefined && records(audit.level, 'RequestResponse')) audit.responseObject = copyOf(object, audit.omitManagedFields)
}

function auditOf(request: object): RequestAudit | undefined {
  const exchange = apiExchangeOf(request)
  return exchange && AUDIT.of(exchange)
}

/** Managed fields are those of the object's own metadata, or of a list's items. */
function copyOf(object: unknown, omitManagedFields: boolean): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(object ?? null))
  if (!omitManagedFields) return copy
  const { items } = (copy ?? {}) as { readonly items?: unknown }
  for (const each of [copy, ...(Array.isArray(items) ? (items as readonly unknown[]) : [])]) {
    const { metadata } = (each ?? {}) as { readonly metadata?: { managedFields?: unknown } | null }
    if (typeof metadata === 'object' && metadata !== null) delete metadata.managedFields
  }
  return copy
}
