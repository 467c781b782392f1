import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP, SocketAddress } from 'node:net'
import {
  DER_TRUE,
  derBits,
  derInteger,
  derOctets,
  derOid,
  derSequence,
  derSet,
  derTagged,
  derTaggedParts,
  derTime,
  derUtf8,
} from './der.ts'
import { DAY_MS } from './expiry.ts'

/** What browsers still take of a certificate that was trusted by hand: below 825 days. */
export const SELF_SIGNED_DAYS = 365

const ECDSA_WITH_SHA256 = derSequence(derOid('1.2.840.10045.4.3.2'))
const COMMON_NAME = derOid('2.5.4.3')
const SUBJECT_KEY = derOid('2.5.29.14')
const KEY_USAGE = derOid('2.5.29.15')
const ALTERNATIVE_NAMES = derOid('2.5.29.17')
const CONSTRAINTS = derOid('2.5.29.19')
const AUTHORITY_KEY = derOid('2.5.29.35')
const EXTENDED_KEY_USAGE = derOid('2.5.29.37')
const SERVER_AUTH = derOid('1.3.6.1.5.5.7.3.1')
const CLIENT_AUTH = derOid('1.3.6.1.5.5.7.3.2')
/** digitalSignature and keyCertSign: it signs itself, and those who trust it check that it may. */
const USAGE = derBits(Buffer.from([0b1000_0100]), 2)

/**
 * A certificate for these names that signs itself, with a new key (EC P-256), as PEM: for
 * development, and where the client is told to trust exactly this one.
 * @param names DNS names and IP addresses; the first is its common name
 * @param now milliseconds since the epoch
 * @param isClients whether a client may show it, too
 */
export function selfSigned(
  names: readonly [string, ...string[]],
  now: number,
  days = SELF_SIGNED_DAYS,
  isClients = false,
): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  // Of the key itself, which follows its algorithm.
  const keyId = createHash('sha1').update(spki.subarray(-65)).digest()
  const name = derSequence(derSet(derSequence(COMMON_NAME, derUtf8(names[0]))))
  const body = derSequence(
    derTaggedParts(0, derInteger(Buffer.from([2]))),
    derInteger(serialNumber()),
    ECDSA_WITH_SHA256,
    name,
    derSequence(derTime(now), derTime(now + days * DAY_MS)),
    name,
    spki,
    derTaggedParts(
      3,
      derSequence(
        extension(CONSTRAINTS, derSequence(DER_TRUE), 'critical'),
        extension(KEY_USAGE, USAGE, 'critical'),
        extension(EXTENDED_KEY_USAGE, derSequence(SERVER_AUTH, ...(isClients ? [CLIENT_AUTH] : []))),
        extension(SUBJECT_KEY, derOctets(keyId)),
        extension(AUTHORITY_KEY, derSequence(derTagged(0, keyId))),
        extension(ALTERNATIVE_NAMES, derSequence(...names.map(alternativeName))),
      ),
    ),
  )
  const certificate = derSequence(body, ECDSA_WITH_SHA256, derBits(sign('sha256', body, privateKey)))
  return { cert: pem('CERTIFICATE', certificate), key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) }
}

/** Above zero, and of less than 20 bytes. */
const serialNumber = (): Buffer => Buffer.concat([Buffer.from([1]), randomBytes(15)])

const extension = (id: Buffer, content: Buffer, how?: 'critical'): Buffer => derSequence(id, ...(how ? [DER_TRUE] : []), derOctets(content))

const alternativeName = (name: string): Buffer => (isIP(name) ? derTagged(7, addressBytes(name)) : derTagged(2, Buffer.from(name, 'ascii')))

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // In its shortest form there is one gap at most.
  const { address: shortest } = new SocketAddress({ address, family: 'ipv6' })
  const [before = '', after = ''] = shortest
    .replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...digits: string[]) => hexGroups(digits))
    .split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [head, tail] = [groups(before), groups(after)]
  const gap = Array<string>(8 - head.length - tail.length).fill('0')
  return Buffer.from([...head, ...gap, ...tail].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]))
}

/** `::ffff:10.0.0.1` ends in decimals. */
function hexGroups([a, b, c, d]: readonly string[]): string {
  return `${(Number(a) * 256 + Number(b)).toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`
}

function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
