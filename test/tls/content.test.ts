// Fails when: what is collected differs from what was given, or two configurations that serve the
// same are told apart, or two that do not are not.
import { expect } from 'vitest'
import { checkClientCa } from '#src/tls/client-ca.ts'
import { sameContent } from '#src/tls/content.ts'
import type { Served } from '#src/tls/contexts.ts'
import { checkPair } from '#src/tls/pair.ts'
import { providersOf } from '#src/tls/providers.ts'
import type { TlsSettings } from '#src/tls/settings.ts'
import { type PemPair, pairFor } from '../support/certificates.ts'
import { row } from '../support/row.ts'

const [A, B, CA] = [pairFor({ names: ['a'] }), pairFor({ names: ['b'] }), pairFor({ commonName: 'CA' })] as [PemPair, PemPair, PemPair]
const NO_PAIR = { cert: undefined, key: undefined, certFile: undefined, keyFile: undefined, passphrase: undefined }
const NOTHING: TlsSettings = {
  ...NO_PAIR,
  selfSigned: false,
  sni: [],
  clientCa: undefined,
  clientCaFile: undefined,
  clientCertificates: 'require',
  minVersion: 'TLSv1.2',
  waitForFiles: false,
  expiryWarningMs: undefined,
  expiryUnreadyMs: undefined,
}

row('DC-01', 'a CA, a pair and one by name are collected, with the names of that one', async () => {
  const sni = [{ ...NO_PAIR, ...B, names: ['explicit.test'] }]
  const { clientCa, serving, sni: byName } = providersOf({ ...NOTHING, ...A, sni, clientCa: CA.cert }, undefined)
  for (const provider of [clientCa, serving, byName[0]?.pair]) expect(await provider?.refresh()).toBe(true)
  expect(clientCa?.current?.bundle.text).toBe(CA.cert)
  expect(serving?.current?.cert.text).toBe(A.cert)
  expect(byName).toMatchObject([{ names: ['explicit.test'], pair: { current: { key: { text: B.key } } } }])
})

row('DC-02', 'of nothing, nothing is collected', () => {
  expect(providersOf(NOTHING, undefined)).toEqual({ serving: undefined, sni: [], clientCa: undefined })
})

const pair = ({ cert, key }: PemPair) =>
  checkPair({ cert: { from: 'x', text: cert }, key: { from: 'y', text: key }, passphrase: undefined })
const named = (of: PemPair, names?: readonly string[]) => ({ ...pair(of), names })
const ca = ({ cert }: PemPair) => checkClientCa({ from: 'z', text: cert })
const EMPTY: Served = { serving: undefined, sni: [], clientCa: undefined }

row('DC-03', 'configurations are equal when all of their texts and names are', () => {
  const all: readonly Served[] = [
    EMPTY,
    { ...EMPTY, serving: pair(A) },
    { ...EMPTY, serving: pair(B) },
    { ...EMPTY, serving: { ...pair(A), key: { from: 'y', text: B.key } } },
    { ...EMPTY, clientCa: ca(CA) },
    { ...EMPTY, clientCa: ca(A) },
    { ...EMPTY, sni: [named(A)] },
    { ...EMPTY, sni: [named(A, ['a'])] },
    { ...EMPTY, sni: [named(A, ['b'])] },
    { ...EMPTY, sni: [named(A, ['a', 'b'])] },
    { ...EMPTY, sni: [named(B)] },
    { ...EMPTY, sni: [named(A), named(B)] },
    { ...EMPTY, sni: [named(B), named(A)] },
    { serving: pair(A), sni: [named(B)], clientCa: ca(CA) },
  ]
  for (const [one, a] of all.entries())
    for (const [other, b] of all.entries()) expect(sameContent(a, b), `${one} ${other}`).toBe(one === other)
  // Where a text comes from is no difference.
  expect(
    sameContent({ ...EMPTY, serving: pair(A) }, { ...EMPTY, serving: { ...pair(A), cert: { from: 'elsewhere', text: A.cert } } }),
  ).toBe(true)
})
