import { composeOptions, defineOptions, option, pickOptions } from '../options/kit/define.ts'
import { present } from '../options/kit/kinds.ts'
import { LIFECYCLE_OPTIONS } from '../options/rows/lifecycle.ts'
import { lifeModule } from './life-module.ts'

/** What decides how long a drain may take, in the order in which one decides about it. */
export const DRAIN_OPTIONS = [
  'behind',
  'shutdownDelay',
  'lastCall',
  'whileDraining',
  'watchGrace',
  'deadline',
  'killAfter',
  'crashDeadline',
  'requestDrainTimeout',
  'connectionTimeout',
  'notifyClients',
] as const

/** The flags of `quiesce serve` that a plan depends on. */
export const TIME_OPTIONS = pickOptions(LIFECYCLE_OPTIONS, [...DRAIN_OPTIONS, 'requestTimeout'])

export const PLAN_OPTIONS = defineOptions({
  config: option(lifeModule(), {
    flag: 'config',
    defaultWords: 'a server without hooks',
    meaning: 'Module with the server whose plan is printed',
  }),
  json: option(present(), { flag: 'json', default: false, meaning: 'Print one JSON document, with all times in milliseconds' }),
})

/** The flags of `quiesce plan`. */
export const PLAN_FLAGS = composeOptions(PLAN_OPTIONS, TIME_OPTIONS)
