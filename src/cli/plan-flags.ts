import { composeOptions, defineOptions, option, pickOptions } from '../options/define.ts'
import { present } from '../options/kinds.ts'
import { LIFECYCLE_OPTIONS } from '../options/lifecycle-options.ts'
import { lifeModule } from './life-module.ts'

/** The flags of `quiesce serve` that a plan depends on. */
export const TIME_OPTIONS = pickOptions(LIFECYCLE_OPTIONS, [
  'shutdownDelay',
  'lastCall',
  'whileDraining',
  'watchGrace',
  'deadline',
  'crashDeadline',
  'requestDrainTimeout',
  'connectionTimeout',
  'tell',
  'requestTimeout',
])

export const PLAN_OPTIONS = defineOptions({
  config: option(lifeModule(), {
    flag: 'config',
    defaultWords: 'a server without hooks',
    meaning: 'The life whose plan is printed',
  }),
  json: option(present(), { flag: 'json', default: false, meaning: 'Print one JSON document, with all times in milliseconds' }),
})

/** All that the command line may say. */
export const PLAN_FLAGS = composeOptions(PLAN_OPTIONS, TIME_OPTIONS)
