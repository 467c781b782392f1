import type { ApiExchange } from '../api-exchange.ts'
import { isThenable, PLAIN_TEXT, respond, wrongAnswer } from '../engine.ts'
import { afterEnd } from '../request/answer-end.ts'
import { Slot } from '../request/slots.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import type { ChainFilter, FilterFailed, MadeFilter } from './filter.ts'
import { TIME_IS_OVER } from './timeout.ts'
import { wakeWriter } from './wake-writer.ts'

/** A place among the requests that are served at a time. */
export interface Seat {
  /** Gives the seat back, called once, when it is free again. One that throws is reported. */
  giveBack(): void
}

/** A seat; true: let in without one; false: sent away with 429. */
export type Admission = Seat | boolean

/**
 * Which requests are served, and which wait or are sent away. It is asked for every request that
 * does not last, when it is known who sent it and before it is decided whether it may.
 *
 * The contract: a request that is let in keeps its seat until its handler has ended the answer, and
 * nearly all of that has been sent; or until its client has left, or its time is over, and its
 * handler has ended. Then the seat is given back, once. A client that does not read keeps no seat
 * by a short answer, and by a long one no longer than its request may take. One whose time is over,
 * or whose client leaves, while it waits in a queue gets nothing of the seat that it is given then:
 * that one is given back at once. `exchange.signal` says when that happens, so that it can be taken
 * out of the queue. One that throws or rejects, or answers something else, lets nothing in: 500.
 */
export interface FlowControl {
  /** Decides at once, where that can be said: what takes no time costs none. */
  admit(exchange: ApiExchange): Admission | Promise<Admission>
  /** Whole seconds of `Retry-After` for one that is sent away. Default: 1. */
  retryAfterSeconds?(exchange: ApiExchange): number
}

/** The seat of a request; undefined without one, and when it was given back. */
export const SEAT = new Slot<Seat | undefined>(undefined)

const isSeat = (given: unknown): given is Seat =>
  typeof given === 'object' && given !== null && 'giveBack' in given && typeof given.giveBack === 'function'

/** Whether it can be asked. */
export const isFlowControl = (given: unknown): boolean =>
  typeof given === 'object' && given !== null && 'admit' in given && typeof given.admit === 'function'

/**
 * Lets in what flow control lets in. Undefined without any.
 * @see kubernetes/apiserver pkg/server/filters/priority-and-fairness.go WithPriorityAndFairness
 */
export const flowControl = {
  name: 'flow-control',
  part: 'inner',
  upstream: 'WithMaxInFlightLimit, WithPriorityAndFairness',
  why: 'before authorization, which may cost a call to another server',
  ends: [429],
  isTimed: true,
  make: (needs: FlowControlNeeds) => needs.flowControl && filterOf(needs.flowControl, needs),
} as const satisfies ChainFilter<never>

export interface FlowControlNeeds {
  /** Undefined: everything is let in. */
  readonly flowControl: FlowControl | undefined
  readonly metrics: Pick<RequestMetrics, 'terminated'>
  /** Reports a seat that could not be given back. */
  readonly failed: FilterFailed
}

function filterOf(control: FlowControl, { metrics, failed }: FlowControlNeeds): MadeFilter {
  const take = (exchange: ApiExchange, admission: Admission): boolean => {
    if (admission === false) return refuse(exchange)
    if (admission === true) return true
    if (!isSeat(admission)) throw wrongAnswer('flowControl.admit', admission, 'true, false, a seat with giveBack(), or a promise of it')
    if (!exchange.view.isOver) {
      SEAT.set(exchange, admission)
      afterEnd(exchange, answered)
      return true
    }
    // What gives seats back was told that it is over while it waited.
    admission.giveBack()
    return false
  }
  const giveBack = (exchange: ApiExchange): void => {
    const seat = SEAT.of(exchange)
    SEAT.set(exchange, undefined)
    try {
      seat?.giveBack()
    } catch (error) {
      failed('flow-control', error)
    }
  }
  /** Not for an answer of which much is still to be sent, nor for the 504 in place of one. */
  const answered = (exchange: ApiExchange): void => {
    if (!TIME_IS_OVER.of(exchange) && exchange.response.writableLength <= UNSENT_MAX) giveBack(exchange)
  }
  const refuse = (exchange: ApiExchange): false => {
    if (exchange.view.isOver || TIME_IS_OVER.of(exchange)) return false
    metrics.terminated(exchange, TOO_MANY.status)
    const seconds = String(control.retryAfterSeconds?.(exchange) ?? 1)
    respond(exchange.response, { ...TOO_MANY, headers: { 'Retry-After': seconds, ...TOO_MANY.headers } })
    return false
  }
  return {
    admit: (exchange) => {
      if (exchange.isLongRunning) return true
      const admission = control.admit(exchange)
      return isThenable(admission) ? admission.then((given) => take(exchange, given)) : take(exchange, admission)
    },
    over: (exchange) => {
      if (SEAT.of(exchange) === undefined) return
      const { handling } = exchange
      const ended = (): void => giveBack(exchange)
      if (!handling || !goesOn(exchange)) return ended()
      handling.then(ended, ended)
      wakeWriter(exchange.response)
    },
  }
}

/**
 * What is in memory of an answer beyond this keeps the seat: its handler would have to wait, where
 * writing waits.
 */
const UNSENT_MAX = 64 * 1024

const TOO_MANY = {
  status: 429,
  headers: PLAIN_TEXT,
  body: 'Too many requests, please try again later.\n',
}

const goesOn = (exchange: ApiExchange): boolean => TIME_IS_OVER.of(exchange) || !exchange.response.writableEnded
