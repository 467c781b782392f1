import { defineOptions, type Kind, option, type ResolvedOf, type UserOptions } from './define.ts'
import { choice, fields, file, listOf, text } from './kinds.ts'
import type { Wrong } from './wrong.ts'

/** Certificates of a listener: given as text, or as files that are watched. */

const PEM_ALLOWED = 'PEM text, or a Buffer of it'

/** What is in it is looked at when the listener opens. */
const pem = (): Kind<string | Uint8Array, string, 'value'> => ({
  kind: 'value',
  allowed: PEM_ALLOWED,
  accepts: (given) => (typeof given === 'string' && given.includes('-----BEGIN ')) || given instanceof Uint8Array,
  resolve: (given) => (typeof given === 'string' ? given : new TextDecoder().decode(given)),
  show: () => 'PEM',
})

const passphrase = () =>
  option(text('a text'), { defaultWords: 'none: the key is not encrypted', meaning: 'What an encrypted private key is opened with' })

const name = 'a DNS name like api.example.com, *.example.com, or an IP address'
const NAME = /^(\*|[\w-]+)(\.[\w-]+)*$|^[\da-f.:]+$/i

export const SNI_OPTIONS = defineOptions({
  /**
   * The certificate, and those that lead to its CA.
   * @default none
   */
  cert: option(pem(), { defaultWords: 'none', meaning: 'Certificate, and those that lead to its CA' }),
  /** @default none */
  key: option(pem(), { defaultWords: 'none', meaning: 'Its private key' }),
  /**
   * The same as a file, which is watched; with `keyFile`, and instead of `cert` and `key`.
   * @default none
   */
  certFile: option(file(), { defaultWords: 'none', meaning: 'The certificate as a file, which is watched' }),
  /** @default none */
  keyFile: option(file(), { defaultWords: 'none', meaning: 'Its private key as a file, which is watched' }),
  /** @default none: the key is not encrypted */
  passphrase: passphrase(),
  /**
   * The names that it is chosen for, exactly or as `*.example.com` for all that differ in the first
   * label. IP addresses are those that a client has connected to.
   * @default those in the certificate: its DNS names, without IP addresses
   */
  names: option(
    listOf<string>(`a list of names: ${name}`, (given) =>
      typeof given === 'string' && NAME.test(given) ? undefined : { path: '', given, allowed: name },
    ),
    {
      defaultWords: 'those in the certificate: its DNS names, without IP addresses',
      meaning: 'Names that it is chosen for, exactly or as *.example.com; IP addresses are those that a client has connected to',
    },
  ),
})

/** A further certificate, for clients that ask for one of its names. */
export interface SniOptions extends UserOptions<typeof SNI_OPTIONS> {}

const SNI_ALLOWED = '{ cert, key } or { certFile, keyFile }, with passphrase? and names?'

/** Both halves of one pair, in one of two ways. */
function wrongPair({ cert, key, certFile, keyFile }: Readonly<Record<string, unknown>>): Wrong | undefined {
  const missing = (field: string, given: unknown, other: unknown, allowed: string): Wrong | undefined =>
    given === undefined && other !== undefined ? { path: `.${field}`, given, allowed } : undefined
  if (cert !== undefined && certFile !== undefined) return { path: '.cert', given: 'PEM', allowed: 'none beside certFile' }
  if (key !== undefined && keyFile !== undefined) return { path: '.key', given: 'PEM', allowed: 'none beside keyFile' }
  return (
    missing('key', key, cert, `${PEM_ALLOWED}, beside cert`) ??
    missing('cert', cert, key, `${PEM_ALLOWED}, beside key`) ??
    missing('keyFile', keyFile, certFile, 'a file name, beside certFile') ??
    missing('certFile', certFile, keyFile, 'a file name, beside keyFile')
  )
}

const hasPair = ({ cert, certFile }: Readonly<Record<string, unknown>>): boolean => cert !== undefined || certFile !== undefined

const SNI_ENTRY = fields(SNI_OPTIONS, {
  allowed: SNI_ALLOWED,
  together: (given) => wrongPair(given) ?? (hasPair(given) ? undefined : { path: '', given, allowed: SNI_ALLOWED }),
})

type ResolvedSni = ResolvedOf<typeof SNI_OPTIONS>

const sni = (): Kind<readonly SniOptions[], readonly ResolvedSni[], 'value'> => {
  const kind = listOf<SniOptions>(`a list of ${SNI_ALLOWED}`, (entry) => {
    const wrong = SNI_ENTRY.wrong?.(entry)
    return wrong?.path === '' ? { ...wrong, allowed: SNI_ALLOWED } : wrong
  })
  return { ...kind, resolve: (given) => given.map((entry) => SNI_ENTRY.resolve(entry)) }
}

export const TLS_OPTIONS = defineOptions({
  /**
   * The certificate, and those that lead to its CA: for clients that ask for no name, or for one
   * that no other certificate has.
   * @default none
   */
  cert: option(pem(), {
    defaultWords: 'none',
    meaning: 'Certificate for all names that have none of their own, and those that lead to its CA',
  }),
  /** @default none */
  key: option(pem(), { defaultWords: 'none', meaning: 'Its private key' }),
  /**
   * The same as a file, which is watched; with `keyFile`, and instead of `cert` and `key`.
   * @default none
   */
  certFile: option(file(), {
    defaultWords: 'none',
    meaning: 'File of the certificate, watched: a new one is served without a restart',
    upstream: '--tls-cert-file',
  }),
  /** @default none */
  keyFile: option(file(), {
    defaultWords: 'none',
    meaning: 'File of its private key, watched like the certificate',
    upstream: '--tls-private-key-file',
  }),
  /** @default none: the key is not encrypted */
  passphrase: passphrase(),
  /**
   * Further certificates by name. Explicit names win over those in certificates, and the first of
   * equals.
   * @default none
   */
  sni: option(sni(), { default: [], meaning: 'Further certificates, each for names of its own', upstream: '--tls-sni-cert-key' }),
  /**
   * Oldest protocol that is spoken.
   * @default TLSv1.2
   */
  minVersion: option(choice('TLSv1.2', 'TLSv1.3'), {
    default: 'TLSv1.2',
    meaning: 'Oldest version that is spoken',
    upstream: '--tls-min-version',
  }),
})

/** Certificates of a listener, and what is asked of its clients. */
export interface TlsOptions extends UserOptions<typeof TLS_OPTIONS> {}
export type ResolvedTls = ResolvedOf<typeof TLS_OPTIONS>

const TLS_ALLOWED = '{ cert, key } or { certFile, keyFile }, and more'

export const tls = (): Kind<TlsOptions, ResolvedTls, 'value'> =>
  fields(TLS_OPTIONS, {
    allowed: TLS_ALLOWED,
    together: (given) => {
      const hasSni = Array.isArray(given['sni']) && given['sni'].length > 0
      return wrongPair(given) ?? (hasPair(given) || hasSni ? undefined : { path: '', given, allowed: TLS_ALLOWED })
    },
  })
