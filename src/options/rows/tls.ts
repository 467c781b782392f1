import { defineOptions, type Kind, option, type ResolvedOf, type UserOptions } from '../kit/define.ts'
import { choice, duration, fields, file, listOf, onOff, text } from '../kit/kinds.ts'
import type { Wrong } from '../kit/wrong.ts'

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

const passphrase = (flag?: string) =>
  option(
    { ...text('a text'), placeholder: 'PASSPHRASE' },
    {
      ...(flag !== undefined && { flag }),
      turnsOn: false,
      secret: true,
      defaultWords: 'none: the key is not encrypted',
      meaning: 'What an encrypted private key is opened with; better as an environment variable, which other users do not see',
    },
  )

const name = 'a DNS name like api.example.com, *.example.com, or an IP address'
const NAME = /^(\*|[\w-]+)(\.[\w-]+)*$|^[\da-f.:]+$/i

export const SNI_OPTIONS = defineOptions({
  /**
   * The certificate, and those that lead to its CA.
   * @default none
   */
  cert: option(pem(), { defaultWords: 'none', meaning: 'Certificate, and those that lead to its CA' }),
  /** @default none */
  key: option(pem(), { defaultWords: 'none', meaning: 'Its private key', secret: true }),
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
function wrongPair(pair: Readonly<Record<string, unknown>>): Wrong | undefined {
  const isGiven = (name: string): boolean => pair[name] !== undefined
  for (const name of ['cert', 'key']) {
    if (isGiven(name) && isGiven(`${name}File`))
      return { path: `.${name}`, given: name === 'key' ? pair[name] : 'PEM', allowed: 'none', beside: `.${name}File` }
  }
  for (const [name, other, allowed] of HALVES) {
    if (!isGiven(name) && isGiven(other)) return { path: `.${name}`, given: undefined, allowed, beside: `.${other}` }
  }
  return undefined
}

/** The fields of a certificate, each with the half that needs it. */
const HALVES = [
  ['key', 'cert', `${PEM_ALLOWED},`],
  ['cert', 'key', `${PEM_ALLOWED},`],
  ['keyFile', 'certFile', 'a file name,'],
  ['certFile', 'keyFile', 'a file name,'],
] as const

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
  return {
    ...kind,
    resolve: (given) => given.map((entry) => SNI_ENTRY.resolve(entry)),
    fromText: (given) => sniOf(typeof given === 'string' ? given.split(SNI_JOINT) : given),
    joint: SNI_JOINT,
    allowedAsText: 'CERT,KEY or CERT,KEY:NAME,NAME; several with ; between them, or by several flags',
    placeholder: 'CERT,KEY:NAMES',
    itemFields: SNI_OPTIONS,
  }
}

const SNI_JOINT = ';'

/**
 * `tls.crt,tls.key:*.example.com,example.com`, as upstream writes it; undefined when one of them is
 * not that.
 * @see kubernetes/component-base cli/flag/namedcertkey_flag.go Set
 */
function sniOf(texts: unknown): readonly SniOptions[] | undefined {
  if (!Array.isArray(texts) || texts.length === 0) return undefined
  const entries = texts.map((entry: unknown) => {
    const text = typeof entry === 'string' ? entry : ''
    const [, certFile, keyFile, , names] = /^\s*([^,:]+?)\s*,\s*([^,:]+?)\s*(:(.+))?$/.exec(text) ?? []
    return certFile === undefined ? undefined : { certFile, keyFile, names: names?.split(',').map((one) => one.trim()) }
  })
  return entries.includes(undefined) ? undefined : (entries as readonly SniOptions[])
}

/** Upstream's names are understood where only text can be written. */
const version = (): Kind<'TLSv1.2' | 'TLSv1.3', 'TLSv1.2' | 'TLSv1.3', 'choice'> => {
  const kind = choice('TLSv1.2', 'TLSv1.3')
  const ours = (given: unknown): unknown => (typeof given === 'string' ? given.replace(/^VersionTLS(\d)(\d)$/, 'TLSv$1.$2') : given)
  return { ...kind, fromText: (given) => kind.fromText?.(ours(given)) }
}

const NO_CLIENT_CA = 'none: clients are asked for no certificate'

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
  key: option(pem(), { defaultWords: 'none', meaning: 'Its private key', secret: true }),
  /**
   * The same as a file, which is watched; with `keyFile`, and instead of `cert` and `key`.
   * @default none
   */
  certFile: option(file(), {
    defaultWords: 'none',
    flag: 'tls-cert-file',
    meaning: 'File of the certificate, watched: a new one is served without a restart',
    upstream: '--tls-cert-file',
  }),
  /** @default none */
  keyFile: option(file(), {
    defaultWords: 'none',
    flag: 'tls-private-key-file',
    meaning: 'File of its private key, watched like the certificate',
    upstream: '--tls-private-key-file',
  }),
  /** @default none: the key is not encrypted */
  passphrase: passphrase('tls-private-key-passphrase'),
  /**
   * Further certificates by name. Explicit names win over those in certificates, and the first of
   * equals.
   * @default none
   */
  sni: option(sni(), {
    flag: 'tls-sni-cert-key',
    default: [],
    meaning: 'Further certificates, each for names of its own, or for those that stand in it',
    upstream: '--tls-sni-cert-key',
  }),
  /**
   * A pair is made at the start, for localhost and the host of the listener: for development.
   * @default false
   */
  selfSigned: option(onOff(), {
    flag: 'tls-self-signed',
    default: false,
    meaning: 'Make a certificate at the start that signs itself: for development',
  }),
  /**
   * Clients are asked for a certificate that leads to one of these.
   * @default none: clients are asked for no certificate
   */
  clientCa: option(pem(), { defaultWords: NO_CLIENT_CA, meaning: 'Certificates that those of clients have to lead to' }),
  /**
   * The same as a file, which is watched.
   * @default none: clients are asked for no certificate
   */
  clientCaFile: option(file(), {
    defaultWords: NO_CLIENT_CA,
    flag: 'client-ca-file',
    meaning: 'File of the certificates that those of clients have to lead to, watched',
    upstream: '--client-ca-file',
  }),
  /**
   * Who turns clients away that have no such certificate: with `require` the handshake does; with
   * `request` your application, which looks at `request.socket.authorized` and
   * `getPeerCertificate()`.
   * @default require
   */
  clientCertificates: option(choice('require', 'request'), {
    flag: 'client-certificates',
    turnsOn: false,
    default: 'require',
    meaning: 'With a client CA: require refuses clients without a certificate of it, request lets your application decide',
    needs: {
      anyOf: ['clientCa', 'clientCaFile'],
      otherwise: 'refused',
      because: 'without it no client is asked for a certificate, and all are let in',
      when: (who) => who === 'require',
    },
  }),
  /**
   * Whether the start goes on when a file is not there yet, or cannot be used: handshakes fail, and
   * `/readyz`, until it can.
   * @default false: the start fails
   */
  waitForFiles: option(onOff(), {
    flag: 'tls-wait-for-files',
    turnsOn: false,
    default: false,
    defaultWords: (off) => `${off}: the start fails`,
    meaning: 'Whether the start goes on without files that cannot be used yet; handshakes and readyz fail until they can',
    needs: { anyOf: ['certFile', 'sni', 'clientCaFile'], otherwise: 'without effect', because: 'there are no files to wait for' },
  }),
  /**
   * How long before its end a certificate is warned about, in the log and the report; 0: when it
   * has expired.
   * @default a tenth of its life, at most 7 days
   */
  expiryWarning: option(duration(), {
    flag: 'tls-expiry-warning',
    turnsOn: false,
    defaultWords: 'a tenth of its life, at most 7 days',
    meaning: 'How long before its end a certificate causes a warning; 0 warns when it has expired',
  }),
  /**
   * How long before its end `/readyz` fails, in the check `certificates`; 0: when it has expired.
   * @default never
   */
  expiryUnready: option(duration(), {
    flag: 'tls-expiry-unready',
    turnsOn: false,
    defaultWords: 'never',
    meaning: 'How long before the end of a certificate readyz fails; 0 is when it has expired',
  }),
  /**
   * Oldest version of TLS that is accepted.
   * @default TLSv1.2
   */
  minVersion: option(version(), {
    flag: 'tls-min-version',
    turnsOn: false,
    default: 'TLSv1.2',
    meaning: 'Oldest version that is accepted',
    upstream: '--tls-min-version',
  }),
})

/** Certificates of a listener, and what is asked of its clients. */
export interface TlsOptions extends UserOptions<typeof TLS_OPTIONS> {}
export type ResolvedTls = ResolvedOf<typeof TLS_OPTIONS>

const TLS_ALLOWED = "{ cert, key }, { certFile, keyFile } or { selfSigned: true }, and more, or 'self-signed'"
/** The flags by which there is a certificate. */
export const TLS_FLAGS = '--tls-cert-file with --tls-private-key-file, --tls-sni-cert-key, or --tls-self-signed'

/** `'self-signed'` is short for a pair that is made at the start. */
export const tls = (): Kind<TlsOptions | 'self-signed', ResolvedTls, 'value'> => {
  const kind = fields(TLS_OPTIONS, { allowed: TLS_ALLOWED, together: wrongTogether })
  const longOf = (given: TlsOptions | 'self-signed'): TlsOptions => (given === 'self-signed' ? { selfSigned: true } : given)
  return {
    ...kind,
    allowedAsText: TLS_FLAGS,
    accepts: (given) => given === 'self-signed' || kind.accepts(given),
    resolve: (given) => kind.resolve(longOf(given)),
    show: (given) => kind.show(longOf(given)),
  }
}

function wrongTogether(given: Readonly<Record<string, unknown>>): Wrong | undefined {
  const { selfSigned, sni: entries, clientCa, clientCaFile } = given
  const wrong = wrongPair(given)
  if (wrong) return wrong
  if (selfSigned === true && hasPair(given))
    return { path: '.selfSigned', given: true, allowed: 'none', beside: given['certFile'] === undefined ? '.cert' : '.certFile' }
  if (clientCa !== undefined && clientCaFile !== undefined)
    return { path: '.clientCa', given: 'PEM', allowed: 'none', beside: '.clientCaFile' }
  const hasSni = Array.isArray(entries) && entries.length > 0
  if (hasPair(given) || hasSni || selfSigned === true) return undefined
  const [name] = Object.keys(given).filter((each) => given[each] !== undefined && !SERVING.includes(each))
  if (name === undefined) return { path: '', given, allowed: TLS_ALLOWED }
  const allowed = (ways: string): string => `only with a certificate: ${ways}`
  return { path: `.${name}`, given: given[name], allowed: allowed(TLS_ALLOWED), allowedAsText: allowed(TLS_FLAGS) }
}

/** What there may be a certificate by, empty or false as it may be. */
const SERVING: readonly string[] = ['sni', 'selfSigned']
