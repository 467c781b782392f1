// Fails when: a look at certificates that are not served yet misses what would keep clients away,
// says it of certificates that are well, or does not name the file.
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resolveOptions } from '#src/options/kit/define.ts'
import { TLS_OPTIONS, type TlsOptions } from '#src/options/rows/tls.ts'
import { examine } from '#src/tls/examine.ts'
import { encrypted, pairFor } from '../support/certificates.ts'
import { temporaryFolder } from '../support/process.ts'

const DAY_MS = 86_400_000
const PAIR = pairFor({ names: ['shop.test', '*.shop.test', '10.0.0.1'], days: 90 })
const OTHER = pairFor({ names: ['other.test'], days: 30 })
const VALID_TO = new X509Certificate(PAIR.cert).validTo
const NOT_AFTER = Date.parse(VALID_TO)
const UNTIL = new Date(NOT_AFTER).toISOString().replace('.000Z', 'Z')

const findings = (tls: TlsOptions, wall = Date.now()) => examine(resolveOptions(TLS_OPTIONS, tls), {}, wall)

test('a pair, one by name and a client CA that are well', async () => {
  expect(await findings({ ...PAIR, sni: [{ ...PAIR, names: ['a.shop.test', '*.shop.test', '10.0.0.1'] }], clientCa: OTHER.cert })).toEqual([
    { verdict: 'holds', text: `tls.cert: a pair that is valid until ${UNTIL}` },
    { verdict: 'holds', text: `tls.sni[0].cert: a pair that is valid until ${UNTIL}` },
    { verdict: 'holds', text: 'tls.clientCa: a client CA' },
  ])
})

test.each<[string, number, 'warns' | 'fails', string]>([
  ['expires soon', NOT_AFTER - 3 * DAY_MS, 'warns', `tls.cert: the certificate expires in 3 days, at ${UNTIL}`],
  ['has expired', NOT_AFTER, 'fails', `tls.cert: the certificate has expired at ${UNTIL}`],
  [
    'is not valid yet',
    NOT_AFTER - 91 * DAY_MS,
    'fails',
    expect.stringMatching(/^tls\.cert: the certificate is not valid before 20/) as string,
  ],
])('a pair that %s', async (_, wall, verdict, text) => {
  expect(await findings(PAIR, wall)).toEqual([{ verdict, text }])
})

test('a client CA fails when none of it is valid any more, and is warned about for a part', async () => {
  const expired = `the certificate has expired at ${new Date(Date.parse(new X509Certificate(OTHER.cert).validTo)).toISOString().replace('.000Z', 'Z')}`
  const wall = Date.now() + 31 * DAY_MS
  expect(await findings({ ...PAIR, clientCa: OTHER.cert }, wall)).toContainEqual({
    verdict: 'fails',
    text: `tls.clientCa, certificate 1: ${expired}`,
  })
  expect(await findings({ ...PAIR, clientCa: PAIR.cert + OTHER.cert }, wall)).toContainEqual({
    verdict: 'warns',
    text: `tls.clientCa, certificate 2: ${expired}`,
  })
})

test('a name that its certificate is not valid for', async () => {
  expect(await findings({ sni: [{ ...OTHER, names: ['other.test', 'shop.test', '10.0.0.9'] }] })).toEqual([
    expect.objectContaining({ verdict: 'holds' }),
    { verdict: 'warns', text: 'tls.sni[0].cert: the certificate is not valid for shop.test, which it is chosen for' },
    { verdict: 'warns', text: 'tls.sni[0].cert: the certificate is not valid for 10.0.0.9, which it is chosen for' },
  ])
})

test('all that fails is said, each with its file and the reason', async () => {
  const folder = temporaryFolder()
  const at = (name: string, text?: string): string => {
    if (text !== undefined) writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const tls: TlsOptions = {
    certFile: at('tls.crt', PAIR.cert),
    keyFile: at('tls.key', OTHER.key),
    sni: [
      { certFile: at('gone.crt'), keyFile: at('gone.key') },
      { certFile: at('a.crt', PAIR.cert), keyFile: at('a.key', encrypted(PAIR, 'open sesame')) },
    ],
    clientCaFile: at('ca.crt', ''),
  }
  const texts = [
    `${at('tls.key')}: is not the key of the certificate in ${at('tls.crt')}`,
    `${at('gone.crt')}: there is no such file`,
    `${at('a.key')}: is encrypted, and no passphrase is given`,
    `${at('ca.crt')}: is empty`,
  ]
  expect(await findings(tls)).toEqual(texts.map((text) => ({ verdict: 'fails', text })))
  // What is waited for may come yet.
  expect(await findings({ ...tls, waitForFiles: true })).toEqual(texts.map((text) => ({ verdict: 'warns', text })))
})

test('what OpenSSL does not serve, although it matches', async () => {
  const [finding] = await examine(resolveOptions(TLS_OPTIONS, PAIR), { ciphers: 'NO-SUCH-CIPHER' }, Date.now())
  expect(finding).toMatchObject({ verdict: 'fails', text: expect.stringMatching(/^tls\.cert: cannot be served \(/) })
})
