import { respond } from '../http/respond.ts'
import type { ApiExchange } from './api-exchange.ts'

/** What a failure is answered with, in the API's own form. */
export interface Failure {
  readonly message: string
  readonly reason: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly code: number
}

/**
 * As upstream encodes it: fields in its order, `<`, `>` and `&` escaped, and a newline.
 * @see kubernetes/apimachinery pkg/apis/meta/v1/types.go Status
 */
export const statusJson = ({ message, reason, details, code }: Failure): string =>
  `${escaped(JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code }))}\n`

/** Go's encoder escapes them, so that JSON inside of HTML stays JSON. */
const escaped = (json: string): string => json.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)

/** Answers with a Status, and `Retry-After` from its details. */
export function sendStatus({ response }: ApiExchange, failure: Failure): void {
  const retryAfter = failure.details?.['retryAfterSeconds']
  respond(response, {
    status: failure.code,
    headers: {
      'Content-Type': 'application/json',
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
    body: statusJson(failure),
  })
}
