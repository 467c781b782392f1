import type { ServerResponse } from 'node:http'
import { type ApiExchange, apiExchangeOf } from '../api-exchange.ts'
import { optionError } from '../engine.ts'
import { Slot } from '../request/slots.ts'
import { sendBodyAsBytes } from './body-as-bytes.ts'

/** Characters of all warnings of an answer; beyond it each is cut to the second. */
const TOTAL_MAX = 4096
const CUT_TO = 256

interface Warning {
  readonly agent: string
  readonly text: string
}

/** The warnings of one answer. Nothing is made for a request that warns of nothing. */
export class Warnings {
  readonly #given = new Map<string, Warning>()
  #written = 0
  #isCutting = false

  add(response: ServerResponse, warning: Warning): void {
    const { text } = warning
    if (text === '' || this.#given.has(text) || (this.#isCutting && this.#written >= TOTAL_MAX)) return
    this.#given.set(text, warning)
    if (!this.#isCutting && this.#written + lengthOf(text) > TOTAL_MAX) {
      // Once too long, all of them are cut, those that were there included.
      this.#isCutting = true
      this.#written = 0
      response.removeHeader('Warning')
      for (const each of this.#given.values()) this.#write(response, each)
    } else this.#write(response, warning)
  }

  #write(response: ServerResponse, { agent, text }: Warning): void {
    const cut = this.#isCutting ? Array.from(text).slice(0, CUT_TO).join('') : text
    const header = warningHeader(299, agent, cut)
    if (header === undefined) return
    this.#written += lengthOf(cut)
    if (/[^\x20-\x7e]/.test(header)) sendBodyAsBytes(response)
    response.appendHeader('Warning', header)
  }
}

/** The warnings of an answer; undefined while there are none. */
const WARNINGS = new Slot<Warnings | undefined>(undefined)

const lengthOf = (text: string): number => Array.from(text).length

/**
 * Undefined for what has no place in a header: control characters, halves of a surrogate pair, and
 * in the agent spaces, quotes and backslashes, too. What is beyond ASCII is sent as bytes of UTF-8.
 * @see kubernetes/apimachinery pkg/util/net/http.go NewWarningHeader
 */
export function warningHeader(code: number, agent: string, text: string): string | undefined {
  if (/[\s\p{Cc}\p{Cs}"\\]/u.test(agent) || /[\p{Cc}\p{Cs}]/u.test(text)) return undefined
  const quoted = text.replace(/["\\]/g, (character) => `\\${character}`)
  return Buffer.from(`${String(code).padStart(3, '0')} ${agent || '-'} "${quoted}"`).toString('latin1')
}

/**
 * Warns the client, by a header `Warning` of the answer: as often as there is something to warn of,
 * each text once. Only before the head of the answer is sent; after that, and on a request of
 * another server, it does nothing. All of them have 4096 characters; beyond that each is cut to
 * 256. A text with control characters is left out.
 * @throws QuiesceError ERR_OPTION_INVALID for an agent or a text that is none
 * @param request that of the handler
 * @param agent what warns; empty is nothing in particular
 * @see kubernetes/apiserver pkg/endpoints/filters/warning.go WithWarningRecorder
 * @example
 * warn(request, '', 'this endpoint is deprecated')
 */
export function warn(request: object, agent: string, text: string): void {
  for (const [field, given] of Object.entries({ agent, text }))
    if (typeof given !== 'string') throw optionError(`${field} of warn(request, agent, text)`, given, 'a text')
  const exchange = apiExchangeOf(request)
  if (exchange) warnOn(exchange, agent, text)
}

/** The same, for filters. */
export function warnOn(exchange: ApiExchange, agent: string, text: string): void {
  if (exchange.response.headersSent) return
  const warnings = WARNINGS.of(exchange) ?? new Warnings()
  WARNINGS.set(exchange, warnings)
  warnings.add(exchange.response, { agent, text })
}
