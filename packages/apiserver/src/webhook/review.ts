import { isRecord, show } from '../engine.ts'

/** A question in the shape of Kubernetes' reviews, which comes back with a status. */
export interface ReviewKind {
  readonly kind: 'SubjectAccessReview' | 'TokenReview'
  /** Group and version. */
  readonly apiVersion: string
}

/** The body that is posted. @param spec and the empty status, as JSON */
export const reviewBody = ({ kind, apiVersion }: ReviewKind, spec: string, status: string): string =>
  `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{},"spec":${spec},"status":${status}}`

type Fields = Readonly<Record<string, unknown>>

/** Longest text of a server's own that goes into a message, which is logged. */
const MESSAGE_MAX = 300

/**
 * The status of an answered review; empty where it has none. An answer that does not name its kind
 * is one of the kind that was asked for, as upstream reads it. Nothing else of the answer stands in
 * what is thrown: it may be the page of a proxy in between.
 * @throws Error for what is no answer
 * @see kubernetes/client-go rest/request.go Result.Into
 */
export function statusIn(body: string, wanted: ReviewKind): Fields {
  const answer = parsed(body)
  if (!isRecord(answer)) throw wrongAnswer(`${Buffer.byteLength(body)} bytes that are not a JSON object`, wanted)
  if (answer['kind'] === 'Status' && answer['status'] !== 'Success') throw wrongAnswer('a Status with a failure', wanted)
  const { kind = wanted.kind, apiVersion = wanted.apiVersion, status } = answer
  if (kind !== wanted.kind || apiVersion !== wanted.apiVersion) throw wrongAnswer(`${short(kind)} of ${short(apiVersion)}`, wanted)
  if (status === undefined || status === null) return {}
  if (isRecord(status)) return status
  throw wrongAnswer('a status that is not an object', wanted)
}

/** A field of a status; null is as good as nothing there, for which Go has an empty value. */
export function fieldIn<T>(status: Fields, name: string, empty: T, isOne: (given: unknown) => given is T, wanted: ReviewKind): T {
  const given = status[name] ?? empty
  if (isOne(given)) return given
  throw wrongAnswer(`a status whose ${name} has the wrong type`, wanted)
}

export const isYesOrNo = (given: unknown): given is boolean => typeof given === 'boolean'
export const isString = (given: unknown): given is string => typeof given === 'string'

const wrongAnswer = (what: string, { kind, apiVersion }: ReviewKind): Error =>
  new Error(`the webhook answered ${what}, allowed: a ${kind} of ${apiVersion} with its status`)

/** What a server says of a failure, where it says that as Kubernetes does. */
export interface RemoteFailure {
  readonly message: string
  readonly reason: string | undefined
}

/**
 * Undefined for an answer that is no Status of a failure.
 * @param secret does not come into its message
 */
export function statusFailureIn(body = '', secret = ''): RemoteFailure | undefined {
  const answer = body.startsWith('{') ? parsed(body) : undefined
  if (!isRecord(answer) || answer['kind'] !== 'Status' || answer['status'] !== 'Failure') return undefined
  return { message: messageIn(answer, secret), reason: typeof answer['reason'] === 'string' ? answer['reason'] : undefined }
}

const messageIn = ({ message }: Fields, secret: string): string =>
  typeof message === 'string' ? shortLine(withoutSecret(message, secret)) : 'a Status without a message'

/** A text of another server, to which it was told a secret. */
export const withoutSecret = (text: string, secret: string): string => (secret === '' ? text : text.replaceAll(secret, '<secret>'))

/** A text in one line. */
export const shortLine = (text: string): string => text.slice(0, MESSAGE_MAX).replace(/\s+/g, ' ')

const short = (given: unknown): string => shortLine(show(given))

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // Refused as what it is.
    return undefined
  }
}
