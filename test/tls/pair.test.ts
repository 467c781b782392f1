// Fails when: a pair that cannot be served is taken, one that can is refused, or the line about it
// names another file or another reason.
import { X509Certificate } from 'node:crypto'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkClientCa } from '#src/tls/client-ca.ts'
import { checkPair } from '#src/tls/pair.ts'
import { sourced } from '#src/tls/read-source.ts'
import { clientOf, encrypted, pairFor } from '../support/certificates.ts'
import { refusal } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'

const A = pairFor({ names: ['a.test'] })
const B = pairFor({ names: ['b.test'] })
const CA = pairFor({ commonName: 'CA' })
const OF_CA = clientOf(CA, 'client')
const check = (cert: string, key: string, passphrase?: string) =>
  checkPair({ cert: { from: 'a.crt', text: cert }, key: { from: 'a.key', text: key }, passphrase })
const der = new X509Certificate(A.cert).raw.toString('latin1')

describe('a pair', () => {
  test('is its certificate, with the first end of the chain', () => {
    const short = pairFor({ names: ['short'], days: 2 })
    expect(check(A.cert, A.key).leaf.fingerprint256).toBe(new X509Certificate(A.cert).fingerprint256)
    expect(check(`${A.cert}${short.cert}`, A.key).notAfter).toBe(Date.parse(new X509Certificate(short.cert).validTo))
  })

  test('may have text around it, and a key that is encrypted', () => {
    expect(check(`subject: a\n${A.cert}`, `comment\n${A.key}`)).toBeDefined()
    expect(check(A.cert, encrypted(A, 'secret'), 'secret')).toBeDefined()
  })

  test.each<[string, string, string, string?]>([
    ['a.crt: is empty', ' \n', A.key],
    ['a.crt: holds no certificate, but no PEM text at all', 'hello', A.key],
    ['a.crt: holds no certificate, but no PEM text at all (DER has to be converted)', der, A.key],
    ['a.crt: holds no certificate, but a block PRIVATE KEY', A.key, A.key],
    ['a.crt: holds no certificate, but the beginning of one', A.cert.slice(0, 200), A.key],
    ['a.key: is empty', A.cert, ''],
    ['a.key: holds no private key, but a block CERTIFICATE', A.cert, A.cert],
    ['a.key: holds no private key, but the beginning of one', A.cert, A.key.slice(0, 60)],
    ['a.key: is not the key of the certificate in a.crt', A.cert, B.key],
    ['a.key: is the key of certificate 2 in a.crt, which has to come first', `${CA.cert}${OF_CA.cert}`, OF_CA.key],
    ['a.key: is encrypted, and no passphrase is given', A.cert, encrypted(A, 'secret')],
    ['a.key: cannot be decrypted with the passphrase', A.cert, encrypted(A, 'secret'), 'wrong'],
  ])('%s', (message, cert, key, passphrase) => {
    expect(refusal(() => check(cert, key, passphrase))).toMatchObject({ code: 'ERR_TLS', message })
  })

  test('whose texts are broken says in one line what could not be read', () => {
    const broken = (text: string): string => text.replace(/\n(.)/, '\n!$1')
    expect(refusal(() => check(broken(A.cert), A.key)).message).toMatch(/^a\.crt: certificate 1 in it cannot be read \([^\n]+\)$/)
    expect(refusal(() => check(`${A.cert}${broken(B.cert)}`, A.key)).message).toMatch(/^a\.crt: certificate 2 in it cannot/)
    expect(refusal(() => check(A.cert, broken(A.key))).message).toMatch(/^a\.key: cannot be read \([^\n]+\)$/)
  })
})

test('a client CA is a bundle of certificates, and never empty', () => {
  const bundle = (text: string) => () => checkClientCa({ from: 'ca.crt', text })
  expect(bundle(`${CA.cert}${A.cert}`)().bundle.text).toContain(A.cert)
  expect(refusal(bundle('')).message).toBe('ca.crt: is empty')
  expect(refusal(bundle(CA.key)).message).toBe('ca.crt: holds no certificate, but a block PRIVATE KEY')
})

describe('a file that cannot be read', () => {
  const read = (file: string) => sourced('tls.cert', undefined, file)

  test('says why', async () => {
    const folder = temporaryFolder()
    await expect(read(join(folder, 'missing'))).rejects.toThrow(`${join(folder, 'missing')}: there is no such file`)
    await expect(read(folder)).rejects.toThrow(`${folder}: is a folder`)
    await expect(read(join(folder, 'x\0y'))).rejects.toMatchObject({ code: 'ERR_TLS' })
  })

  test.skipIf(process.getuid?.() === 0)('for want of a permission, too', async () => {
    const file = join(temporaryFolder(), 'tls.key')
    writeFileSync(file, A.key)
    chmodSync(file, 0)
    await expect(read(file)).rejects.toThrow(`${file}: may not be read by this process (EACCES)`)
  })
})
