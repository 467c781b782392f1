import { isIP } from 'node:net'
import type { RequestLike } from '../../http/request-info.ts'
import type { ApiExchange } from '../api-exchange.ts'
import type { UserInfo } from '../authentication/user.ts'
import { compactJson } from '../encoding/json.ts'

/** What of a request is recorded, each with all of the one before it. */
export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type Level = (typeof LEVELS)[number]

/** When an event is made. */
export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type Stage = (typeof STAGES)[number]

export const AUDIT_VERSION = 'audit.k8s.io/v1'

export interface AuditedUser {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface AuditedObject {
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly apiGroup?: string
  readonly apiVersion?: string
  readonly resourceVersion?: string
  readonly subresource?: string
}

export interface AuditedStatus {
  readonly metadata: Readonly<Record<string, never>>
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly details?: unknown
  readonly code?: number
}

/**
 * One record of a request, with its fields in upstream's order: `JSON.stringify` of it is what
 * upstream writes. Never changed once it is made.
 * @see kubernetes/apiserver pkg/apis/audit/v1/types.go Event
 */
export interface AuditEvent {
  readonly kind: 'Event'
  readonly apiVersion: typeof AUDIT_VERSION
  readonly level: Level
  readonly auditID: string
  readonly stage: Stage
  readonly requestURI: string
  readonly verb: string
  readonly user: AuditedUser
  readonly impersonatedUser?: AuditedUser
  readonly sourceIPs?: readonly string[]
  readonly userAgent?: string
  readonly objectRef?: AuditedObject
  readonly responseStatus?: AuditedStatus
  readonly requestObject?: unknown
  readonly responseObject?: unknown
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** One event as its line, with the newline. */
export const eventJson: (event: AuditEvent) => string = compactJson

/** What a webhook is sent. @see kubernetes/apiserver pkg/apis/audit/v1/types.go EventList */
export const eventListJson = (events: readonly AuditEvent[]): string =>
  compactJson({ kind: 'EventList', apiVersion: AUDIT_VERSION, metadata: {}, items: events })

/** Wall-clock milliseconds with their fraction, as `2026-07-01T10:00:00.000000Z`. */
export function microTime(wallMs: number): string {
  const micros = Math.round(wallMs * 1_000)
  const rest = micros % 1_000
  return `${new Date((micros - rest) / 1_000).toISOString().slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

/** What is the same in every event of a request. */
export type RequestPart = Pick<AuditEvent, 'requestURI' | 'verb' | 'sourceIPs' | 'userAgent' | 'objectRef'>

/** @see kubernetes/apiserver pkg/audit/request.go LogRequestMetadata */
export function requestPart({ request, info }: ApiExchange): RequestPart {
  const sourceIPs = sourceIPsOf(request)
  const userAgent = request.headers['user-agent'] ?? ''
  return {
    requestURI: request.url ?? '/',
    verb: info.verb,
    ...(sourceIPs.length > 0 && { sourceIPs }),
    ...(userAgent !== '' && { userAgent: shortened(userAgent) }),
    ...(info.isResourceRequest && {
      objectRef: given({
        resource: info.resource,
        namespace: info.namespace,
        name: info.name,
        apiGroup: info.apiGroup,
        apiVersion: info.apiVersion,
        subresource: info.subresource,
      }),
    }),
  }
}

export function userPart(user: UserInfo | undefined): AuditedUser {
  if (user === undefined) return {}
  const { name, uid, groups, extra } = user
  return {
    ...(name !== '' && { username: name }),
    ...(uid !== undefined && uid !== '' && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra: sorted(extra) }),
  }
}

/** Keys in order, as Go writes them. */
export const sorted = <T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Empty texts are left out. */
const given = (texts: Readonly<Record<string, string>>): AuditedObject =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))

/** @see kubernetes/apiserver pkg/audit/request.go maybeTruncateUserAgent */
const USER_AGENT_MAX = 1_024
const shortened = (userAgent: string): string =>
  userAgent.length > USER_AGENT_MAX ? `${userAgent.slice(0, USER_AGENT_MAX)}...TRUNCATED` : userAgent

/**
 * The addresses that a request says it came by, and last the one that it did come from.
 * @see kubernetes/apimachinery pkg/util/net/http.go SourceIPs
 */
export function sourceIPsOf({
  headers,
  socket,
}: RequestLike & { readonly socket?: { readonly remoteAddress?: string | undefined } }): string[] {
  const forwarded = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map(address)
    .filter((each) => each !== undefined)
  const real = address(String(headers['x-real-ip'] ?? ''))
  if (real !== undefined && !forwarded.includes(real)) forwarded.push(real)
  const remote = address(socket?.remoteAddress ?? '')
  if (remote !== undefined && forwarded.at(-1) !== remote) forwarded.push(remote)
  return forwarded
}

/** As Go shows it: an IPv4 address is one, also where a socket is of both families. */
function address(text: string): string | undefined {
  const trimmed = text.trim().replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(trimmed) === 0 ? undefined : trimmed
}
