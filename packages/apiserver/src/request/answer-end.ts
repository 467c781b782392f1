import type { ServerResponse } from 'node:http'
import type { ApiExchange } from '../api-exchange.ts'

/** A signature of a response's `end`, of many. */
type End = (...args: unknown[]) => unknown

/** What is called before an answer ends. The answer waits for a promise, and not for a boolean. */
type BeforeEnd = (exchange: ApiExchange) => boolean | Promise<boolean>
type AfterEnd = (exchange: ApiExchange) => void

const ANSWER_END: unique symbol = Symbol('quiesce.apiserver.answer-end')

/** What is done when the handler of a request ends its response. */
class AnswerEnd {
  readonly exchange: ApiExchange
  /** The response's own. */
  readonly end: End
  before: BeforeEnd | undefined = undefined
  after: AfterEnd | undefined = undefined

  constructor(exchange: ApiExchange, end: End) {
    this.exchange = exchange
    this.end = end
  }
}

type Watched = ServerResponse & { [ANSWER_END]?: AnswerEnd }

/**
 * Calls `act` when the handler ends its response, before the client can see the end of the answer.
 * When `act` returns a promise, the answer ends as soon as that settles, or the time of the request
 * is over. Until then the response has ended for its handler, and nothing of the last piece has
 * left. To be called for the handler's response; a second call replaces the first.
 * @param act called at each `end()`; true when there is nothing to do any more
 */
export function beforeEnd(exchange: ApiExchange, act: BeforeEnd): void {
  answerEndOf(exchange).before = act
}

/** Calls `act` when the handler has ended its response; a second call replaces the first. */
export function afterEnd(exchange: ApiExchange, act: AfterEnd): void {
  answerEndOf(exchange).after = act
}

function answerEndOf(exchange: ApiExchange): AnswerEnd {
  const response = exchange.response as Watched
  const known = response[ANSWER_END]
  if (known) return known
  const made = new AnswerEnd(exchange, response.end as End)
  response[ANSWER_END] = made
  response.end = endWatched
  return made
}

/**
 * One function for all responses. As long as V8 has not optimized this code, a closure for each
 * response would keep the request in memory until the next major collection. V8 would take requests
 * for objects that live long, and make all later ones in the old generation (decision 105).
 */
const endWatched = function (this: Watched, ...args: unknown[]): ServerResponse {
  const { exchange, end, before, after } = this[ANSWER_END] as AnswerEnd
  const verdict = before?.(exchange) ?? true
  if (typeof verdict === 'boolean') end.apply(this, args)
  else hold(this, exchange, verdict, () => end.apply(this, args))
  after?.(exchange)
  return this
} as ServerResponse['end']

function hold(response: ServerResponse, exchange: ApiExchange, verdict: Promise<boolean>, goOn: () => void): void {
  const { end, write } = response
  // What is written behind the end goes nowhere, as without the wait.
  const held = (() => response) as typeof end
  Object.assign(response, { end: held, write: () => false })
  Object.defineProperty(response, 'writableEnded', { value: true, configurable: true })
  const release = (): void => {
    if (response.end !== held) return
    Object.assign(response, { end, write })
    delete (response as { writableEnded?: unknown }).writableEnded
    goOn()
  }
  exchange.waiting.signal.addEventListener('abort', release, { once: true })
  // What could not be done is counted where the promise was made.
  void verdict.then(release, release)
}
