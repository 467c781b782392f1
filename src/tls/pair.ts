import { createPrivateKey, X509Certificate } from 'node:crypto'
import { QuiesceError, toError } from '../base/errors.ts'

/** A text with the place that it comes from, which messages name. */
export interface Sourced {
  /** `/etc/tls/tls.crt`, or `tls.cert` when it was given as text. */
  readonly from: string
  readonly text: string
}

/** A certificate with those that lead to its CA, and its private key; nothing of it is checked. */
export interface PairText {
  readonly cert: Sourced
  readonly key: Sourced
  readonly passphrase: string | undefined
}

/** A pair that can be served. */
export interface Pair extends PairText {
  /** The first of the chain: the one that clients look at. */
  readonly leaf: X509Certificate
  /** When the first certificate of the chain expires, in milliseconds since the epoch. */
  readonly notAfter: number
}

/** What is wrong with a file or an option, in one line. */
export const tlsError = (from: string, reason: string, cause?: unknown): QuiesceError =>
  new QuiesceError('ERR_TLS', `${from}: ${reason}`, { from, reason }, cause)

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g
const CERTIFICATE = /^(?:X509 |TRUSTED )?CERTIFICATE$/

interface Block {
  readonly label: string
  readonly text: string
}

const blocksOf = (text: string): Block[] => Array.from(text.matchAll(BLOCK), ([block, label]) => ({ label: label as string, text: block }))

/**
 * The certificates of a PEM text, in its order; texts around them are comments.
 * @throws QuiesceError ERR_TLS when there is none, or one cannot be read
 */
export function certificatesIn({ from, text }: Sourced): readonly [X509Certificate, ...X509Certificate[]] {
  if (text.trim() === '') throw tlsError(from, 'is empty')
  const blocks = blocksOf(text)
  const [first, ...rest] = blocks.filter(({ label }) => CERTIFICATE.test(label)).map((block, index) => certificateOf(from, block, index))
  if (first) return [first, ...rest]
  const isCut = text.includes('-----BEGIN CERTIFICATE-----')
  throw tlsError(from, `holds no certificate, but ${isCut ? 'the beginning of one' : describe(text, blocks)}`)
}

function certificateOf(from: string, { text }: Block, index: number): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch (thrown) {
    throw tlsError(from, `certificate ${index + 1} in it cannot be read (${reasonOf(thrown)})`, thrown)
  }
}

/**
 * Checks that a certificate and its key can be served.
 * @throws QuiesceError ERR_TLS for what cannot be read, and for a key that does not match
 */
export function checkPair(given: PairText): Pair {
  const { cert, key, passphrase } = given
  const [leaf, ...others] = certificatesIn(cert)
  const privateKey = privateKeyOf(key, passphrase)
  if (leaf.checkPrivateKey(privateKey)) return { ...given, leaf, notAfter: firstExpiry([leaf, ...others]) }
  const place = others.findIndex((other) => other.checkPrivateKey(privateKey))
  throw tlsError(
    key.from,
    place < 0
      ? `is not the key of the certificate in ${cert.from}`
      : `is the key of certificate ${place + 2} in ${cert.from}, which has to come first`,
  )
}

const firstExpiry = (chain: readonly X509Certificate[]): number => Math.min(...chain.map(({ validTo }) => Date.parse(validTo)))

function privateKeyOf({ from, text }: Sourced, passphrase: string | undefined) {
  if (text.trim() === '') throw tlsError(from, 'is empty')
  const blocks = blocksOf(text)
  if (!blocks.some(({ label }) => label.endsWith('PRIVATE KEY'))) {
    const isCut = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)
    throw tlsError(from, `holds no private key, but ${isCut ? 'the beginning of one' : describe(text, blocks)}`)
  }
  try {
    return createPrivateKey({ key: text, ...(passphrase !== undefined && { passphrase }) })
  } catch (thrown) {
    // `ENCRYPTED PRIVATE KEY`, or a header of the older format.
    if (!/ENCRYPTED/.test(text)) throw tlsError(from, `cannot be read (${reasonOf(thrown)})`, thrown)
    throw tlsError(
      from,
      passphrase === undefined ? 'is encrypted, and no passphrase is given' : 'cannot be decrypted with the passphrase',
      thrown,
    )
  }
}

/** What a text that is not what it should be looks like. */
function describe(text: string, blocks: readonly Block[]): string {
  const [first] = blocks
  if (first) return `a block ${first.label}`
  return /[^\t\n\r -~]/.test(text) ? 'no PEM text at all (DER has to be converted)' : 'no PEM text at all'
}

/** `error:0480006C:PEM routines::no start line` says no more than its end. */
export const reasonOf = (thrown: unknown): string => toError(thrown).message.replace(/^error:[\dA-F]+:[^:]*:[^:]*:/i, '')
