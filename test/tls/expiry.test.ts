// Fails when: a certificate that expires is not warned about in time, or more than once; readiness
// fails although it was not asked to, or does not when it was; the metrics say another time.
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { type Clock, systemClock } from '#src/base/clock.ts'
import type { TlsOptions } from '#src/options/rows/tls.ts'
import { expiryOf, warningMs } from '#src/tls/expiry.ts'
import { pairFor } from '../support/certificates.ts'
import { newLife } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'
import { fresh } from '../support/upstream-client.ts'

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000]
const PAIR = pairFor({ names: ['localhost'], days: 90 })
const NOT_AFTER = Date.parse(new X509Certificate(PAIR.cert).validTo)

describe('a certificate', () => {
  const validity = { from: 'tls.crt', notBefore: 0, notAfter: Date.UTC(2026, 0, 1) }
  const at = (beforeEndMs: number, withinMs: number): string | undefined => expiryOf(validity, validity.notAfter - beforeEndMs, withinMs)

  test.each<[string | undefined, number, number]>([
    [undefined, 8 * DAY_MS, 7 * DAY_MS],
    ['tls.crt: the certificate expires in 7 days, at 2026-01-01T00:00:00Z', 7 * DAY_MS, 7 * DAY_MS],
    ['tls.crt: the certificate expires in 2 days, at 2026-01-01T00:00:00Z', 3 * DAY_MS - 1, 7 * DAY_MS],
    ['tls.crt: the certificate expires in 47h59m0s, at 2026-01-01T00:00:00Z', 2 * DAY_MS - 1, 7 * DAY_MS],
    [undefined, 1, 0],
    ['tls.crt: the certificate has expired at 2026-01-01T00:00:00Z', 0, 0],
    ['tls.crt: the certificate has expired at 2026-01-01T00:00:00Z', -DAY_MS, 7 * DAY_MS],
  ])('%s', (message, beforeEndMs, withinMs) => expect(at(beforeEndMs, withinMs)).toBe(message))

  test('that is not valid yet is said, too', () => {
    expect(expiryOf(validity, -1, 0)).toBe('tls.crt: the certificate is not valid before 1970-01-01T00:00:00Z')
  })

  test('is warned about in the last tenth of its life, and at most 7 days before', () => {
    expect(warningMs({ from: '', notBefore: 0, notAfter: 90 * DAY_MS })).toBe(7 * DAY_MS)
    expect(warningMs({ from: '', notBefore: 0, notAfter: DAY_MS })).toBe(2.4 * HOUR_MS)
  })
})

/** A life that takes it to be so long before the end of the certificate. */
async function lifeBefore(endMs: number, tls: TlsOptions = PAIR) {
  const clock: Clock = { ...systemClock, wall: () => NOT_AFTER - endMs }
  const rig = newLife({ clock, options: { tls, health: true, admin: { port: 0 } } })
  await rig.life.start()
  const admin = rig.events.find((event) => event.type === 'listening' && event.admin) as unknown as { port: number }
  return { rig, get: (path: string) => fresh(admin.port, path) }
}

describe('of a life', () => {
  test('no certificate that is fine is spoken of, and readiness has a check', async () => {
    const { rig, get } = await lifeBefore(8 * DAY_MS)
    expect(rig.events.filter(({ type }) => type === 'warning')).toEqual([])
    expect((await get('/readyz?verbose')).body).toContain('[+]certificates ok\n')
  })

  test('one that expires is warned about and serves on', async () => {
    const { rig, get } = await lifeBefore(3 * DAY_MS)
    const message = `tls.cert: the certificate expires in 3 days, at ${new Date(NOT_AFTER).toISOString().replace('.000Z', 'Z')}`
    expect(rig.events).toContainEqual(expect.objectContaining({ type: 'warning', message }))
    expect((await get('/readyz')).status).toBe(200)
    expect((await rig.end()).warnings).toContainEqual(expect.objectContaining({ message }))
  })

  test.each([
    [2 * HOUR_MS, 200],
    [HOUR_MS / 2, 500],
  ])('%d ms before its end readiness answers %d, when it fails an hour before', async (endMs, status) => {
    const { get } = await lifeBefore(endMs, { ...PAIR, expiryUnready: '1h' })
    expect((await get('/readyz')).status).toBe(status)
    expect((await get('/livez')).status).toBe(200)
  })

  test('metrics say when, how long, and what was read', async () => {
    const folder = temporaryFolder()
    const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
    writeFileSync(files.certFile, PAIR.cert)
    writeFileSync(files.keyFile, PAIR.key)
    const { get, rig } = await lifeBefore(8 * DAY_MS, { ...files, sni: [files] })
    const lines = async (): Promise<string[]> => (await get('/metrics')).body.split('\n')
    expect(await lines()).toEqual(
      expect.arrayContaining([
        `quiesce_certificate_not_after_timestamp_seconds{certificate="${files.certFile}"} ${NOT_AFTER / 1_000}`,
        `quiesce_certificate_expiry_seconds{certificate="${files.certFile}"} ${(8 * DAY_MS) / 1_000}`,
        `quiesce_certificate_loads_total{certificate="${files.certFile}",result="success"} 1`,
        `quiesce_certificate_loads_total{certificate="${files.certFile}",result="error"} 0`,
        'quiesce_tls_handshake_errors_total 0',
      ]),
    )
    writeFileSync(files.keyFile, '')
    await expect(fresh(rig.port, '/')).rejects.toThrow()
    await vi.waitFor(async () => expect(await lines()).toContain('quiesce_tls_handshake_errors_total 1'), { timeout: 10_000 })
    const failed = /^quiesce_certificate_loads_total\{.*result="error"\} [1-9]/
    await vi.waitFor(async () => expect((await lines()).filter((line) => failed.test(line))).toHaveLength(1), { timeout: 10_000 })
  })

  test('readiness fails as long as none was loaded', async () => {
    const missing = join(temporaryFolder(), 'tls.crt')
    const { get } = await lifeBefore(8 * DAY_MS, { certFile: missing, keyFile: missing, waitForFiles: true })
    expect((await get('/readyz')).status).toBe(500)
    expect(await get('/readyz/certificates')).toMatchObject({ status: 500, body: expect.stringContaining('configuration not ready') })
  })
})
