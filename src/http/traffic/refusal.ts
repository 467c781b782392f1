import { show, toError } from '../../base/errors.ts'
import { type RefusalKind, type RefusalWords, statusOf, type Wording } from '../../base/wording.ts'
import type { ExchangeView } from '../chain.ts'
import type { WireAnswer } from '../ports.ts'
import { PLAIN_TEXT } from '../respond.ts'
import type { Exchange } from './exchange.ts'

/** How requests of one kind are refused. */
export interface Refusal {
  readonly kind: RefusalKind
  /** Prebuilt, unless the body is a function of the user's. Never throws. */
  readonly answerTo: (request: ExchangeView['request']) => WireAnswer
}

export type Refusals = Readonly<Record<RefusalKind, Refusal>>

/**
 * What a life's refusals are answered with, built once.
 * @param onError is given what a body function of the user's has thrown
 */
export const buildRefusals = (words: Wording['refusals'], onError: (error: Error) => void): Refusals => ({
  'retry-after': buildRefusal('retry-after', words['retry-after'], onError),
  'not-accepting': buildRefusal('not-accepting', words['not-accepting'], onError),
  watch: buildRefusal('watch', words.watch, onError),
})

function buildRefusal(kind: RefusalKind, words: RefusalWords, onError: (error: Error) => void): Refusal {
  const { status, title } = statusOf(kind)
  const { body, contentType, json, retryAfterSeconds, headers } = words
  const answer = (text: string, type = contentType): WireAnswer => ({
    status,
    reasonPhrase: title,
    headers: {
      ...(retryAfterSeconds !== false && { 'Retry-After': String(retryAfterSeconds) }),
      ...PLAIN_TEXT,
      'Content-Type': type,
      ...headers,
      'Content-Length': String(Buffer.byteLength(text)),
    },
    body: text,
  })
  const refusal = (answerTo: Refusal['answerTo']): Refusal => ({ kind, answerTo })
  const plain = typeof body === 'string' ? answer(body) : answer(`${title}\n`, PLAIN_TEXT['Content-Type'])
  const asJson = json && answer(json.body, json.contentType)
  if (typeof body === 'string') return refusal(asJson ? (request) => (wantsJson(request) ? asJson : plain) : () => plain)
  return refusal((request) => {
    if (asJson && wantsJson(request)) return asJson
    try {
      const text: unknown = body({ request, kind, status })
      if (typeof text === 'string') return answer(text)
      onError(new TypeError(`body of the refusal ${show(kind)}: returned ${show(text)}, allowed: text`))
    } catch (thrown) {
      onError(toError(thrown))
    }
    return plain
  })
}

/**
 * Named at all is enough: which of several types a client likes best makes no difference to an
 * error page.
 */
const wantsJson = ({ headers: { accept } }: ExchangeView['request']): boolean => accept !== undefined && JSON_TYPE.test(accept)
const JSON_TYPE = /\bapplication\/(?:problem\+)?json\b/i

/**
 * Answers with `refusal` and has the connection closed after it, as soon as the rest of the request
 * has been read (V16). With another request behind this one on the connection, that one carries the
 * close.
 */
export function refuse(exchange: Exchange, { answerTo }: Refusal): void {
  exchange.mustNotify = true
  exchange.connection.wire.refuse(exchange, answerTo(exchange.request))
}

/**
 * Answers what nothing has read, and closes its connection where that is one of requests in turn:
 * what stands behind it comes from the same client.
 */
export function refuseUnread(exchange: Exchange, answer: WireAnswer): void {
  const { wire } = exchange.connection
  wire.notifyBy(exchange)
  exchange.mustNotify = !wire.notifiesAnyTime
  wire.refuse(exchange, answer)
}
