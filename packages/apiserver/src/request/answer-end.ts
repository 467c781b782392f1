import type { ServerResponse } from 'node:http'
import type { ApiExchange } from '../api-exchange.ts'

/** A signature of a response's `end`, of many. */
type End = (...args: unknown[]) => unknown

/** Whether it is done; an answer whose client must not see it before waits for a promise. */
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
 * Has something done before the client of a request can see the end of its answer: `act` is called
 * when the response is ended, and an answer for which that gives a promise ends when it settles, or
 * when the time of its request is over. Until then it is ended for its handler, and nothing of the
 * last piece has left. To be called for the handler's response; a second call replaces the first.
 * @param act called each time, and true when there is nothing to do any more
 */
export function beforeEnd(exchange: ApiExchange, act: BeforeEnd): void {
  answerEndOf(exchange).before = act
}

/** Has something done as the handler ends its response; a second call replaces the first. */
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
 * One function for all responses. A closure for each would keep its request in memory until the
 * next major collection while this code is new: V8 then takes requests for objects that live long,
 * and makes them where only major collections find them, for good (decision 105).
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
  // Who has made the promise has counted what could not be done.
  void verdict.then(release, release)
}
