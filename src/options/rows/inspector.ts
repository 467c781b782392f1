import { defineOptions, type Kind, option, type ResolvedOf, type UserOptions } from '../kit/define.ts'
import { ADDRESS_ALLOWED, addressOf, fields, host, onOff, onOffOr, port, text, value } from '../kit/kinds.ts'
import { LOOPBACK } from './address.ts'

const TOKEN_ALLOWED = 'at least 16 letters, digits and -._~+/='

export const INSPECTOR_OPTIONS = defineOptions({
  /**
   * Port of the page; 0 is any free one, which the log names.
   * @default 0
   */
  port: option(port(), { default: 0, meaning: 'Port of the page' }),
  /**
   * Address of the page. On any other but a loopback address requests need the token.
   * @default 127.0.0.1
   */
  host: option(host(), { default: LOOPBACK, meaning: 'Address of the page; all but loopback addresses need its token' }),
  /**
   * The token, at least 16 letters, digits and `-._~+/=`. It stands in URLs and in a cookie; a
   * shorter one is guessed.
   * @default a new one where it is needed, logged once
   */
  token: option(
    { ...text(TOKEN_ALLOWED, (given) => /^[\w.~+/=-]{16,}$/.test(given)), placeholder: 'TOKEN' },
    {
      flag: 'inspector-token',
      turnsOn: false,
      secret: true,
      defaultWords: 'a new one where it is needed, logged once',
      meaning: 'Token that a browser has to send to the inspector; better as an environment variable, which other users do not see',
    },
  ),
  /**
   * Whether the page may begin the shutdown.
   * @default false
   */
  actions: option(onOff(), { default: false, meaning: 'Whether the page may begin the shutdown' }),
  /**
   * Puts some load on the server; the page's button for it begins the shutdown in the middle. Needs
   * `actions`.
   * @default none
   */
  drill: option(
    value<() => unknown>('a function', (given) => typeof given === 'function'),
    {
      defaultWords: 'none',
      meaning: 'Puts some load on the server; a button of the page calls it and begins the shutdown in the middle',
    },
  ),
})

/**
 * The inspector: a page, and streams for tools, on a listener of its own which closes last of all.
 */
export interface InspectorOptions extends UserOptions<typeof INSPECTOR_OPTIONS> {}
export interface ResolvedInspector extends ResolvedOf<typeof INSPECTOR_OPTIONS> {}

/** Whether there is a page, and where. */
export const inspector = (): Kind<boolean | InspectorOptions, ResolvedInspector | undefined, 'value'> => ({
  ...onOffOr(fields(INSPECTOR_OPTIONS, { allowed: `{ port?, host?, token?, actions?, drill? } with a token of ${TOKEN_ALLOWED}` })),
  jointFlags: [
    {
      flag: 'inspector-address',
      fromText: addressOf,
      allowed: ADDRESS_ALLOWED,
      defaultWords: `${INSPECTOR_OPTIONS.host.default}:${INSPECTOR_OPTIONS.port.default}, a free port`,
      meaning: 'Address of the inspector, which it turns on; all but loopback addresses need its token',
    },
  ],
})
