import { errorRecord, type LifecycleFact } from '../../base/events.ts'
import type { WireAnswer } from '../wire.ts'
import type { Exchange } from './exchange.ts'

const BODY = 'Internal Server Error\n'
const INTERNAL_ERROR: WireAnswer = {
  status: 500,
  reasonPhrase: 'Internal Server Error',
  headers: {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': String(Buffer.byteLength(BODY)),
  },
  body: BODY,
}

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
export function recover(exchange: Exchange, thrown: unknown, record: (fact: LifecycleFact) => void): void {
  if (!exchange.wasAskedToEndWith(thrown)) record({ type: 'error', where: `handler ${exchange.name}`, error: errorRecord(thrown) })
  if (!exchange.isOver) exchange.connection.wire.fail(exchange, INTERNAL_ERROR)
}
