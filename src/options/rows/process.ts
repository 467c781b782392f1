import { isAbortSignal } from '../../base/checked.ts'
import { defineOptions, option } from '../kit/define.ts'
import { choice, value } from '../kit/kinds.ts'
import { areSignals, SIGNALS_ALLOWED, SIGNALS_DEFAULT, type SignalsOption, whyNotSignals } from './stop-signals.ts'

/** What `run()` does with the process. */
export const PROCESS_OPTIONS = defineOptions({
  /**
   * `explicit` ends the process when it is still alive 1 s after `run()` is done, or shortly before
   * the deadline if that is sooner, or at once when the budget has cut something; `natural` does
   * not.
   * @default explicit
   */
  exit: option(choice('explicit', 'natural'), {
    default: 'explicit',
    meaning:
      'explicit: end the process 1s after run() is done if it still lives, sooner when the deadline comes, at once when it has cut something; natural: leave that to the program',
  }),
  /**
   * OS signals that stop what `run()` runs. A list replaces the default, and an empty one is none;
   * `{ add: ['SIGUSR2'], skip: ['SIGHUP'] }` changes it. The second one, whichever it is, means
   * "now".
   * @default SIGTERM, SIGINT and SIGHUP; on Windows SIGBREAK, too
   */
  signals: option(
    { ...value<SignalsOption>(SIGNALS_ALLOWED, areSignals), remark: whyNotSignals },
    {
      defaultWords: SIGNALS_DEFAULT,
      meaning: 'OS signals that stop what run() runs: these and no others, or the default with some more (add) and without some (skip)',
    },
  ),
  /**
   * Aborting it stops the life, whether `run()` or `start()` has begun it; aborted before, it keeps
   * the life from serving.
   * @default none
   */
  signal: option(value<AbortSignal>('an AbortSignal', isAbortSignal), { defaultWords: 'none', meaning: 'Aborting it is a stop request' }),
})
