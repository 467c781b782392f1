import type { ApiExchange } from '../api-exchange.ts'
import type { WireAnswer } from '../engine.ts'

/**
 * An answer in place of the handler's: it keeps what filters around the handler have set, and
 * nothing of what the handler has prepared for another body.
 */
export function replacement(exchange: ApiExchange, answer: Omit<WireAnswer, 'headers'>, headers: WireAnswer['headers']): WireAnswer {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(exchange.outerHeaders?.(exchange) ?? exchange.response.getHeaders()))
    if (value !== undefined) kept[name] = String(value)
  const length = String(Buffer.byteLength(answer.body))
  return { ...answer, headers: { ...kept, ...headers, 'content-length': length } }
}
