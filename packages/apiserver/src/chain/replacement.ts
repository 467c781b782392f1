import type { ApiExchange } from '../api-exchange.ts'
import type { WireAnswer } from '../engine.ts'
import { Slot } from '../request/slots.ts'
import { OUTER_HEADERS } from './default-headers.ts'

/**
 * Records the end of a request, for what answers in its handler's place; whether it is stored.
 * Undefined before the filter `audit`.
 */
export const BEFORE_REPLACEMENT = new Slot<((exchange: ApiExchange) => boolean | Promise<boolean>) | undefined>(undefined)

/**
 * An answer in place of the handler's: it keeps what filters around the handler have set, and
 * nothing of what the handler has prepared for another body.
 */
export function replacement(exchange: ApiExchange, answer: Omit<WireAnswer, 'headers'>, headers: WireAnswer['headers']): WireAnswer {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(OUTER_HEADERS.of(exchange)?.(exchange) ?? exchange.response.getHeaders()))
    if (value !== undefined) kept[name] = String(value)
  const length = String(Buffer.byteLength(answer.body))
  return { ...answer, headers: { ...kept, ...headers, 'content-length': length } }
}
