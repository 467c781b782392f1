import { composeOptions, defineOptions, option, type UserOptions } from '#src/options/kit/define.ts'
import { choice, duration, fields, onOffOr, text } from '#src/options/kit/kinds.ts'
import { SERVER_OPTIONS } from '#src/options/rows/lifecycle.ts'

/** What a package has that brings options of its own: here one that stores events. */

export const STORE_TLS_OPTIONS = defineOptions({
  /** @default none: it has to be given */
  key: option(text('a file name'), { flag: 'store-tls-key', turnsOn: false, defaultWords: 'none: it has to be given', meaning: 'Key' }),
  /** @default 10s */
  handshake: option(duration(), { flag: 'store-tls-handshake', default: '10s', meaning: 'Longest time of a handshake' }),
})

export const STORE_OPTIONS = defineOptions({
  /**
   * Time between two compactions.
   * @default 5m on Kubernetes, else 1m; 0s after Ctrl-C on a terminal
   */
  compactAfter: option(duration(), {
    flag: 'compact-after',
    env: 'STORE_COMPACT_AFTER',
    default: '1m',
    on: { kubernetes: '5m', terminal: '0s' },
    meaning: 'Time between two compactions',
  }),
  /**
   * When a write counts as done.
   * @default buffered
   */
  writes: option(choice('buffered', 'synced'), {
    flag: 'sync-writes',
    switch: { on: 'synced', off: 'buffered', meaning: 'Sync every write' },
    default: 'buffered',
    meaning: 'When a write counts as done',
  }),
  /**
   * How the store is reached.
   * @default false
   */
  storeTls: option(onOffOr(fields(STORE_TLS_OPTIONS, { allowed: '{ key?, handshake? }' })), {
    flag: 'store-tls',
    default: false,
    meaning: 'Reach the store by TLS',
  }),
})

export interface StoreOptions extends UserOptions<typeof STORE_OPTIONS> {}
/** @public docstrings.test.ts finds it by its name */
export interface StoreTlsOptions extends UserOptions<typeof STORE_TLS_OPTIONS> {}

/** The server's options and the package's. */
export const ALL_OPTIONS = composeOptions(SERVER_OPTIONS, STORE_OPTIONS)

/** Comments that say something else than their rows, or nothing. */
export const LYING_OPTIONS = defineOptions({
  /**
   * Time between two compactions.
   * @default 60s
   */
  compactAfter: option(duration(), { default: '30s', meaning: 'Time between two compactions' }),
  /** When a write counts as done. */
  writes: option(choice('buffered', 'synced'), { default: 'buffered', meaning: 'When a write counts as done' }),
})

/** @public docstrings.test.ts finds it by its name */
export interface LyingOptions extends UserOptions<typeof LYING_OPTIONS> {}
