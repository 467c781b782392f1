import { composeOptions, defineOptions, option } from '../options/define.ts'
import { present, text } from '../options/kinds.ts'
import { LIFECYCLE_OPTIONS } from '../options/lifecycle-options.ts'
import { LIFE_MODULE_ALLOWED } from './life-module.ts'

const {
  shutdownDelay,
  lastCall,
  whileDraining,
  watchGrace,
  deadline,
  crashDeadline,
  requestDrainTimeout,
  connectionTimeout,
  tell,
  requestTimeout,
} = LIFECYCLE_OPTIONS

/** The flags of `quiesce serve` that a plan depends on. */
export const TIME_OPTIONS = defineOptions({
  shutdownDelay,
  lastCall,
  whileDraining,
  watchGrace,
  deadline,
  crashDeadline,
  requestDrainTimeout,
  connectionTimeout,
  tell,
  requestTimeout,
})

export const PLAN_OPTIONS = defineOptions({
  config: option(text(LIFE_MODULE_ALLOWED), {
    flag: 'config',
    defaultWords: 'a server without hooks',
    meaning: 'The life whose plan is printed',
  }),
  json: option(present(), { flag: 'json', default: false, meaning: 'Print one JSON document, with all times in milliseconds' }),
})

/** All that the command line may say. */
export const PLAN_FLAGS = composeOptions(PLAN_OPTIONS, TIME_OPTIONS)
