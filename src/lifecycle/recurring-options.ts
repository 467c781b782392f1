import { checkFunction, checkName } from '../base/checked.ts'
import { type Duration, parseDuration } from '../base/duration.ts'
import { optionError, show } from '../base/errors.ts'
import { checkFields } from '../base/fields.ts'
import type { HoldContext } from '../http/traffic/holds.ts'
import type { RecurringOptions } from './life.ts'

const UNTIL = ['drained', 'draining'] as const

/** @throws QuiesceError as `Life.every` for what cannot be used */
export function checkedRecurring(name: unknown, period: Duration, work: unknown, given: RecurringOptions) {
  checkName('recurring work', name)
  const field = `period of every(${show(name)})`
  const periodMs = parseDuration(field, period)
  if (periodMs === 0) throw optionError(field, period, 'more than 0')
  checkFunction(`work of every(${show(name)})`, name, work)
  const { until = 'drained' } = checkFields(`every(${show(name)})`, given, ['until'])
  if (!UNTIL.includes(until)) throw optionError(`until of every(${show(name)})`, until, UNTIL.join(', '))
  return { checked: work as (context: HoldContext) => unknown, periodMs, until }
}
