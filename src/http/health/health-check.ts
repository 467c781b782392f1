import { checkFunction, checkName } from '../../base/checked.ts'
import type { Clock } from '../../base/clock.ts'
import { type Duration, formatDuration, parseDuration } from '../../base/duration.ts'
import { isErrorObject, optionError, QuiesceError, show } from '../../base/errors.ts'
import type { RequestLike } from '../url.ts'

export interface CheckContext {
  /** Aborted when the check's time is over: what it still does is in vain. */
  readonly signal: AbortSignal
  /** The request that started this run; others may share its result. */
  readonly request: RequestLike
}

/**
 * Passes by returning or resolving, with any value but `false`; fails by throwing or rejecting,
 * with the reason, and by `false`, without one: pools and clients offer `isReady(): boolean`.
 */
export type Check = (context: CheckContext) => unknown

export interface CheckOptions {
  /**
   * The time after which the check has failed. Above zero. Default: the option
   * `healthCheckTimeout`.
   */
  readonly timeout?: Duration
  /** A second name, shared with other checks, under which a request can exclude them together. */
  readonly group?: string
}

/**
 * The default of the option `healthCheckTimeout`. Below the second that most probers wait: an
 * answer that says what failed is worth more than none.
 */
export const CHECK_TIMEOUT_MS = 900

/**
 * How many runs of one check may be hanging at a time. More than one, so that an answer that got
 * lost does not fail the check for ever; not many, because each probe of a check that always hangs
 * leaves one more behind.
 */
export const HANGING_RUNS_MAX = 4

export type CheckOutcome = { readonly passed: true } | { readonly passed: false; readonly reason: string }

export const PASSED: CheckOutcome = { passed: true }

const failed = (reason: string): CheckOutcome => ({ passed: false, reason })

/**
 * A user's check, run so that it can do no harm: bounded in time, whatever it throws becomes a
 * reason, an answer after its time is ignored, and requests that come while it runs share the run.
 * Several endpoints may hold one check.
 */
export class NamedCheck {
  readonly name: string
  readonly group: string | undefined
  readonly #check: Check
  readonly #timeoutMs: number
  readonly #clock: Clock
  #current: Promise<CheckOutcome> | undefined
  #hanging = 0
  readonly #onTurn: ((name: string, outcome: CheckOutcome) => void) | undefined
  #hasFailed = false

  /**
   * @param onTurn called when the check fails after it has passed, or has never run, and when it
   * passes again; must not throw
   * @throws QuiesceError ERR_NAME_MISSING, ERR_FUNCTION_MISSING, ERR_OPTION_INVALID
   */
  constructor(
    name: string,
    check: Check,
    { timeout = CHECK_TIMEOUT_MS, group }: CheckOptions,
    clock: Clock,
    onTurn?: (name: string, outcome: CheckOutcome) => void,
  ) {
    checkName('a health check', name)
    checkFunction(`health check ${show(name)}`, name, check)
    const field = `timeout of health check ${show(name)}`
    this.#timeoutMs = parseDuration(field, timeout)
    if (this.#timeoutMs === 0) throw optionError(field, timeout, 'more than 0')
    this.name = name
    this.group = group
    this.#check = check
    this.#clock = clock
    this.#onTurn = onTurn
  }

  /** Runs the check; never rejects, and resolves within the check's timeout. */
  run(request: RequestLike): Promise<CheckOutcome> {
    if (this.#hanging >= HANGING_RUNS_MAX) return Promise.resolve(failed(`${this.#hanging} earlier runs have not ended`))
    this.#current ??= this.#start(request)
    return this.#current
  }

  #judge(outcome: CheckOutcome): CheckOutcome {
    if (outcome.passed === this.#hasFailed) {
      this.#hasFailed = !outcome.passed
      this.#onTurn?.(this.name, outcome)
    }
    return outcome
  }

  #start(request: RequestLike): Promise<CheckOutcome> {
    const ending = new AbortController()
    return new Promise((answer) => {
      let timedOut = false
      const bound = this.#clock.setTimeout(() => {
        timedOut = true
        this.#hanging++
        this.#current = undefined
        const reason = `timed out after ${formatDuration(this.#timeoutMs)}`
        answer(this.#judge(failed(reason)))
        ending.abort(new QuiesceError('ERR_TIMEOUT', reason, { check: this.name, timeoutMs: this.#timeoutMs }))
      }, this.#timeoutMs)
      const end = (outcome: CheckOutcome): void => {
        if (timedOut) {
          this.#hanging--
          return
        }
        this.#clock.clearTimeout(bound)
        this.#current = undefined
        answer(this.#judge(outcome))
      }
      // The executor catches what the check throws, `resolve` what a hostile thenable does.
      new Promise((resolve) => resolve(this.#check({ signal: ending.signal, request }))).then(
        (value) => end(value === false ? failed('it returned false') : PASSED),
        (thrown: unknown) => end(failed(reasonOf(thrown))),
      )
    })
  }
}

/**
 * One line for whatever was thrown. A failed connection to a name with several addresses has a code
 * but no message.
 */
function reasonOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown
    if (!isErrorObject(thrown)) return show(thrown)
    return String(thrown.message || (thrown as { code?: unknown }).code || thrown.name)
  } catch {
    // Getters and proxies may throw in turn; the check has failed all the same.
    return 'the check threw a value that cannot be read'
  }
}
