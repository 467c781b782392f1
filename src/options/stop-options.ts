import { type Duration, parseDuration } from '../base/duration.ts'
import { optionError } from '../base/errors.ts'
import { checkFields } from '../base/fields.ts'
import { LIFECYCLE_OPTIONS } from './tables.ts'

/** What a program says when it stops a life. */
export interface StopOptions {
  /** Stands in the report. Default: `stop() was called`. */
  readonly reason?: string | undefined
  /** Ends by force, in this step and with exit code 1, as a second OS signal does; also a stop that is under way. Default false. */
  readonly now?: boolean | undefined
  /**
   * Time from this call to the end by force, at least 100 ms. It shortens the option `deadline`, delay, hooks, drain and reserves in
   * proportion, and never extends it. Of a stop that is under way it changes nothing: `now` does.
   */
  readonly deadline?: Duration | undefined
}

export interface ReadStopOptions {
  readonly reason: string
  readonly now: boolean
  readonly deadlineMs: number | undefined
}

const REASON_DEFAULT = 'stop() was called'

/** @throws QuiesceError ERR_OPTION_INVALID */
export function readStopOptions(given: string | StopOptions | undefined): ReadStopOptions {
  const options = typeof given === 'string' ? { reason: given } : (given ?? {})
  if (typeof options !== 'object' || Array.isArray(options))
    throw optionError('stop', given, 'a reason as text, or { reason, now, deadline }')
  checkFields('stop()', options, ['reason', 'now', 'deadline'])
  const { reason = REASON_DEFAULT, now = false, deadline } = options
  if (typeof reason !== 'string') throw optionError('reason of stop()', reason, 'text')
  if (typeof now !== 'boolean') throw optionError('now of stop()', now, 'true or false')
  const deadlineMs = deadline === undefined ? undefined : parseDuration('deadline of stop()', deadline)
  if (deadline !== undefined && !LIFECYCLE_OPTIONS.deadline.accepts(deadline))
    throw optionError('deadline of stop()', deadline, LIFECYCLE_OPTIONS.deadline.allowed)
  return { reason, now, deadlineMs }
}
