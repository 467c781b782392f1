import { optionError } from '../base/errors.ts'
import { isThenable } from './emit-gate.ts'
import { exchangeGiven, type RequestGiven } from './shutdown-signal.ts'

/**
 * Has the request drain wait for work that goes on after the response: an e-mail, a write to an
 * audit table, a cache. Frameworks hide the promise of a handler that has answered, so without this
 * call the work is not seen, and a stop destroys pools under it.
 *
 * The work has the time of a request: what has not settled when the drain is cut is named in the
 * report, and costs exit code 5. It may be given at any time while the request, or anything else,
 * is waited for. When the drain is over already, the work is not waited for, and a warning names
 * it. A failure is recorded under `waitUntil` in the report's errors, and nothing else comes of it.
 * Each call adds one more promise.
 *
 * @param request what the handler was given: node's request, Hono's context or `c.req.raw`,
 * Fastify's request, Koa's context
 * @param work a promise of the work, which has begun
 * @throws QuiesceError ERR_UNKNOWN_REFERENCE as `shutdownSignalOf()`; ERR_OPTION_INVALID when
 * `work` is no promise
 * @example
 * response.end('accepted')
 * waitUntil(request, mailer.send(message, {}))
 */
export function waitUntil(request: RequestGiven, work: PromiseLike<unknown>): void {
  if (!isThenable(work))
    throw optionError('work of waitUntil()', work, 'a promise of the work, which has begun: waitUntil(request, sendMail())')
  exchangeGiven(request).waitUntil(work)
}
