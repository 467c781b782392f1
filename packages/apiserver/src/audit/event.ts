import type { IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { ApiExchange } from '../api-exchange.ts'
import { isFixed, type UserInfo } from '../authentication/user.ts'
import { jsonText, safeJson } from '../encoding/json.ts'
import { firstHeader, headerText } from '../first-header.ts'
import { clientSocketOf } from '../request/client-socket.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { requestUriOf } from './request-uri.ts'

/** What of a request is recorded, each with all of the one before it. */
export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof LEVELS)[number]

/** When an event is made. */
export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof STAGES)[number]

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
  readonly status?: string | undefined
  readonly message?: string | undefined
  readonly reason?: string | undefined
  readonly details?: unknown
  readonly code?: number | undefined
}

/**
 * One record of a request, with its fields in upstream's order: `JSON.stringify` of it is what
 * upstream writes. Never changed once it is made. A field that there is nothing to say in may be
 * undefined.
 * @see kubernetes/apiserver pkg/apis/audit/v1/types.go Event
 */
export interface AuditEvent {
  readonly kind: 'Event'
  readonly apiVersion: typeof AUDIT_VERSION
  readonly level: AuditLevel
  readonly auditID: string
  readonly stage: AuditStage
  readonly requestURI: string
  readonly verb: string
  readonly user: AuditedUser
  readonly impersonatedUser?: AuditedUser | undefined
  readonly authenticationMetadata?: { readonly impersonationConstraint: string } | undefined
  readonly sourceIPs?: readonly string[] | undefined
  readonly userAgent?: string | undefined
  readonly objectRef?: AuditedObject | undefined
  readonly responseStatus?: AuditedStatus | undefined
  readonly requestObject?: unknown
  readonly responseObject?: unknown
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

/** One event as its line, with the newline. */
export const eventJson = (event: AuditEvent): string => `{"kind":"Event","apiVersion":"${AUDIT_VERSION}",${fieldsOf(event)}}\n`

/**
 * What a webhook is sent. Of what kind its items are the list says; none of them does.
 * @see kubernetes/apiserver pkg/apis/audit/v1/types.go EventList
 */
export const eventListJson = (events: readonly AuditEvent[]): string =>
  `{"kind":"EventList","apiVersion":"${AUDIT_VERSION}","metadata":{},"items":[${events.map((event) => `{${fieldsOf(event)}}`).join(',')}]}\n`

/** What {@link safeJson} writes, put together field by field, which takes a third of the time. */
function fieldsOf(event: AuditEvent): string {
  const { user, impersonatedUser, authenticationMetadata, sourceIPs, userAgent, objectRef } = event
  const { responseStatus, requestObject, responseObject, annotations } = event
  let json =
    `"level":"${event.level}","auditID":${jsonText(event.auditID)},"stage":"${event.stage}"` +
    `,"requestURI":${jsonText(event.requestURI)},"verb":${jsonText(event.verb)},"user":${keptJson(user)}`
  if (impersonatedUser !== undefined) json += `,"impersonatedUser":${keptJson(impersonatedUser)}`
  if (authenticationMetadata !== undefined) json += `,"authenticationMetadata":${safeJson(authenticationMetadata)}`
  if (sourceIPs !== undefined) json += `,"sourceIPs":${keptJson(sourceIPs)}`
  if (userAgent !== undefined) json += `,"userAgent":${jsonText(userAgent)}`
  if (objectRef !== undefined) json += `,"objectRef":${safeJson(objectRef)}`
  if (responseStatus !== undefined) json += `,"responseStatus":${statusJson(responseStatus)}`
  if (requestObject !== undefined) json += `,"requestObject":${safeJson(requestObject)}`
  if (responseObject !== undefined) json += `,"responseObject":${safeJson(responseObject)}`
  json += `,"requestReceivedTimestamp":"${event.requestReceivedTimestamp}","stageTimestamp":"${event.stageTimestamp}"`
  if (annotations !== undefined) json += `,"annotations":${textsJson(annotations)}`
  return json
}

function textsJson(texts: Readonly<Record<string, string>>): string {
  let json = ''
  for (const key in texts) json += `${json === '' ? '{' : ','}${jsonText(key)}:${jsonText(texts[key] as string)}`
  return json === '' ? '{}' : `${json}}`
}

/** Nearly all of them say no more than their code. */
const statusJson = (status: AuditedStatus): string =>
  status.code !== undefined &&
  status.status === undefined &&
  status.message === undefined &&
  status.reason === undefined &&
  status.details === undefined
    ? `{"metadata":{},"code":${status.code}}`
    : safeJson(status)

/** Parts that many events have in common, by the object that is common to them, which is frozen. */
const KEPT_JSON = new WeakMap<object, string>()

function keptJson(part: object): string {
  const known = KEPT_JSON.get(part)
  if (known !== undefined) return known
  const json = safeJson(part)
  if (Object.isFrozen(part)) KEPT_JSON.set(part, json)
  return json
}

/** What is the same in every event of a request. */
export type RequestPart = Pick<AuditEvent, 'requestURI' | 'verb' | 'sourceIPs' | 'userAgent' | 'objectRef'>

/** @see kubernetes/apiserver pkg/audit/request.go LogRequestMetadata */
export function requestPart({ request, info }: ApiExchange): RequestPart {
  const userAgent = request.headers['user-agent']
  const sourceIPs = sourceIPsOf(request)
  return {
    requestURI: requestUriOf(request.url ?? '/'),
    verb: info.verb,
    sourceIPs: sourceIPs.length > 0 ? sourceIPs : undefined,
    userAgent: userAgent === undefined || userAgent === '' ? undefined : shortened(userAgent),
    objectRef: info.isResourceRequest ? objectPart(info) : undefined,
  }
}

const objectPart = ({ resource, namespace, name, apiGroup, apiVersion, subresource }: RequestInfo): AuditedObject =>
  given({ resource, namespace, name, apiGroup, apiVersion, subresource })

const NO_USER: AuditedUser = Object.freeze({})
/** Users who cannot change, of whom nothing has to be made for each request. */
const USERS = new WeakMap<UserInfo, AuditedUser>()

export function userPart(user: UserInfo | undefined): AuditedUser {
  if (user === undefined) return NO_USER
  const known = USERS.get(user)
  if (known !== undefined) return known
  const { name, uid, groups, extra } = user
  const part: AuditedUser = {
    ...(name !== '' && { username: name }),
    ...(uid !== undefined && uid !== '' && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra: sorted(extra) }),
  }
  if (isFixed(user)) USERS.set(user, Object.freeze(part))
  return part
}

/** A copy with its keys in order, as Go writes them; most are in it already. */
export function sorted<T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  let before = ''
  for (const key in values) {
    if (key < before) return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))
    before = key
  }
  return { ...values }
}

/** Empty texts are left out. */
const given = (texts: Readonly<Record<string, string>>): AuditedObject =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))

/** @see kubernetes/apiserver pkg/audit/request.go maybeTruncateUserAgent */
const USER_AGENT_MAX = 1_024
const shortened = (userAgent: string): string =>
  headerText(userAgent.length > USER_AGENT_MAX ? `${userAgent.slice(0, USER_AGENT_MAX)}...TRUNCATED` : userAgent)

/**
 * The addresses that a request says it came by, and last the one that it did come from.
 * @see kubernetes/apimachinery pkg/util/net/http.go SourceIPs
 */
export function sourceIPsOf(request: IncomingMessage): readonly string[] {
  const { headers } = request
  const socket = clientSocketOf(request)
  if (headers['x-forwarded-for'] === undefined && headers['x-real-ip'] === undefined) return peerOf(socket)
  const forwarded = firstHeader(request, 'x-forwarded-for')
    .split(',')
    .map(address)
    .filter((each) => each !== undefined)
  const real = address(firstHeader(request, 'x-real-ip'))
  if (real !== undefined && !forwarded.includes(real)) forwarded.push(real)
  const remote = address(socket?.remoteAddress ?? '')
  if (remote !== undefined && forwarded.at(-1) !== remote) forwarded.push(remote)
  return forwarded
}

/** The address of a connection is the same for all of its requests. */
const PEERS = new WeakMap<object, readonly string[]>()

function peerOf(socket: Socket | undefined): readonly string[] {
  if (socket === undefined) return []
  const known = PEERS.get(socket)
  if (known !== undefined) return known
  const remote = address(socket.remoteAddress ?? '')
  const peer = Object.freeze(remote === undefined ? [] : [remote])
  // One that has been closed has no address any more.
  if (remote !== undefined) PEERS.set(socket, peer)
  return peer
}

/**
 * An address as Go shows it: in its shortest form, without a zone, and an IPv4 address as one, also
 * where a socket is of both families.
 * @see Go's net ParseIP, IP.String
 */
function address(text: string): string | undefined {
  const trimmed = text.trim()
  // Leading zeros are taken for nothing.
  if (/^\d+(\.\d+){3}$/.test(trimmed)) {
    const plain = trimmed.split('.').map(Number).join('.')
    return isIP(plain) === 4 ? plain : undefined
  }
  if (trimmed.includes('%') || isIP(trimmed) !== 6) return undefined
  const shortest = new URL(`http://[${trimmed}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(shortest) ?? []
  if (high === undefined || low === undefined) return shortest
  return [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 0xff]).join('.')
}
