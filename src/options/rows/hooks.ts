import { RESERVES_DEFAULT_MS, type Reserves } from '../../base/stop-profile.ts'
import { ASKED_SHARE_MAX, DEADLINE_SHARE_MAX, HOOKS_SHARE_MAX, RESERVES_SHARE_MAX } from '../budget.ts'
import { defineOptions, type Kind, option, type UserOptions } from '../kit/define.ts'
import { fraction } from '../kit/fraction.ts'
import { choice, duration, durations, isText, setOf } from '../kit/kinds.ts'

const reserve = (name: keyof typeof RESERVES_DEFAULT_MS, what: string) =>
  option(duration('1ms'), { default: RESERVES_DEFAULT_MS[name], meaning: `Time kept free for ${what}` })

export const RESERVE_OPTIONS = defineOptions({
  /** @default 250ms */
  connections: reserve('connections', 'connections that are closing'),
  /** @default 1s */
  audit: reserve('audit', 'the audit backend'),
  /** @default 2s */
  destroy: reserve('destroy', 'destroy functions'),
  /** @default 500ms */
  flush: reserve('flush', 'the report and the log'),
})

/** Time that the budget keeps free for the late phases. */
export interface ReserveOptions extends UserOptions<typeof RESERVE_OPTIONS> {}

const reserves = (): Kind<ReserveOptions, Reserves, 'durations'> =>
  durations(RESERVE_OPTIONS, { allowed: `an object of ${Object.keys(RESERVE_OPTIONS).join(', ')}, each a duration of at least 1ms` })

/** Hooks, destroy functions, and the time that is kept for what comes last. */
export const HOOK_OPTIONS = defineOptions({
  /**
   * Longest time of a hook that states none itself; above 0. Hooks run one after the other, unless
   * their `after` says otherwise.
   * @default 5s, at most a third of the deadline and four fifths of the hooks' time in the budget
   */
  hookTimeout: option(duration('1ms'), {
    default: '5s',
    defaultWords: (longest) =>
      `${longest}, at most ${fraction(DEADLINE_SHARE_MAX)} of the deadline and ${fraction(HOOKS_SHARE_MAX)} of the hooks' time in the budget`,
    meaning: 'Longest time of a hook without a timeout of its own; hooks run one after the other, unless their after says otherwise',
  }),
  /**
   * The order of destroy functions that name no other: as registered, which is upstream's, or the
   * last one first.
   * @default registration
   */
  destroyOrder: option(choice('registration', 'reverse'), {
    default: 'registration',
    meaning: 'Order in which destroy functions run that name no other in after; reverse closes what was opened last first',
  }),
  /**
   * Time that the budget keeps free for the late phases. What is given is kept whole, together at
   * most nine tenths of a given deadline; the others are scaled. Nothing is kept for `audit`
   * without a backend, nor for `destroy` without a destroy function, as of StopRequested.
   * @default connections 250ms, audit 1s, destroy 2s, flush 500ms; scaled when together more than
   * half the deadline
   */
  reserves: option(reserves(), {
    default: {},
    defaultWords: (each) => `${each}; scaled when together more than ${fraction(RESERVES_SHARE_MAX)} the deadline`,
    meaning: `Part of the deadline that is kept for the late phases; what you give is kept whole, up to ${fraction(ASKED_SHARE_MAX)} of the deadline; audit and destroy have a part only if something is registered for them at the stop request`,
  }),
})

/** Hooks that are not run. */
export const DISABLED_HOOK_OPTIONS = defineOptions({
  /**
   * Names of post-start hooks that are not run.
   * @default none
   */
  disabledPostStartHooks: option(setOf<string>('a list of names', isText), {
    default: [],
    meaning: 'Post-start hooks that are not run',
    upstream: 'DisabledPostStartHooks',
  }),
})
