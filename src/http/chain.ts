import type { IncomingMessage, ServerResponse } from 'node:http'
import { show } from '../base/errors.ts'
import { placeAll, type StepPlace } from './place-steps.ts'
import { wrongAnswer } from './wrong-answer.ts'

/**
 * Which drain waits for an exchange. `nothing`: refused, exempt after the drain began, or on an
 * admin listener.
 */
export type CountedAs = 'nothing' | 'request' | 'watch'

/**
 * One request with its response, as the steps of the chain see it: they read and answer, and change
 * nothing else.
 */
export interface ExchangeView {
  readonly request: IncomingMessage
  /** Undefined for an upgrade, whose handler gets the bare socket. */
  readonly response: ServerResponse | undefined
  /** `GET /path`, without the query, which may hold secrets. */
  readonly name: string
  /** Milliseconds of the life's clock when the request arrived. */
  readonly arrivedAt: number
  readonly countedAs: CountedAs
  /** Its response, or its socket if it has none, is closed. */
  readonly isOver: boolean
  /** Aborted when the handler has to come to its end, which says nothing of what it listens to. */
  readonly signal: AbortSignal
}

/** One concern that every request passes before its handler. */
export interface ChainStep<View = ExchangeView> {
  /** Unique in its chain; others find their place by it. */
  readonly name: string
  /**
   * The step itself, called once for each request, synchronously: it must not wait. True: the next
   * step is asked. False: it has answered, or will. One that throws, or returns anything else, such
   * as a promise, lets nothing pass: 500, and the error is reported.
   */
  readonly admit: (exchange: View) => boolean
  /**
   * The end of the step, called once for each request that `admit` was called for, when its
   * response is closed; the last step first. One that throws is reported.
   */
  readonly over?: (exchange: View) => void
  /** Whether requests on the admin listener pass it too. Default false. */
  readonly onAdmin?: boolean
  /** Whether requests on the other listeners pass it. Default true. */
  readonly onPublic?: boolean
}

/**
 * A step with its place: directly before or after another one. Default: after `count`, so that it
 * sees what was let in.
 */
export interface PlacedStep<View = ExchangeView> extends ChainStep<View> {
  readonly before?: string
  readonly after?: string
}

/**
 * The places that every chain has, in order, whether or not a life has the step: `health` answers
 * the probes, `retry-after` refuses in the mode of that name, `count` refuses in both, or counts
 * what is let in. A step before `count` comes before both; one after `retry-after` between them.
 * What another step before `count` answers is counted while requests are.
 */
export const PLACES = {
  health: 'answers the health endpoints: 200, 500 or 503',
  'retry-after': 'refuses with 429 while draining, in the mode retry-after',
  count: 'refuses with 503 while draining, or counts: a drain waits for it',
} as const

/**
 * The steps in their order.
 * @throws QuiesceError ERR_DUPLICATE for a name of two steps, ERR_UNKNOWN_REFERENCE for a place
 * that leads to none of {@link PLACES}
 */
export const placeSteps = <View>(steps: readonly PlacedStep<View>[]): readonly PlacedStep<View>[] =>
  placeAll('steps', Object.keys(PLACES), steps, placeOf).flatMap(({ before, at, after }) => [...before, ...at, ...after])

/** Undefined for a step that is a place itself. */
function placeOf({ name, before, after }: PlacedStep<never>): StepPlace | undefined {
  if (Object.hasOwn(PLACES, name)) return undefined
  // Both refusals count as one: what comes before the count sees what either would refuse.
  if (before !== undefined) return { before: before === 'count' ? 'retry-after' : before }
  return { after: after ?? 'count' }
}

/** What the chain writes on an exchange: how many steps it was given to. */
export interface Passing {
  stepsPassed: number
}

/**
 * The steps that a request passes, in order. A step that is not there costs nothing: the request
 * path runs through one array, and again at the end of a request only when some step has `over`.
 */
export class Chain<View extends Passing> {
  readonly #steps: readonly ChainStep<View>[]
  readonly #hearsOver: boolean
  readonly #onError: (step: string, error: unknown) => void

  /** @param onError is given what a step's `over` has thrown */
  constructor(steps: readonly ChainStep<View>[], onError: (step: string, error: unknown) => void) {
    this.#steps = steps
    this.#hearsOver = steps.some(({ over }) => over !== undefined)
    this.#onError = onError
  }

  /**
   * Whether every step let it pass.
   * @throws what a step has thrown, or TypeError for an answer that is neither true nor false
   */
  admit(exchange: View): boolean {
    const steps = this.#steps
    for (let index = 0; index < steps.length; index++) {
      exchange.stepsPassed = index + 1
      const step = steps[index] as ChainStep<View>
      const answer: unknown = step.admit(exchange)
      if (answer === true) continue
      if (answer === false) return false
      throw wrongAnswer(`step ${show(step.name)}`, answer, 'true or false, at once')
    }
    return true
  }

  over(exchange: View): void {
    if (!this.#hearsOver) return
    for (let index = exchange.stepsPassed - 1; index >= 0; index--) {
      const step = this.#steps[index] as ChainStep<View>
      if (!step.over) continue
      try {
        step.over(exchange)
      } catch (error) {
        this.#onError(step.name, error)
      }
    }
  }
}
