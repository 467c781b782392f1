import { type ApiExchange, apiExchangeOf } from '../api-exchange.ts'
import type { Auditing, RecordedStatus } from '../audit/auditing.ts'
import { forget } from '../audit/backend.ts'
import { AUDIT } from '../audit/request-audit.ts'
import { type ExchangeView, toError } from '../engine.ts'
import { sendInternalError } from '../internal-error.ts'
import { beforeEnd } from '../request/answer-end.ts'
import { TAKEN_OVER } from '../request/upgrade.ts'
import { FAILURE } from '../status.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'
import { PANIC_OF } from './panic-recovery.ts'
import { BEFORE_REPLACEMENT } from './replacement.ts'
import { TIME_IS_OVER, TIMED_OUT } from './timeout.ts'

/**
 * Records requests: when they come, when the answer of one that lasts begins, and when they are
 * over, by their answer or by a handler that failed. A client has no whole answer whose event is
 * not stored, where storing is waited for. Undefined when nothing is recorded.
 * @see kubernetes/apiserver pkg/endpoints/filters/audit.go WithAudit
 */
export const audit = {
  name: 'audit',
  part: 'inner',
  upstream: 'WithAudit',
  why: 'records the user who came, before it acts as another',
  ends: [500],
  isTimed: true,
  make: ({ auditing }: { readonly auditing: Auditing | undefined }) => auditing && filterOf(auditing),
} as const satisfies ChainFilter<never>

function filterOf(auditing: Auditing): MadeFilter {
  const ended = (exchange: ApiExchange): boolean | Promise<boolean> => end(auditing, exchange, true)
  return {
    admit: (exchange) => {
      if (auditing.begin(exchange) === undefined) {
        BEFORE_REPLACEMENT.set(exchange, nothingToRecord)
        return true
      }
      beforeEnd(exchange, ended)
      BEFORE_REPLACEMENT.set(exchange, ended)
      const verdict = auditing.record(exchange, 'RequestReceived')
      return typeof verdict === 'boolean'
        ? goOn(auditing, exchange, verdict)
        : verdict.then((isStored) => goOn(auditing, exchange, isStored))
    },
    over: (exchange) => forget(end(auditing, exchange, false)),
  }
}

const nothingToRecord = (): boolean => true

/**
 * Records a request whose time was over before it came to the filter above: while its credentials
 * were looked at, or before anything was. Upstream's goes on inside its timeout and is recorded.
 */
export const recordTimedOut =
  (auditing: Auditing) =>
  (exchange: ApiExchange): boolean | Promise<boolean> =>
    AUDIT.of(exchange)?.isDone === true || auditing.begin(exchange) === undefined || end(auditing, exchange, true)

/**
 * Records the end of requests that are under way when the backend takes its last events: those that
 * are cut, and watches that are not waited for. What is sent of their answers after that is not
 * recorded.
 * @param failed is called with each that could not be
 */
export function recordCut(auditing: Auditing, underWay: Iterable<ExchangeView>, failed: (error: unknown) => void): void {
  for (const { request } of underWay) {
    const exchange = apiExchangeOf(request)
    // Before the policy has decided about it, nothing of it is recorded.
    if (exchange === undefined || AUDIT.of(exchange)?.part === undefined) continue
    try {
      forget(end(auditing, exchange, false))
    } catch (thrown) {
      failed(thrown)
    }
  }
}

/**
 * A second call does nothing.
 * @param isAnswering whether the answer is about to be sent, or sent whole
 */
function end(auditing: Auditing, exchange: ApiExchange, isAnswering: boolean): boolean | Promise<boolean> {
  const { response } = exchange
  const state = AUDIT.of(exchange)
  if (state === undefined || state.isDone) return true
  state.isDone = true
  // Of a handler that fails when its time is over its client has heard nothing.
  const panic = TIME_IS_OVER.of(exchange) ? undefined : PANIC_OF.of(exchange)
  const hasBegun = isAnswering || response.headersSent
  const status = panic ? panicStatus(panic.thrown) : statusOf(exchange, hasBegun)
  if (exchange.isLongRunning && !panic && (hasBegun || isTakenOver(exchange)) && !state.hasStarted) started(auditing, exchange, status)
  return auditing.recordEnd(exchange, panic ? 'Panic' : 'ResponseComplete', status)
}

function goOn(auditing: Auditing, exchange: ApiExchange, isStored: boolean): boolean {
  if (isStored && exchange.isLongRunning) recordStart(auditing, exchange)
  return isStored || refuse(auditing, exchange)
}

/** A socket that another protocol has taken over. */
const isTakenOver = (exchange: ApiExchange): boolean => TAKEN_OVER.of(exchange) && !exchange.response.headersSent

function statusOf(exchange: ApiExchange, hasBegun: boolean): RecordedStatus {
  const { response } = exchange
  const failure = FAILURE.of(exchange)
  if (!hasBegun && TAKEN_OVER.of(exchange)) return { code: 101 }
  // The handler's own answer is not sent any more.
  if (TIME_IS_OVER.of(exchange)) return TIMED_OUT
  if (!hasBegun) return { message: 'Connection closed early', code: 200 }
  // What filters in front of this one have answered instead is the answer as well.
  return failure?.code === response.statusCode ? { status: 'Failure', ...failure } : { code: response.statusCode }
}

const panicStatus = (thrown: unknown): RecordedStatus => ({
  status: 'Failure',
  message: `APIServer panic'd: ${typeof thrown === 'string' ? thrown : toError(thrown).message}`,
  reason: 'InternalError',
  code: 500,
})

/** Records that the status of a request that lasts was sent. */
function recordStart(auditing: Auditing, exchange: ApiExchange): void {
  const { response } = exchange
  const writeHead = response.writeHead.bind(response) as (...args: readonly unknown[]) => typeof response
  response.writeHead = (...args: readonly unknown[]) => {
    const written = writeHead(...args)
    const state = AUDIT.of(exchange)
    // What is sent for a handler that has failed is not its answer.
    if (state?.hasStarted === false && !state.isDone && PANIC_OF.of(exchange) === undefined)
      started(auditing, exchange, statusOf(exchange, response.headersSent))
    return written
  }
}

function started(auditing: Auditing, exchange: ApiExchange, status: RecordedStatus): void {
  const state = AUDIT.of(exchange)
  if (state) state.hasStarted = true
  forget(auditing.record(exchange, 'ResponseStarted', status))
}

function refuse(auditing: Auditing, exchange: ApiExchange): false {
  auditing.counters.rejected++
  const state = AUDIT.of(exchange)
  if (state) state.isDone = true
  sendInternalError(exchange, 'failed to store audit event')
  return false
}
