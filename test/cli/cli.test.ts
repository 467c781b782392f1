import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readArguments } from '#src/cli/arguments.ts'
import { runCli } from '#src/cli/cli.ts'
import { COMMANDS } from '#src/cli/command-names.ts'
import { COMMAND_PAGES } from '#src/cli/command-pages.ts'
import type { CliHost } from '#src/cli/host.ts'
import { packageJson } from '#src/process/package-file.ts'
import { quietLife, reportOf } from '../report/lives.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quiesce-cli-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function run(args: readonly string[], { stdin = '', columns }: { stdin?: string; columns?: number } = {}) {
  const out: string[] = []
  const err: string[] = []
  const served: unknown[] = []
  const host: CliHost = {
    program: 'quiesce',
    args,
    env: {},
    facts: { env: {}, pid: 4711, terminal: false, containerFile: false },
    stdin: Readable.from([stdin]),
    stdout: { write: (text) => out.push(text), ...(columns !== undefined && { columns }) },
    stderr: { write: (text) => err.push(text) },
    earlyStop: new AbortController().signal,
    serve: async (settings) => {
      served.push(settings)
    },
    run: async (settings) => {
      served.push(settings)
      return undefined
    },
  }
  const code = await runCli(host)
  return { code, out: out.join(''), err: err.join(''), served }
}

describe('the command line', () => {
  test('explains itself', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Usage: quiesce COMMAND [flags]') })
    for (const args of [['-h'], ['help']]) expect(await run(args)).toEqual(await run(['--help']))
    for (const args of [
      ['serve', '-h'],
      ['help', 'serve'],
    ])
      expect(await run(args)).toEqual(await run(['serve', '--help']))
    expect(await run(['--nope'])).toMatchObject({ code: 2, err: 'quiesce: --nope: unknown flag, see quiesce --help\n' })
    for (const args of [
      ['help', 'help'],
      ['--port', '1', '--help'],
    ])
      expect(await run(args)).toEqual(await run(['--help']))
    for (const args of [
      ['help', 'serv'],
      ['serv', '--help'],
    ])
      expect(await run(args)).toMatchObject({ code: 2, out: '', err: 'quiesce: serv: unknown command (did you mean "serve"?)\n' })
    expect(await run(['serve', '--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--shutdown-delay-duration DURATION') })
    expect(await run(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
    for (const args of [
      ['-V'],
      ['-v'],
      ['version'],
      ['serve', '--version'],
      ['check', '-V'],
      ...COMMANDS.map((command) => [command, '-v']),
    ])
      expect(await run(args)).toEqual(await run(['--version']))
  })

  test.each([
    [['ev\u001b[2Jil\nline'], 'evil line: unknown command, see quiesce --help'],
    [['report', '--\u202Eev\nil'], '-- ev il: unknown flag, see quiesce report --help'],
    [['serve', '--\u202Eev\nil'], '-- ev il: unknown flag, see quiesce serve --help'],
    [['serve', '\u202Eevil\u0085'], '" evil ": unexpected argument, see quiesce serve --help'],
    [['inspect', '/no\u001b[2J/file'], "/no/file: ENOENT: no such file or directory, stat '/no/file'"],
  ])('repeats nothing that a terminal obeys: %j', async (args, why) => {
    expect(await run(args)).toMatchObject({ code: 2, err: `quiesce: ${why}\n` })
  })

  test.each([
    [[''], /^no command was given, allowed: run, serve, /],
    [['run', ''], /^run: no module was given, allowed: /],
    [['inspect', ''], /^inspect: no file was given, allowed: /],
    [['report', ''], /^report: no file was given, allowed: /],
  ])('takes an empty argument for none: %j', async (args, why) => {
    const { code, err } = await run(args)
    expect({ code, why: err.replace(/^quiesce: /, '') }).toEqual({ code: 2, why: expect.stringMatching(why) })
  })

  test('lists every command with what it does, and an example of each', async () => {
    const { out } = await run(['--help'])
    for (const name of COMMANDS) {
      expect(out).toContain(COMMAND_PAGES[name].summary)
      if (name !== 'completion') expect(out).toContain(`\n  ${COMMAND_PAGES[name].examples[0]?.[0]}\n`)
    }
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  })

  test.each(COMMANDS.flatMap((name) => COMMAND_PAGES[name].examples.map(([line]) => [line, name] as const)))(
    'gives an example that it takes: %s',
    (line, command) => {
      // What a shell does with the rest is its own.
      const [program, given, ...args] = line
        .replace(/^source <\((.+)\)$/, '$1')
        .replace(/ > .+$/, '')
        .split(' ')
      expect([program, given]).toEqual(['quiesce', command])
      const { operands, flags } = COMMAND_PAGES[command]
      expect(readArguments(command, flags, args, operands === '' ? 0 : operands.split(' ').length).problems).toEqual([])
    },
  )

  test('has a group for every flag of a server, and a name for what every value is', async () => {
    for (const command of ['run', 'serve'] as const) {
      const { out } = await run([command, '--help'])
      const [ungrouped] = /\nFlags:\n[\s\S]*?\n\n/.exec(out) ?? []
      expect(ungrouped?.match(/^ {2}--\S+/gm)).toEqual(['  --config'])
    }
    for (const { flags } of Object.values(COMMAND_PAGES))
      for (const flag of flags) if (!flag.switch) expect(flag.placeholder, flag.name).not.toBe('VALUE')
  })

  test('leads to the documentation and to where faults are told, as package.json names them', async () => {
    const { homepage, bugs } = packageJson()
    for (const args of [['--help'], ['check', '--help']]) {
      const { out } = await run(args)
      if (homepage !== undefined) expect(out).toContain(`\nDocumentation: ${homepage}\n`)
      if (bugs?.url !== undefined) expect(out).toContain(`\nIssues: ${bugs.url}\n`)
    }
  })

  test.each(COMMANDS)('has a help of its own for %s, which fits a terminal', async (command) => {
    const { code, out } = await run([command, '--help'])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^Usage: quiesce ${command} .*\\n`))
    expect(out.indexOf('\nExamples:\n')).toBeGreaterThan(0)
    expect(out).toContain('\nExit codes:\n')
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(110)
  })

  test('refuses what it does not know with exit code 2', async () => {
    expect(await run([])).toEqual({
      code: 2,
      out: '',
      err: 'quiesce: no command was given, allowed: run, serve, check, plan, diagram, inspect, report, completion; see quiesce --help\n',
      served: [],
    })
    expect(await run(['sreve'])).toMatchObject({ code: 2, err: 'quiesce: sreve: unknown command (did you mean "serve"?)\n' })
    expect(await run(['apiserver'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('npm install @quiesce/apiserver, then ') as string,
    })
    expect(await run(['serve', '--port=x', '--foo'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^quiesce: --foo.*\nquiesce: --port.*\n$/),
      served: [],
    })
  })

  test('serves with what it was told, and leaves the exit code to the life', async () => {
    const { code, served } = await run(['serve', '--port=0'])
    expect(code).toBeUndefined()
    expect(served).toMatchObject([{ options: { port: 0 } }])
  })

  test.each([
    ['c.json', '{"port":4711}'],
    ['c.yaml', 'port: 4711\n'],
    ['c.yml', '# all of it\nport: 4711\n'],
  ])('reads %s', async (name, content) => {
    const path = join(folder, name)
    await writeFile(path, content)
    expect((await run(['serve', `--config=${path}`])).served).toMatchObject([{ options: { port: 4_711 } }])
  })

  test.each([
    ['broken.json', '{'],
    ['broken.yaml', 'port: [1'],
  ])('refuses %s', async (name, content) => {
    const path = join(folder, name)
    await writeFile(path, content)
    expect(await run(['serve', `--config=${path}`])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^quiesce: --config: got ".*", allowed: a JSON or YAML file \(.+\)\n$/),
    })
  })
})

describe('quiesce report', () => {
  const report = JSON.stringify(reportOf(quietLife))

  test('prints the timeline of a file, and of standard input', async () => {
    const path = join(folder, 'report.json')
    await writeFile(path, report)
    const printed = await run(['report', path])
    expect(printed).toMatchObject({ code: 0, err: '', out: expect.stringContaining('stopped by SIGTERM, ended in 1.203s') })
    expect(await run(['report', '-'], { stdin: report })).toEqual(printed)
  })

  test('fits the terminal', async () => {
    const { out } = await run(['report', '-'], { stdin: report, columns: 80 })
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  test.each(['{}', '[]', 'null', '{', '{"$schema":"urn:quiesce:report:1","version":2}'])('refuses %s', async (stdin) => {
    expect(await run(['report', '-'], { stdin })).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^quiesce: -: .+\n$/) })
  })

  const worse = JSON.stringify({ ...JSON.parse(report), exitCode: 5, requests: { before: 3, after: 1, cut: [] } })
  const filesOf = async (...contents: readonly string[]) =>
    Promise.all(
      contents.map(async (content, index) => {
        const path = join(folder, `report-${index}.json`)
        await writeFile(path, content)
        return path
      }),
    )

  test('of two says what is different, and by its exit code whether the second is worse', async () => {
    const [a, b] = (await filesOf(report, worse)) as [string, string]
    const compared = await run(['report', a, b])
    expect(compared).toMatchObject({ code: 1, err: '' })
    expect(compared.out).toMatch(/report-0\.json +…\S*report-1\.json\n/)
    expect(compared.out).toMatch(/\n {2}exit code +0 +5 +worse\n {2}requests left +0 +1 +\+1 worse\n\nworse: exit code, requests left\n$/)
    expect(await run(['report', b, a])).toMatchObject({ code: 0, out: expect.stringMatching(/\ndifferent, but not worse\n$/) })
    expect(await run(['report', a, a])).toMatchObject({ code: 0, out: 'no difference\n' })
    expect(await run(['report', a, '-'], { stdin: report })).toMatchObject({ code: 0, out: 'no difference\n' })
    const { out } = await run(['report', a, b, '--json'])
    expect(JSON.parse(out)).toEqual({
      isWorse: true,
      differences: [
        { what: 'exit code', a: 0, b: 5, unit: 'word', isWorse: true },
        { what: 'requests left', a: 0, b: 1, unit: 'count', isWorse: true },
      ],
    })
  })

  test('of two lets no control sequence of a name through', async () => {
    const hook = { kind: 'destroy', name: 'pool\u001b]0;title\u0007', outcome: 'cut', durationMs: 5 }
    const [a, b] = (await filesOf(report, JSON.stringify({ ...JSON.parse(report), hooks: [hook] }))) as [string, string]
    const { code, out } = await run(['report', a, b])
    expect(code).toBe(1)
    expect(out).toMatch(/\nworse: destroy hook "pool/)
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })

  test('of two judges times when it is told to', async () => {
    const slow = JSON.stringify({ ...JSON.parse(report), endedAt: '2026-01-01T00:01:09.000Z' })
    const [a, b] = (await filesOf(report, slow)) as [string, string]
    expect(await run(['report', a, b])).toMatchObject({ code: 0, out: expect.stringMatching(/took +1\.203s +9s +\+7\.797s\n/) })
    expect(await run(['report', a, b, '--slower', '5s'])).toMatchObject({ code: 1, out: expect.stringContaining('+7.797s worse') })
    expect((await run(['report', a, b, '--slower=10s'])).code).toBe(0)
  })

  test('is written as a page', async () => {
    const [path] = (await filesOf(report)) as [string]
    const page = join(folder, 'report.html')
    expect(await run(['report', path, '--html', page])).toEqual({ code: 0, err: '', out: `${page}\n`, served: [] })
    expect(await readFile(page, 'utf8')).toContain('<h1>Stopped by SIGTERM</h1>')
    const nowhere = join(folder, 'no', 'such', 'folder.html')
    expect(await run(['report', path, '--html', nowhere])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^quiesce: --html: got ".+", allowed: a file that can be written \(ENOENT/),
    })
  })

  test('is a document for programs', async () => {
    const { code, out } = await run(['report', '-', '--json'], { stdin: report })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual(JSON.parse(report))
  })

  test.each([
    [[], 'report: no file was given, allowed: '],
    [['-', '-'], 'report: got "-" twice, allowed: standard input once'],
    [['a', 'b', '--html=c'], 'report: got --html and two files, allowed: '],
    [['a', '--slower=1s'], 'report: got --slower and one file, allowed: '],
    [['a', 'b', 'c'], '"c": unexpected argument, see quiesce report --help'],
  ])('refuses %j', async (args, problem) => {
    expect(await run(['report', ...args])).toMatchObject({ code: 2, out: '', err: expect.stringContaining(`quiesce: ${problem}`) })
  })

  const without = (name: string) => JSON.stringify({ ...JSON.parse(report), [name]: undefined })
  test.each([
    report.slice(0, 200),
    '',
    ...['exitCode', 'reason', 'forced', 'startedAt', 'stopRequestedAt', 'endedAt', 'platform', 'signals', 'phases', 'requests'].map(
      without,
    ),
    JSON.stringify({ ...JSON.parse(report), signals: [{}] }),
    JSON.stringify({ ...JSON.parse(report), phases: [{}] }),
    JSON.stringify({ ...JSON.parse(report), platform: {} }),
    JSON.stringify({ ...JSON.parse(report), reason: { kind: 'crash' } }),
  ])('calls incomplete what is, in one line (%#)', async (stdin) => {
    expect(await run(['report', '-'], { stdin })).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^quiesce: -: not a complete report.*\n$/),
    })
  })

  const changed = (change: object) => JSON.stringify({ ...JSON.parse(report), ...change })

  test.each([
    [{ signals: [{ name: 'Start', at: 'soon', outcome: 'ok' }] }, 'signals[0].at: got "soon", allowed: number'],
    [{ signals: [{ name: 'Start', at: 1, outcome: 'fine' }] }, 'signals[0].outcome: got "fine", allowed: "ok", "failed", "cut", "skipped"'],
    [{ platform: { name: 'unknown', reason: '' } }, 'platform.defaults: missing'],
    [{ reason: { kind: 'crash', origin: 'uncaughtException' } }, 'reason.error: missing'],
    [{ requests: { before: -1, after: 0, cut: [] } }, 'requests.before: got -1, allowed: at least 0'],
    [{ rejections: { draining: 'many' } }, 'rejections.draining: got "many", allowed: integer'],
    [{ exitCode: 7 }, 'exitCode: got 7, allowed: 0, 1, 2, 3, 4, 5, 70'],
    // None of what a terminal obeys, marks that turn a line's direction among it.
    [{ phases: '\u202Eevil\u2066\u001b[31m\u0085' }, 'phases: got " evil \\u001b[31m ", allowed: array'],
  ])('names the field that is not as it should be: %j', async (change, why) => {
    expect((await run(['report', '-'], { stdin: changed(change) })).err).toBe(`quiesce: -: not a complete report: ${why}\n`)
  })

  test.each([
    ['an earlier version', { forcedBy: undefined, budget: undefined, lastCall: undefined }],
    ['a later version', { weather: 'fine', platform: { name: 'moon', reason: 'dust', defaults: {}, gravity: 1.6 } }],
    ['a worker of a cluster whose primary is gone', { reason: { kind: 'disconnected' } }],
  ])('prints the report of %s', async (_, change) => {
    expect(await run(['report', '-'], { stdin: changed(change) })).toMatchObject({ code: 0, err: '' })
  })

  test('knows no bound where the schema has none', async () => {
    const { signals } = JSON.parse(report) as { readonly signals: readonly object[] }
    const late = { signals: signals.map((signal) => ({ ...signal, at: 1e300 })) }
    const text = changed(late)
    for (const stdin of [text, text.replaceAll('1e+300', '-1e999')])
      expect((await run(['report', '-'], { stdin })).err).not.toContain('undefined')
  })

  test('says in one line that a file is garbage', async () => {
    const garbage = '\0\u0001garbage\n\nmore\u001b[2J'
    expect(await run(['report', '-'], { stdin: garbage })).toMatchObject({ code: 2, err: expect.stringMatching(/^[^\p{Cc}]+\n$/u) })
  })

  test.each([
    [[], 'report: no file was given, allowed: a report that --report-file wrote, or - for standard input'],
    [[''], 'report: no file was given, allowed: a report that --report-file wrote, or - for standard input'],
    [['--all'], '--all: unknown flag, see quiesce report --help'],
    [['/no/such/file'], "/no/such/file: ENOENT: no such file or directory, stat '/no/such/file'"],
    [['.'], '.: EISDIR: illegal operation on a directory, read'],
  ])('refuses the arguments %j', async (args, why) => {
    expect(await run(['report', ...args])).toEqual({ code: 2, out: '', err: `quiesce: ${why}\n`, served: [] })
  })

  test.skipIf(process.platform === 'win32')('gives up on a file without an end', async () => {
    expect(await run(['report', '/dev/zero'])).toMatchObject({ code: 2, err: 'quiesce: /dev/zero: more than 256 MiB\n' })
  })
})
