// Fails when: a certificate is taken for one of a CA that it does not lead to; or one is not that
// leads there, through certificates that its client has sent, or had sent before.
import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { TrustPaths } from '#apiserver/authentication/trust-paths.ts'
import { type ClientCa, checkClientCa, NO_CLIENT_CA, unitedCa } from '#src/tls/client-ca.ts'
import { clientOf, intermediateOf, type PemPair, pairFor } from '../support/certificates.ts'

const ROOT = pairFor({ commonName: 'root' })
const OTHER = pairFor({ commonName: 'other' })
/** Of another key, and with the name of the root. */
const NAMESAKE = pairFor({ commonName: 'root' })
const MIDDLE = intermediateOf(ROOT, 'middle')
const LOWER = intermediateOf(MIDDLE, 'lower')
const DIRECT = clientOf(ROOT, 'ann')
const BELOW = clientOf(LOWER, 'ann')

const caOf = (...pairs: readonly PemPair[]): ClientCa => checkClientCa({ from: 'test', text: pairs.map(({ cert }) => cert).join('\n') })

/** As a handshake gives it: with what its client has sent behind it. */
function sent(leaf: PemPair, ...chain: readonly PemPair[]): X509Certificate {
  const certificate = new X509Certificate(leaf.cert)
  const [next, ...others] = chain
  return Object.defineProperty(certificate, 'issuerCertificate', { value: next && sent(next, ...others) })
}

const NOW = Date.now()
const leads = (leaf: X509Certificate, ca: ClientCa, wall = NOW): boolean => new TrustPaths().leadsTo(leaf, ca, wall)

describe('a certificate leads to', () => {
  test.each<[string, X509Certificate, ClientCa, boolean]>([
    ['the CA that has signed it', sent(DIRECT), caOf(ROOT), true],
    ['one of several', sent(DIRECT), caOf(OTHER, ROOT), true],
    ['none that has not', sent(DIRECT), caOf(OTHER), false],
    ['none of its name alone', sent(DIRECT), caOf(NAMESAKE), false],
    ['none when there is none', sent(DIRECT), NO_CLIENT_CA, false],
    ['the root of a chain', sent(BELOW, LOWER, MIDDLE), caOf(ROOT), true],
    ['the root of a chain that is sent in disorder', sent(BELOW, MIDDLE, LOWER), caOf(ROOT), true],
    ['a part of a chain', sent(BELOW, LOWER), caOf(MIDDLE), true],
    ['no root of a chain with a hole', sent(BELOW, MIDDLE), caOf(ROOT), false],
    ['no root of another chain', sent(BELOW, LOWER, MIDDLE), caOf(OTHER), false],
    ['itself', sent(DIRECT), caOf(DIRECT), true],
    ['no client that signs others', sent(clientOf(DIRECT, 'eve'), DIRECT), caOf(ROOT), false],
  ])('%s', (_what, leaf, ca, expected) => {
    expect(leads(leaf, ca)).toBe(expected)
  })

  test('nothing when it, or one on the way, is not valid now', () => {
    for (const wall of [NOW - 86_400_000, NOW + 31 * 86_400_000]) expect(leads(sent(BELOW, LOWER, MIDDLE), caOf(ROOT), wall)).toBe(false)
  })
})

test('a session that is resumed has its own certificate alone, and leads where it led before', () => {
  const paths = new TrustPaths()
  expect(paths.leadsTo(sent(BELOW), caOf(ROOT), NOW)).toBe(false)
  // What leads nowhere is not remembered.
  expect(paths.leadsTo(sent(BELOW, LOWER, MIDDLE), caOf(OTHER), NOW)).toBe(false)
  expect(paths.leadsTo(sent(BELOW), caOf(ROOT), NOW)).toBe(false)
  expect(paths.leadsTo(sent(BELOW, LOWER, MIDDLE), caOf(ROOT), NOW)).toBe(true)
  expect(paths.leadsTo(sent(BELOW), caOf(ROOT), NOW)).toBe(true)
  expect(paths.leadsTo(sent(BELOW), caOf(OTHER), NOW)).toBe(false)
})

test('several CAs are one, of all of their certificates', () => {
  expect(unitedCa([])).toBeUndefined()
  const both = unitedCa([caOf(ROOT), caOf(MIDDLE)]) as ClientCa
  expect([both.certificates.length, both.hasAllRoots]).toEqual([2, false])
  expect(checkClientCa(both.bundle).certificates.length).toBe(2)
})
