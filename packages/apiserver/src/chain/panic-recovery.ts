import { type ApiExchange, apiExchangeOf } from '../api-exchange.ts'
import { forget } from '../audit/backend.ts'
import {
  type Clock,
  type EventLog,
  exchangeOf,
  type FailureAnswer,
  lineASecond,
  PLAIN_TEXT_OVER,
  QuiesceError,
  type WireAnswer,
} from '../engine.ts'
import { Slot } from '../request/slots.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import { abandon } from './abandon.ts'
import { BEFORE_REPLACEMENT, replacement } from './replacement.ts'

/**
 * Thrown by a handler, it breaks off the answer, whatever has been sent of it, without an error in
 * the report and without a stack in the log: for a proxy whose other side is gone.
 * @see Go's net/http ErrAbortHandler
 * @example
 * throw ABORT_HANDLER
 */
export const ABORT_HANDLER: Error = new QuiesceError('ERR_ABORTED', 'net/http: abort Handler')

const PANIC = {
  status: 500,
  reasonPhrase: 'Internal Server Error',
  body: 'This request caused apiserver to panic. Look in the logs for details.\n',
}

/**
 * What a handler, or a filter, has thrown; and what sends the answer in its place while that waits
 * for its event.
 */
interface Panic {
  readonly thrown: unknown
  answerNow?: () => void
}

export const PANIC_OF = new Slot<Panic | undefined>(undefined)

/**
 * What is answered for whatever fails behind it. The engine does the rest (V13): it reports the
 * error, and breaks off what was sent in part.
 * @see kubernetes/apiserver pkg/server/filters/wrap.go WithPanicRecovery
 */
export function panicRecovery(clock: Clock, log: Pick<EventLog, 'error'>, metrics: RequestMetrics): FailureAnswer {
  const sayAborted = lineASecond(clock, (exchange: ApiExchange, times) =>
    log.error({ ...named(exchange), ...(times > 1 && { times }) }, 'Timeout or abort while handling'),
  )
  return (view, thrown) => {
    const exchange = apiExchangeOf(view.request)
    // Before the first filter, or so long after its client has left that it is known by name alone.
    if (!exchange)
      return thrown === ABORT_HANDLER
        ? undefined
        : { ...PANIC, headers: { ...PLAIN_TEXT_OVER, 'content-length': String(PANIC.body.length) } }
    const answer = replacement(exchange, PANIC, PLAIN_TEXT_OVER)
    // A handler that passes on the reason of its signal has not failed.
    if (exchangeOf(view.request)?.wasAskedToEndWith(thrown)) return answer
    const panic: Panic = { thrown }
    PANIC_OF.set(exchange, panic)
    const isStored = BEFORE_REPLACEMENT.of(exchange)?.(exchange) ?? true
    // What hears of it must not answer in its turn.
    queueMicrotask(() => abandon(exchange, 'its handler has failed'))
    if (thrown !== ABORT_HANDLER) {
      log.error(named(exchange), "apiserver panic'd")
      return typeof isStored === 'boolean' ? answer : whenStored(panic, isStored, answer)
    }
    forget(isStored)
    metrics.aborted(exchange)
    sayAborted(exchange)
    return undefined
  }
}

/** The answer, when its event is stored, or when the time of its request is over. */
const whenStored = (panic: Panic, isStored: Promise<boolean>, answer: WireAnswer): Promise<WireAnswer> =>
  new Promise((resolve) => {
    panic.answerNow = () => resolve(answer)
    // The backend has counted what it could not store.
    isStored.then(panic.answerNow, panic.answerNow)
  })

const named = ({ request, auditId }: ApiExchange) => ({ method: request.method, URI: request.url, auditID: auditId })
