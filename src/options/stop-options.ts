import { isErrorObject, optionError } from '../base/errors.ts'
import { isFieldsOnly } from '../base/records.ts'
import { defineOptions, option, type ResolvedOf, resolveOptions, type UserOptions } from './kit/define.ts'
import { onOff, value } from './kit/kinds.ts'
import { Problems } from './kit/problems.ts'
import { timeToTheEnd } from './rows/stop.ts'

export const STOP_OPTIONS = defineOptions({
  /**
   * Stands in the report.
   * @default stop() was called
   */
  reason: option(
    { ...value<string>('text', (given) => typeof given === 'string'), show: (given) => given },
    { default: 'stop() was called', meaning: 'Stands in the report' },
  ),
  /**
   * Ends by force, in this step and with exit code 1, as a second OS signal does; also a stop that
   * is under way.
   * @default false
   */
  now: option({ ...onOff(), allowed: 'true or false' }, { default: false, meaning: 'Ends by force, at once' }),
  /**
   * Time from this call to the end by force, at least 100 ms. It shortens the option `deadline`,
   * delay, hooks, drain and reserves in proportion, and never extends it. Of a stop that is under
   * way it changes nothing: `now` does.
   * @default the option deadline
   */
  deadline: option(timeToTheEnd(), { defaultWords: 'the option deadline', meaning: 'Time from this call to the end by force' }),
})

/** What a program says when it stops a life. */
export interface StopOptions extends UserOptions<typeof STOP_OPTIONS> {}

/** @throws QuiesceError ERR_OPTION_INVALID with one line for every problem */
export function readStopOptions(given: string | StopOptions | undefined): ResolvedOf<typeof STOP_OPTIONS> {
  const options = typeof given === 'string' ? { reason: given } : (given ?? {})
  // What it says is none of its fields: the reason would be lost.
  if (isError(options)) throw optionError('stop', given, `${ALLOWED}; of an error give the message`)
  if (!isFieldsOnly(options)) throw optionError('stop', given, ALLOWED)
  const problems = new Problems(STOP_OPTIONS, { label: (name) => `${name} of stop()` })
  const usable: StopOptions = problems.checkEach(options)
  problems.throwIfAny()
  return resolveOptions(STOP_OPTIONS, usable)
}

const ALLOWED = 'a reason as text, or { reason, now, deadline }'

function isError(given: unknown): boolean {
  try {
    return isErrorObject(given)
  } catch {
    return false
  }
}
