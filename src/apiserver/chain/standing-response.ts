import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'

type Names = readonly OutgoingHttpHeader[]
type Given = OutgoingHttpHeaders | Names
type Head = [status: number, reasonOrHeaders?: string | Given, headers?: Given]

/**
 * A response of HTTP/1.1 whose standing headers are put beside those of `writeHead`. Set by
 * `setHeader` instead, they would keep node from its short way, on which it does not store the
 * headers of `writeHead` first (docs/decisions/0040-standing-headers.md).
 *
 * What it says of its headers is the same at any time. What changes them otherwise than by
 * `writeHead` makes the standing ones ordinary.
 */
export class StandingResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Names and values in turns; undefined once they are ordinary, or have been sent. */
  #standing: string[] | undefined = []
  /** The head as it was sent beside the standing ones, likewise. */
  #sent: Names | undefined

  /** Sets a header, unless there is one of that name. */
  stand(name: string, value: string): void {
    if (this.#standing) this.#standing.push(name, value)
    else if (!super.hasHeader(name)) super.setHeader(name, value)
  }

  override writeHead(...head: Head): this {
    const standing = this.#standing
    if (standing === undefined || standing.length === 0 || this.headersSent) return this.#write(head)
    const [status, second, third] = head
    const isReason = typeof second === 'string'
    const headers = beside(standing, (isReason ? third : (third ?? second)) as Given | undefined)
    if (headers === undefined) {
      this.#becomeOrdinary()
      return this.#write(head)
    }
    this.#write(isReason ? [status, second, headers] : [status, headers])
    this.#standing = undefined
    this.#sent = headers
    return this
  }

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.#becomeOrdinary()
    return super.setHeader(name, value)
  }

  override appendHeader(name: string, value: string | readonly string[]): this {
    this.#becomeOrdinary()
    return super.appendHeader(name, value)
  }

  override removeHeader(name: string): void {
    this.#becomeOrdinary()
    super.removeHeader(name)
  }

  override getHeader(name: string): number | string | string[] | undefined {
    const known = this.#known()
    if (known === undefined) return super.getHeader(name)
    const at = indexOf(known, name)
    return at < 0 ? undefined : (known[at + 1] as number | string | string[])
  }

  override hasHeader(name: string): boolean {
    const known = this.#known()
    return known === undefined ? super.hasHeader(name) : indexOf(known, name) >= 0
  }

  override getHeaders(): OutgoingHttpHeaders {
    const known = this.#known()
    if (known === undefined) return super.getHeaders()
    const headers = Object.create(null) as OutgoingHttpHeaders
    for (let at = 0; at < known.length; at += 2) headers[String(known[at]).toLowerCase()] = known[at + 1]
    return headers
  }

  override getHeaderNames(): string[] {
    return this.#known() === undefined ? super.getHeaderNames() : Object.keys(this.getHeaders())
  }

  /** Node's types have it for requests only. */
  getRawHeaderNames(): string[] {
    const known = this.#known()
    return known === undefined ? rawHeaderNames.call(this) : known.filter((_, at) => at % 2 === 0).map(String)
  }

  /** All headers, in a list; undefined when node has them. */
  #known(): Names | undefined {
    return this.#standing ?? this.#sent
  }

  #write(head: Head): this {
    writeHead.apply(this, head)
    return this
  }

  #becomeOrdinary(): void {
    const standing = this.#standing
    if (standing === undefined) return
    this.#standing = undefined
    for (let at = 0; at < standing.length; at += 2) super.setHeader(standing[at] as string, standing[at + 1] as string)
  }
}

/** Node's own, of which there are too many signatures to repeat. */
const { writeHead, getRawHeaderNames: rawHeaderNames } = ServerResponse.prototype as unknown as {
  writeHead(...head: Head): ServerResponse
  getRawHeaderNames(): string[]
}

/** Undefined for headers in a list, which may have several of a name. */
function beside(standing: readonly string[], given: Given | null | undefined): Names | undefined {
  if (given === undefined || given === null) return standing
  if (Array.isArray(given)) return undefined
  const headers: OutgoingHttpHeader[] = []
  for (let at = 0; at < standing.length; at += 2) {
    const name = standing[at] as string
    if (!isAmong(name, given as OutgoingHttpHeaders)) headers.push(name, standing[at + 1] as string)
  }
  for (const name of Object.keys(given)) {
    const value = (given as OutgoingHttpHeaders)[name]
    // Node says what is wrong with it.
    headers.push(name, value as OutgoingHttpHeader)
  }
  return headers
}

function isAmong(name: string, given: OutgoingHttpHeaders): boolean {
  for (const other in given) if (isSame(name, other)) return true
  return false
}

function indexOf(headers: Names, name: string): number {
  for (let at = 0; at < headers.length; at += 2) if (isSame(String(headers[at]), name)) return at
  return -1
}

const isSame = (a: string, b: string): boolean => a.length === b.length && (a === b || a.toLowerCase() === b.toLowerCase())
