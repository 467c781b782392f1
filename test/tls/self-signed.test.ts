// Fails when: a pair that signs itself is not what OpenSSL and curl take for a certificate of its
// names.
import { execFile, execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { checkPair } from '#src/tls/pair.ts'
import { selfSigned } from '#src/tls/self-signed.ts'
import { newLife } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'

const run = promisify(execFile)
const NAMES = ['localhost', '127.0.0.1', '::1', '2001:db8::5:0', '::ffff:10.0.0.1'] as const
const NOW = Date.UTC(2026, 10, 22, 20)

describe('a pair that signs itself', () => {
  test('is for its names, from now on', () => {
    const { cert, key } = selfSigned(NAMES, NOW)
    const { leaf } = checkPair({ cert: { from: 'cert', text: cert }, key: { from: 'key', text: key }, passphrase: undefined })
    expect(leaf.checkHost('localhost')).toBe('localhost')
    for (const address of NAMES.slice(1)) expect(leaf.checkIP(address), address).toBe(address)
    expect(leaf.checkIP('10.0.0.2')).toBeUndefined()
    expect([leaf.validFrom, leaf.validTo].map(Date.parse)).toEqual([NOW, NOW + 365 * 86_400_000])
  })

  test('is never the same, also beyond the century of two digits', () => {
    const late = Date.UTC(2051, 0, 1)
    const [one, other] = [selfSigned(['a'], late), selfSigned(['a'], late)].map(({ cert }) => new X509Certificate(cert))
    expect(Date.parse(one?.validFrom as string)).toBe(late)
    expect(one?.serialNumber).not.toBe(other?.serialNumber)
    expect(one?.fingerprint256).not.toBe(other?.fingerprint256)
  })

  test('is one by the strict rules of OpenSSL', () => {
    const file = join(temporaryFolder(), 'cert.pem')
    writeFileSync(file, selfSigned(NAMES, Date.now() - 1_000).cert)
    const verified = execFileSync('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', file, file], {
      encoding: 'utf8',
    })
    expect(verified).toBe(`${file}: OK\n`)
  })

  test('is served, and taken by curl that is told to trust it', async () => {
    const rig = newLife({ options: { tls: 'self-signed' } })
    await rig.life.start()
    const cert = await new Promise<Buffer>((resolve, reject) => {
      const socket = connect({ port: rig.port, host: '127.0.0.1', rejectUnauthorized: false })
      socket.once('error', reject)
      socket.once('secureConnect', () => {
        resolve(socket.getPeerCertificate().raw)
        socket.destroy()
      })
    })
    const file = join(temporaryFolder(), 'cert.pem')
    writeFileSync(file, new X509Certificate(cert).toString())
    for (const host of ['localhost', '127.0.0.1']) {
      const resolved = ['--resolve', `localhost:${rig.port}:127.0.0.1`]
      const { stdout } = await run('curl', ['-sS', '--cacert', file, ...resolved, `https://${host}:${rig.port}/`])
      expect(stdout).toBe('hello')
    }
    await expect(run('curl', ['-sS', `https://127.0.0.1:${rig.port}/`])).rejects.toMatchObject({ code: 60 })
  })
})
