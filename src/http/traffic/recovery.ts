import { errorRecord, type LifecycleFact } from '../../base/events.ts'
import type { ExchangeView } from '../chain.ts'
import { plainAnswer } from '../plain-answer.ts'
import type { WireAnswer } from '../ports.ts'
import type { Exchange } from './exchange.ts'

const INTERNAL_ERROR = plainAnswer(500, 'Internal Server Error')

/**
 * What a failed handler is answered for with, in the words of a server that has its own; a promise
 * where something has to be done before. Undefined: the answer is broken off and nothing is
 * reported, which the handler has asked for.
 */
export type FailureAnswer = (exchange: ExchangeView, thrown: unknown) => WireAnswer | Promise<WireAnswer> | undefined

/**
 * What becomes of an exchange whose handler threw or rejected (V13): a 500 while nothing has been
 * sent; a broken connection when a part has, so that the client does not take the part for the
 * whole; nothing when all of it has. It is always reported, except when a handler only passes on
 * the abort by which it was asked to end. Never throws.
 *
 * Only what a listener itself throws comes here, in its time: frameworks answer for the handlers
 * inside them, and what comes after a cut is reported as late.
 * @see kubernetes/apiserver pkg/server/filters/wrap.go WithPanicRecovery
 */
export function recover(
  exchange: Exchange,
  thrown: unknown,
  record: (fact: LifecycleFact) => void,
  answerFor: FailureAnswer = () => INTERNAL_ERROR,
): void {
  const answer = answerFor(exchange, thrown)
  if (answer && !exchange.wasAskedToEndWith(thrown))
    record({ type: 'error', where: `handler ${exchange.name}`, error: errorRecord(thrown) })
  const send = (sent: WireAnswer | undefined): void => {
    if (!exchange.isOver) exchange.connection.wire.fail(exchange, sent)
  }
  if (answer instanceof Promise) void answer.then(send)
  else send(answer)
}
