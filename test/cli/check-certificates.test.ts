// Fails when: `quiesce check` has no word for certificates that cannot be served, does not end with
// exit code 1 for them, or takes flags of certificates that say nothing together.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { pairFor } from '../support/certificates.ts'
import { folderOfTheseTests, runCommand } from '../support/run-cli.ts'

const folder = folderOfTheseTests()
const PAIR = pairFor({ names: ['shop.test'] })
const OTHER = pairFor({ names: ['other.test'] })
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}
const certFile = await file('tls.crt', PAIR.cert)
const keyFile = await file('tls.key', PAIR.key)
const otherKey = await file('other.key', OTHER.key)
/** The rest of the check, as short as it can be. */
const SHORT = ['--outside=stop', '--mode=refuse', '--property=no-errors']
const run = (...args: readonly string[]) => runCommand('check', ...args, ...SHORT)
const flags = (key: string): string[] => ['--tls-cert-file', certFile, '--tls-private-key-file', key]

describe('quiesce check looks at certificates', () => {
  test('that are well', async () => {
    const { code, out } = await run(
      ...flags(keyFile),
      '--tls-sni-cert-key',
      `${certFile},${keyFile}:shop.test`,
      '--client-ca-file',
      certFile,
    )
    expect(out).toMatch(/^certificates: 2 of 2 hold\nrefuse: 1 of 1 hold, /)
    expect(code).toBe(0)
  })

  test('that are not: one line for each, and exit code 1', async () => {
    const { code, out, err } = await run(...flags(otherKey), '--tls-sni-cert-key', '/no/a.crt,/no/a.key', '--client-ca-file', keyFile)
    expect(out.split('\n').slice(0, 4)).toEqual([
      'certificates: 0 of 3 hold',
      `  FAILS  ${otherKey}: is not the key of the certificate in ${certFile}`,
      '  FAILS  /no/a.crt: there is no such file',
      `  FAILS  ${keyFile}: holds no certificate, but a block PRIVATE KEY`,
    ])
    expect({ code, err }).toEqual({ code: 1, err: '' })
  })

  test('of a life, for programs as well', async () => {
    const source = JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../src/index.ts')).href)
    const tls = JSON.stringify({ certFile, keyFile: otherKey })
    const config = await file(
      'life.mjs',
      `import { createServer } from ${source}
export default createServer({ listener: () => {} }, { listeners: [{ port: 0, tls: ${tls} }, { port: 0 }] })`,
    )
    const { code, out } = await run('--config', config, '--json')
    expect(JSON.parse(out)).toMatchObject({
      holds: false,
      certificates: [{ verdict: 'fails', text: `${otherKey}: is not the key of the certificate in ${certFile}` }],
      lives: [{ properties: [{ id: 'no-errors', holds: true }] }],
    })
    expect(code).toBe(1)
    expect(await run('--config', config, ...flags(keyFile))).toMatchObject({
      code: 2,
      err: expect.stringContaining('--tls-cert-file: got '),
    })
  })

  test.each([
    [['--tls-cert-file=a'], '--tls-private-key-file: got none, allowed: a file name, beside --tls-cert-file'],
    [['--tls-min-version=TLSv1.3'], '--tls-min-version: got "TLSv1.3", allowed: only with --tls-cert-file with '],
    [['--client-ca-file=a'], '--client-ca-file: got "a", allowed: only with a certificate: --tls-cert-file with '],
  ])('and at their flags: %j', async (args, message) => {
    const { code, out, err } = await run(...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^quiesce: [^\n]+\n$/)
    expect(err).toContain(message)
  })
})
