import { composeOptions, defineOptions } from '../kit/define.ts'
import { GATE_OPTIONS } from './gate.ts'
import { LIFE_HEALTH_OPTIONS } from './health.ts'
import { DISABLED_HOOK_OPTIONS, HOOK_OPTIONS } from './hooks.ts'
import { LISTEN_OPTIONS } from './listeners.ts'
import { OUTPUT_OPTIONS } from './output.ts'
import { OWN_LISTENER_OPTIONS } from './own-listeners.ts'
import { PROCESS_OPTIONS } from './process.ts'
import { REQUEST_OPTIONS } from './requests.ts'
import { STOPPING_OPTIONS } from './stop.ts'
import { WORDING_OPTIONS } from './wording.ts'

/**
 * Every option, once, in the files of this folder: its default, what it may be, what it means, its
 * flag. Where the default depends on other options, times.ts works it out. The comment above a row
 * is what editors show with the option; its `@default` is compared with the row by
 * test/options/docstrings.test.ts. The order is that of the documentation.
 */

/** Options of every lifecycle. */
export const LIFECYCLE_OPTIONS = defineOptions({
  ...STOPPING_OPTIONS,
  ...REQUEST_OPTIONS,
  ...LIFE_HEALTH_OPTIONS,
  ...HOOK_OPTIONS,
  ...GATE_OPTIONS,
  ...OWN_LISTENER_OPTIONS,
  ...OUTPUT_OPTIONS,
  ...PROCESS_OPTIONS,
  ...DISABLED_HOOK_OPTIONS,
  ...WORDING_OPTIONS,
})

/** Options of a server that quiesce creates. */
export const SERVER_OPTIONS = composeOptions(LISTEN_OPTIONS, LIFECYCLE_OPTIONS)
