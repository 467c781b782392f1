// The files that commands are given. Fails when: an output replaces what the command reads, or
// another output; what an editor or a shell of Windows has written is refused, or not named; of a
// name that stands twice one counts without a word.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfigFile } from '#src/cli/config-file.ts'
import { readRunSettings, readSettings } from '#src/cli/flags.ts'
import { folderOfTheseTests, runCommand } from '../support/run-cli.ts'

const folder = folderOfTheseTests()
const file = (name: string, content: string | Buffer = 'precious'): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const signal = new AbortController().signal
const sources = (...args: readonly string[]) => ({
  args,
  env: {},
  facts: { env: {}, pid: 4711, terminal: false, containerFile: false },
  readConfig: () => Promise.resolve({}),
})
async function problemsOf(...args: readonly string[]): Promise<readonly string[]> {
  const settings = await (args[0]?.startsWith('--') ? readSettings(sources(...args)) : readRunSettings(sources(...args)))
  return 'problems' in settings ? settings.problems : []
}

describe('no output replaces', () => {
  test.each(['--trace-file', '--promela'])('the module that is checked: %s', async (flag) => {
    const module = file('server.mjs')
    expect(await runCommand('check', '--config', module, flag, module)).toEqual({
      code: 2,
      out: '',
      err: `quiesce: ${flag}: got ${JSON.stringify(module)}, allowed: another file than that of --config\n`,
    })
    expect(readFileSync(module, 'utf8')).toBe('precious')
  })

  test('the report that a page is made of, also by another name', async () => {
    const report = file('report.json', '{}')
    const link = join(folder, 'page.html')
    symlinkSync(report, link)
    const { code, err } = await runCommand('report', report, '--html', link)
    expect({ code, err }).toEqual({
      code: 2,
      err: `quiesce: report: --html: got ${JSON.stringify(link)}, allowed: another file than that of the report\n`,
    })
    expect(readFileSync(report, 'utf8')).toBe('{}')
  })

  test('another output, which may not be there yet', async () => {
    const target = join(folder, 'not-there.ndjson')
    expect(
      await problemsOf('--report-file', target, '--journal', join(folder, '..', folder.split('/').at(-1) ?? '', 'not-there.ndjson')),
    ).toEqual([expect.stringMatching(/^--(journal|report-file): got ".+", allowed: another file than that of --(report-file|journal)$/)])
    mkdirSync(join(folder, 'sub'), { recursive: true })
    expect(await problemsOf('--report-file', target, '--journal', join(folder, 'sub', 'not-there.ndjson'))).toEqual([])
  })

  test('the module that is run, its config file and its certificates', async () => {
    const [app, config, cert] = [file('app.mjs'), file('quiesce.json'), file('tls.crt')]
    const other = (label: string, path: string, of: string) =>
      `${label}: got ${JSON.stringify(path)}, allowed: another file than that of ${of}`
    expect(await problemsOf(app, '--report-file', app)).toEqual([other('--report-file', app, app)])
    expect(await problemsOf(app, '--config', config, '--journal', config)).toEqual([other('--journal', config, '--config')])
    expect(await problemsOf('--tls-cert-file', cert, '--tls-private-key-file', file('tls.key'), '--journal', cert)).toEqual([
      other('--journal', cert, '--tls-cert-file'),
    ])
  })

  test('a device, to which several may go', async () => {
    expect(await problemsOf('--report-file', '/dev/null', '--journal', '/dev/null')).toEqual([])
  })
})

describe('a name that stands twice in a config file', () => {
  test.each([
    ['port', '{"port": 1, "deadline": "5s", "port": 2}'],
    ['wording.name', '{"port": 1, "wording": {"name": "port", "x": "\\\\\\"}", "n\\u0061me": "b"}}'],
    ['list.a', '{"list": [{"a": 1}, {"a": 2, "b": "a\\":", "a": 3}]}'],
  ])('is refused: %s', async (name, text) => {
    await expect(readConfigFile(file(`twice-${name}.json`, text), signal)).rejects.toThrow(`it has ${name} twice, allowed: each name once`)
  })

  test('is refused in YAML as well', async () => {
    await expect(readConfigFile(file('twice.yaml', 'port: 1\nport: 2'), signal)).rejects.toThrow('must be unique')
  })

  test('in objects of their own is none', async () => {
    const value = { a: { a: 1, b: [{ a: 1 }, { a: 'a' }, 'a'] }, b: '{"a":1,"a":2}' }
    expect(await readConfigFile(file('once.json', JSON.stringify(value)), signal)).toEqual(value)
  })
})

describe('a file of Windows', () => {
  test.each(['json', 'yaml'])('may have a mark in front: %s', async (extension) => {
    expect(await readConfigFile(file(`bom.${extension}`, '\uFEFF{"port": 0}'), signal)).toEqual({ port: 0 })
  })

  test.each(['utf16le', 'utf16be'])('that is no UTF-8 is named: %s', async (encoding) => {
    const content = Buffer.from('\uFEFF{"port": 0}', 'utf16le')
    const path = file(`${encoding}.json`, encoding === 'utf16be' ? content.swap16() : content)
    await expect(readConfigFile(path, signal)).rejects.toThrow('it is text in UTF-16, allowed: UTF-8')
    expect((await runCommand('report', path)).err).toBe(`quiesce: ${path}: it is text in UTF-16, allowed: UTF-8\n`)
  })

  test('whose letters would be others in UTF-8 is refused', async () => {
    for (const [name, text] of [
      ['latin1.json', '{"bind-address": "caf\u00e9"}'],
      ['latin1.yaml', 'bind-address: caf\u00e9'],
    ] as const) {
      const path = file(name, Buffer.from(text, 'latin1'))
      await expect(readConfigFile(path, signal)).rejects.toThrow('it is text in another encoding, allowed: UTF-8')
    }
  })
})
