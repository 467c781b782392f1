import { defineOptions, fields, file, listOf, option, type ResolvedOf, text, type UserOptions, type Wrong, withCommas } from '../engine.ts'

const NAME = 'a header name'
const isHeaderName = (given: unknown): boolean => typeof given === 'string' && /^[\w!#$%&'*+.^`|~-]{1,256}$/.test(given.trim())

const headerNames = () =>
  withCommas(listOf<string>('a list of header names', (given) => (isHeaderName(given) ? undefined : { path: '', given, allowed: NAME })))

const names = () =>
  withCommas(
    listOf<string>('a list of names', (given) =>
      typeof given === 'string' && given.trim() !== '' ? undefined : { path: '', given, allowed: 'a name' },
    ),
  )

const withFlag = (flag: string) => ({ flag, upstream: `--${flag}`, turnsOn: false }) as const

const NO_CA = 'none'
const PEM = 'PEM as text'

export const REQUEST_HEADER_OPTIONS = defineOptions({
  /** The CA of the front proxy, as a file, which is watched. */
  clientCaFile: option(file(), {
    ...withFlag('requestheader-client-ca-file'),
    turnsOn: true,
    defaultWords: NO_CA,
    meaning: 'File with the CA that issues the certificates of front proxies; the server watches it',
  }),
  /** The CA as a text, in place of the file. */
  clientCa: option(
    text(PEM, (given) => given.includes('-----BEGIN ')),
    {
      defaultWords: NO_CA,
      meaning: 'CA that issues the certificates of front proxies, as PEM',
    },
  ),
  /**
   * Common names that its certificate may have.
   * @default any
   */
  allowedNames: option(names(), {
    ...withFlag('requestheader-allowed-names'),
    default: [],
    defaultWords: () => 'any',
    meaning: 'Common names that certificates of front proxies may have',
  }),
  /** Headers of which the first that has a value names the user. */
  usernameHeaders: option(headerNames(), {
    ...withFlag('requestheader-username-headers'),
    default: ['X-Remote-User'],
    meaning: 'Headers with the name of the user',
  }),
  /**
   * Headers of which the first that has a value says its uid. With `X-Remote-Uid`, if any.
   * @default none
   */
  uidHeaders: option(headerNames(), {
    ...withFlag('requestheader-uid-headers'),
    default: [],
    defaultWords: () => 'none',
    meaning: 'Headers with the uid of the user',
  }),
  /** Headers whose values are its groups. */
  groupHeaders: option(headerNames(), {
    ...withFlag('requestheader-group-headers'),
    default: ['X-Remote-Group'],
    meaning: 'Headers with the groups of the user',
  }),
  /** Beginnings of headers whose values are further facts; the key stands behind them. */
  extraHeaderPrefixes: option(headerNames(), {
    ...withFlag('requestheader-extra-headers-prefix'),
    default: ['X-Remote-Extra-'],
    meaning: 'Prefixes of headers with extra fields of the user',
  }),
})

/** How a proxy in front is known, and where it says who its client is. */
export interface RequestHeaderOptions extends UserOptions<typeof REQUEST_HEADER_OPTIONS> {}
export type ResolvedRequestHeader = ResolvedOf<typeof REQUEST_HEADER_OPTIONS>

const ALLOWED = 'an object with clientCaFile or clientCa'

export const REQUEST_HEADER = fields(REQUEST_HEADER_OPTIONS, { allowed: ALLOWED, together: wrongTogether })

const UID = 'X-Remote-Uid'

/**
 * @see kubernetes/apiserver pkg/server/options/authentication.go
 * RequestHeaderAuthenticationOptions.Validate
 */
function wrongTogether({ clientCa, clientCaFile, uidHeaders }: Readonly<Record<string, unknown>>): Wrong | undefined {
  if (clientCa !== undefined && clientCaFile !== undefined)
    return { path: '.clientCa', given: 'PEM', allowed: 'none', beside: '.clientCaFile' }
  if (clientCa === undefined && clientCaFile === undefined)
    return { path: '.clientCaFile', given: undefined, allowed: 'a file name, or clientCa', allowedAsText: 'a file name' }
  const uids = (uidHeaders ?? []) as readonly string[]
  const hasUid = uids.some((name) => name.trim().toLowerCase() === UID.toLowerCase())
  return uids.length === 0 || hasUid ? undefined : { path: '.uidHeaders', given: uids, allowed: `none, or a list with ${UID}` }
}
