import { QuiesceError } from '../base/errors.ts'
import { exchangeOf } from './traffic/exchange.ts'

/**
 * What a fetch handler has answered, before the adapter sends it. The adapter tells the client what
 * it cannot send, and the console what fails on the way; both are failures of the handler, for its
 * report and its log.
 */

/** Under which the adapter's own kind of Response keeps status, body and headers. */
let light: symbol | undefined

/** The body, without having one of the adapter's kind made into a real Response. */
export function bodyOf(answer: Response): unknown {
  if (light === undefined || !(light in answer)) {
    const found = Object.getOwnPropertySymbols(answer).find(({ description }) => description === 'cache')
    if (found === undefined) return answer.body
    light = found
  }
  return (answer as unknown as Readonly<Record<symbol, readonly unknown[]>>)[light]?.[1]
}

const isStream = (body: unknown): body is ReadableStream => typeof (body as Partial<ReadableStream> | null)?.getReader === 'function'

/** Why it cannot be sent; undefined when it can. */
export function whyUnsendable({ status }: Response, body: unknown): QuiesceError | undefined {
  const why =
    status < 200 || status > 599
      ? `a Response with the status ${status}`
      : isStream(body) && body.locked
        ? 'a Response whose body is read already'
        : undefined
  return why === undefined
    ? undefined
    : new QuiesceError(
        'ERR_OPTION_INVALID',
        `handler: answered ${why}, allowed: a Response with a status from 200 to 599 and an unread body`,
      )
}

/**
 * Reports what a body fails with while it is sent, and breaks the answer off, so that the client
 * does not take the part for the whole.
 */
export function hearFailure(body: unknown, request: object, outgoing: { readonly headersSent: boolean }): void {
  if (!isStream(body) || !Object.isExtensible(body)) return
  let isTaken: boolean | undefined
  /** Whether nothing is left to say of it. */
  const isTakenFrom = (thrown: unknown): boolean => {
    if (isTaken !== undefined) return isTaken
    const exchange = exchangeOf(request)
    // The client of one that is over has left, and does not miss the rest.
    isTaken = exchange !== undefined && !exchange.isOver && outgoing.headersSent
    if (exchange && !exchange.isOver) exchange.threw(thrown)
    return isTaken
  }
  const getReader = body.getReader.bind(body)
  // Defined and not assigned: V8 keeps what is assigned a closure until a major collection.
  const define = (object: object, name: string, value: unknown): void =>
    void Object.defineProperty(object, name, { value, configurable: true })
  define(body, 'getReader', (...options: Parameters<typeof getReader>) => {
    const reader = getReader(...options) as ReadableStreamDefaultReader
    const read = reader.read.bind(reader)
    const end = (thrown: unknown): { readonly done: true; readonly value: undefined } => {
      if (isTakenFrom(thrown)) return { done: true, value: undefined }
      throw thrown
    }
    define(reader, 'read', () => read().catch(end))
    const closed = reader.closed.catch(end).then(() => undefined)
    // Who reads it sees it; the process does not have to.
    closed.catch(() => {})
    define(reader, 'closed', closed)
    return reader
  })
}
