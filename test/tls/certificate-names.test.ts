// Fails when: a client gets another certificate than upstream's rules give it, asked over real
// connections; or the name table differs from upstream's.
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import { describe, expect, test } from 'vitest'
import type { TlsOptions } from '#src/options/rows/tls.ts'
import { canonicalName, type Entry, namesIn, nameTable } from '#src/tls/names.ts'
import { type PemPair, pairFor } from '../support/certificates.ts'
import { newLife } from '../support/life.ts'
import { row } from '../support/row.ts'

const pairs = new Map<string, PemPair>()

/** One pair for each list of names in this file. */
function pair(...names: string[]): PemPair {
  const key = names.join()
  const made = pairs.get(key) ?? pairFor({ names })
  pairs.set(key, made)
  return made
}

const fingerprint = ({ cert }: PemPair): string => new X509Certificate(cert).fingerprint256

/** What a client gets that asks for this name, or for none. */
async function certificateFor(tls: TlsOptions, servername?: string): Promise<string> {
  const rig = newLife({ options: { tls } })
  await rig.life.start()
  return new Promise((resolve, reject) => {
    const socket = connect({
      port: rig.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ...(servername !== undefined && { servername }),
    })
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
  })
}

describe('a client gets', () => {
  const extra = pair('extra.test')

  row('SN-01', 'the pair for all, for a name of its own', async () => {
    expect(await certificateFor(pair('localhost'), 'localhost')).toBe(fingerprint(pair('localhost')))
  })

  row('SN-02', 'the pair for all, for another name of its own', async () => {
    const both = pair('localhost', 'test.com')
    expect(await certificateFor({ ...both, sni: [extra] }, 'test.com')).toBe(fingerprint(both))
  })

  row('SN-03', 'the one by name before the one for all', async () => {
    const other = pairFor({ names: ['localhost'] })
    expect(await certificateFor({ ...pair('localhost'), sni: [other] }, 'localhost')).toBe(fingerprint(other))
  })

  row('SN-04', 'the one by name', async () => {
    const tls = { ...pair('localhost'), sni: [extra, pair('test.com')] }
    expect(await certificateFor(tls, 'test.com')).toBe(fingerprint(pair('test.com')))
    expect(await certificateFor(tls, 'TEST.com')).toBe(fingerprint(pair('test.com')))
  })

  row('SN-05', 'the pair for all when it asks for no name, and an address stands in a certificate only', async () => {
    expect(await certificateFor({ ...pair('localhost'), sni: [pair('test.com', '127.0.0.1')] })).toBe(fingerprint(pair('localhost')))
  })

  row('SN-06', 'the one with a wildcard for its name', async () => {
    const wild = pair('test.com', '*.test.com')
    const tls = { ...pair('localhost'), sni: [wild] }
    expect(await certificateFor(tls, 'www.test.com')).toBe(fingerprint(wild))
    expect(await certificateFor(tls, 'a.www.test.com')).toBe(fingerprint(pair('localhost')))
  })

  test('the one for its name, wherever that of a loopback client is', async () => {
    const loopback = pair('apiserver-loopback-client')
    expect(await certificateFor({ ...pair('test.com'), sni: [pair('localhost')] }, 'localhost')).toBe(fingerprint(pair('localhost')))
    expect(await certificateFor({ ...loopback, sni: [pair('localhost')] }, 'localhost')).toBe(fingerprint(pair('localhost')))
    expect(await certificateFor({ ...pair('localhost'), sni: [loopback] }, 'localhost')).toBe(fingerprint(pair('localhost')))
  })

  row('SN-12', 'the pair for all, for a name that no certificate has', async () => {
    expect(await certificateFor({ ...pair('localhost'), sni: [extra] }, 'unknown.test')).toBe(fingerprint(pair('localhost')))
  })

  row('SN-11', 'the one that was given the address it has connected to', async () => {
    const tls = { ...pair('localhost'), sni: [{ ...extra, names: ['127.0.0.1', 'openshift'] }] }
    expect(await certificateFor(tls)).toBe(fingerprint(extra))
    expect(await certificateFor({ ...tls, sni: [{ ...extra, names: ['10.0.0.1'] }] })).toBe(fingerprint(pair('localhost')))
  })

  row('SN-13', 'the one that was given a name, whatever its certificate says', async () => {
    expect(await certificateFor({ ...pair('localhost'), sni: [{ ...extra, names: ['openshift'] }] }, 'openshift')).toBe(fingerprint(extra))
    expect(await certificateFor({ ...pair('localhost'), sni: [{ ...extra, names: ['openshift'] }] }, 'extra.test')).toBe(fingerprint(extra))
  })

  row('SN-14', 'the one that was given an address, asked for by that as a name', async () => {
    // Node's client sends no address as a name.
    const rig = newLife({ options: { tls: { ...pair('localhost'), sni: [{ ...extra, names: ['127.0.0.1'] }] } } })
    await rig.life.start()
    const args = ['s_client', '-connect', `127.0.0.1:${rig.port}`, '-servername', '127.0.0.1']
    const shown = new Promise<string>((resolve) => {
      execFile('openssl', args, (_, stdout) => resolve(stdout)).stdin?.end()
    })
    expect(await shown).toContain(new X509Certificate(extra.cert).toString().trim())
  })

  test('the first by name when there is none for all', async () => {
    expect(await certificateFor({ sni: [extra, pair('test.com')] }, 'unknown.test')).toBe(fingerprint(extra))
  })
})

describe('the name table', () => {
  const entry = (inCertificate: readonly string[], names?: readonly string[]): Entry => ({ names, inCertificate })
  const table = (...entries: Entry[]): Record<string, number> => Object.fromEntries(nameTable(entries))

  row('NC-01', 'of no entries is empty', () => expect(table()).toEqual({}))
  row('NC-02', 'of one has its name', () => expect(table(entry(['test.com']))).toEqual({ 'test.com': 0 }))
  row('NC-05', 'has the first of two with the same name', () => expect(table(entry(['a']), entry(['a']))).toEqual({ a: 0 }))
  row('NC-06', 'has two with different names', () => expect(table(entry(['a']), entry(['b']))).toEqual({ a: 0, b: 1 }))
  row('NC-07', 'has the explicit one before that', () => expect(table(entry(['a']), entry([], ['a']))).toEqual({ a: 1 }))
  row('NC-08', 'has shared names once and own names each', () =>
    expect(table(entry(['a', 'b']), entry(['a', 'c']))).toEqual({ a: 0, b: 0, c: 1 }),
  )
  row('NC-09', 'has explicit names instead of those in certificates', () =>
    expect(table(entry(['x'], ['*.test.com', 'test.com']), entry(['y'], ['dev.test.com', 'test.com']))).toEqual({
      '*.test.com': 0,
      'test.com': 0,
      'dev.test.com': 1,
    }),
  )

  const namesOf = (commonName: string, ...names: string[]): string[] => namesIn(new X509Certificate(pairFor({ commonName, names }).cert))
  row('NC-03', 'takes no address for a common name', () => expect(namesOf('1.2.3.4', 'test.com')).toEqual(['test.com']))
  row('NC-04', 'ignores addresses of certificates', () =>
    expect(namesOf('test.com', 'test.com', '1.2.3.4')).toEqual(['test.com', 'test.com']),
  )
  test('takes a common name that is one, or a wildcard, and nothing else', () => {
    expect(namesOf('Our Service')).toEqual([])
    expect(namesOf('*.test.com')).toEqual(['*.test.com'])
    expect(namesOf('*')).toEqual(['*'])
  })

  test('has one spelling of an address', () => {
    expect(['::FFFF:10.0.0.1', '0:0:0:0:0:0:0:1', 'API.Test'].map(canonicalName)).toEqual(['10.0.0.1', '::1', 'api.test'])
  })
})
