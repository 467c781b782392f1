import type { IncomingMessage, ServerResponse } from 'node:http'
import { goQuote, PLAIN_TEXT, respond } from './engine.ts'

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** What of a text could be taken for HTML is escaped, in upstream's way. */
export const sanitized = (text: string): string => text.replace(/[&<>]/g, (character) => ESCAPES[character] as string)

/**
 * Answers 500 as text: a filter could not do its work.
 * @see kubernetes/apiserver pkg/endpoints/handlers/responsewriters/errors.go InternalError
 */
export function sendInternalError(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  why: string,
): void {
  respond(response, {
    status: 500,
    headers: PLAIN_TEXT,
    body: `${sanitized(`Internal Server Error: ${goQuote(request.url ?? '/')}: ${why}`)}\n`,
  })
}
