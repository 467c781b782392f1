import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

/**
 * Which certificate a client gets: pure rules on names.
 * @see kubernetes/apiserver pkg/server/dynamiccertificates/named_certificates.go
 */

/** The names that one certificate is entered under. */
export interface Entry {
  /** The names that were given for it; without any, those in the certificate count. */
  readonly names: readonly string[] | undefined
  readonly inCertificate: readonly string[]
}

/**
 * The place in the list of the certificate for each name. Explicit names win over those in
 * certificates, and the first of equals.
 */
export function nameTable(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const table = new Map<string, number>()
  const enter = (names: readonly string[], place: number): void => {
    for (const name of names.map(canonicalName)) if (!table.has(name)) table.set(name, place)
  }
  for (const [place, { names }] of entries.entries()) enter(names ?? [], place)
  for (const [place, { names = [], inCertificate }] of entries.entries()) if (names.length === 0) enter(inCertificate, place)
  return table
}

/** The place of a name in the table: exactly, then with `*` for its first label. */
export function indexOfName(table: ReadonlyMap<string, number>, name: string): number | undefined {
  const wanted = canonicalName(name)
  return table.get(wanted) ?? table.get(wanted.replace(/^[^.]*/, '*'))
}

const SUBDOMAIN_LENGTH_MAX = 253
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/**
 * What a certificate says it is for, as far as clients can ask for it: its common name, if that is
 * a DNS name, and its DNS names. Clients do not ask for IP addresses.
 */
export function namesIn(certificate: X509Certificate): string[] {
  const { CN: common } = certificate.toLegacyObject().subject as { readonly CN?: string | readonly string[] }
  const name = typeof common === 'string' ? common : common?.at(-1)
  const dns = dnsNamesIn(certificate.subjectAltName)
  return name !== undefined && isAskedFor(name) ? [name, ...dns] : dns
}

function isAskedFor(common: string): boolean {
  if (common === '*') return true
  const name = common.replace(/^\*\./, '')
  return isIP(common) === 0 && name.length <= SUBDOMAIN_LENGTH_MAX && SUBDOMAIN.test(name)
}

/** `DNS:a.test, IP Address:10.0.0.1, DNS:"b, c"`: what could be taken for more is a JSON text. */
const dnsNamesIn = (alternatives = ''): string[] =>
  Array.from(alternatives.matchAll(/(?:^|, )(?:(DNS):)?("(?:[^"\\]|\\.)*"|[^,]*)/g), ([, kind, text = '']) => {
    if (kind === undefined) return []
    return text.startsWith('"') ? (JSON.parse(text) as string) : text
  }).flat()

/** A name in one spelling: small letters, and an IP address as sockets have it. */
export function canonicalName(name: string): string {
  const small = name.toLowerCase()
  if (isIP(small) !== 6) return small
  const mapped = small.replace(/^::ffff:(?=\d+\.)/, '')
  return isIP(mapped) === 4 ? mapped : new URL(`http://[${small}]`).hostname.slice(1, -1)
}
