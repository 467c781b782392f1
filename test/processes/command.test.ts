import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { row } from '../support/row.ts'

/**
 * The command line as its users' scripts see it: a real process, its two streams, its exit code and
 * its report. A server that is killed by SIGTERM as node does by default fails every one of these.
 */
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const schema = JSON.parse(await readFile(new URL('../../schema/report.schema.json', import.meta.url), 'utf8')) as object

interface LogLine {
  readonly msg: string
  readonly name?: string
  readonly [field: string]: unknown
}

/**
 * Only the environment that the command line is meant to read: the one of the test machine may be a
 * platform.
 */
const environment = { PATH: process.env['PATH'] }

function start(...args: string[]) {
  return watched(spawn(process.execPath, [cli, ...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] }))
}

function watched<Child extends ChildProcess>(child: Child) {
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, stderr: text(child.stderr as Readable), exited: once(child, 'exit').then(([code]) => code as number | null) }
}

async function serve(...args: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const reportFile = join(folder, 'report.json')
  const { child, stderr, exited } = start('serve', '--port=0', `--report-file=${reportFile}`, ...args)
  const lines: LogLine[] = []
  const output = createInterface({ input: child.stdout })
  const listening = await new Promise<LogLine>((resolve, reject) => {
    output.on('line', (line) => {
      const entry = JSON.parse(line) as LogLine
      lines.push(entry)
      if (entry.msg.startsWith('Serving on ')) resolve(entry)
    })
    output.once('close', () => reject(new Error(`it ended without serving: ${JSON.stringify(lines)}`)))
  })
  const closed = once(output, 'close')
  return {
    lines,
    listening,
    url: listening.msg.slice('Serving on '.length),
    async stop() {
      child.kill('SIGTERM')
      const code = await exited
      await closed
      return { code, stderr: await stderr, report: JSON.parse(await readFile(reportFile, 'utf8')) as Record<string, unknown> }
    },
  }
}

describe('quiesce serve', () => {
  test('says in one JSON line where it serves', async () => {
    const { listening, url, stop } = await serve()
    expect(listening).toMatchObject({
      msg: `Serving on http://127.0.0.1:${listening['port']}`,
      address: '127.0.0.1',
      port: expect.any(Number),
    })
    expect(await (await fetch(`${url}/echo?message=hello`)).text()).toBe('hello')
    expect(await stop()).toMatchObject({ code: 0, stderr: '' })
  })

  test('logs upstream’s lines, where they are asked for, in the order in which the signals fired, the last one last', async () => {
    const { lines, stop } = await serve('--wording=upstream')
    await stop()
    const terminations = lines.flatMap(({ msg, signal: name }) =>
      /^\[graceful-termination\] (shutdown event|pre-shutdown hooks|in-flight)/.test(msg) && name !== undefined ? [name] : [],
    )
    expect(terminations).toEqual([
      'ShutdownInitiated',
      ...(terminations.indexOf('PreShutdownHooksStopped') === 1
        ? ['PreShutdownHooksStopped', 'AfterShutdownDelayDuration']
        : ['AfterShutdownDelayDuration', 'PreShutdownHooksStopped']),
      'NotAcceptingNewRequest',
      ...(terminations.indexOf('InFlightRequestsDrained') === 4
        ? ['InFlightRequestsDrained', 'HTTPServerStoppedListening']
        : ['HTTPServerStoppedListening', 'InFlightRequestsDrained']),
    ])
    expect(lines.at(-1)?.msg).toBe('[graceful-termination] apiserver is exiting')
  })

  test('speaks plainly by itself, and says of no time that it was given when it was not', async () => {
    const { lines, stop } = await serve()
    await stop()
    expect(lines.map(({ msg }) => msg).join('\n')).not.toMatch(/graceful-termination|MuxAndDiscovery|apiserver|watch request/)
    expect(lines[0]).toMatchObject({
      msg: expect.stringMatching(/^a stop may take \d+s$/),
      defaults: { shutdownDelay: { ms: 0, because: 'default' } },
    })
    expect(lines.at(-1)?.msg).toBe('the server is exiting')
  })

  row('RA-14', 'in retry-after mode the start says that connections get 2 s, whatever the request timeout is', async () => {
    const { lines, stop } = await serve('--wording=upstream', '--shutdown-send-retry-after', '--request-timeout=60s')
    await stop()
    expect(lines.find(({ msg }) => msg === '[graceful-termination] using HTTP Server shutdown timeout')).toMatchObject({
      shutdownTimeout: '2s',
    })
  })

  test.each(['--shutdown-send-retry-after=false', '--shutdown-send-retry-after=true'])(
    'finishes a slow request and ends watches with their last frame, %s',
    async (mode) => {
      const { url, stop } = await serve('--shutdown-watch-termination-grace-period=5s', mode)
      const slow = fetch(`${url}/slow?ms=400`)
      const watch = await fetch(`${url}/watch?intervalMs=50`)
      const events = await fetch(`${url}/events?intervalMs=50`)
      const frames = watch.text()
      const ticks = events.text()
      const { code, report } = await stop()
      expect(await (await slow).text()).toBe('done')
      expect(JSON.parse((await frames).trim().split('\n').at(-1) as string)).toMatchObject({ last: true })
      expect(await ticks).toMatch(/event: last\n/)
      expect(code).toBe(0)
      expect(report).toMatchObject({ exitCode: 0, reason: { kind: 'os-signal', signal: 'SIGTERM' }, watches: { before: 2, after: 0 } })
    },
  )

  test('writes a report that its schema describes and quiesce report prints', async () => {
    const { url, stop } = await serve()
    await fetch(`${url}/`)
    const { report } = await stop()
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
    expect(ajv.validate(schema, report), ajv.errorsText()).toBe(true)

    const printing = spawn(process.execPath, [cli, 'report', '-'], { env: environment, stdio: ['pipe', 'pipe', 'inherit'] })
    printing.stdin.end(JSON.stringify(report))
    const printed = await text(printing.stdout)
    expect(printed).toMatch(/^stopped by SIGTERM, ended in/)
    expect(printed).toContain('exit code 0: graceful')
  })

  test('ends with 3 when the port is taken, and says why', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as { port: number }
    const { child, stderr, exited } = start('serve', `--port=${port}`)
    const output = text(child.stdout)
    expect(await exited).toBe(3)
    expect(await output).toContain('EADDRINUSE')
    expect(await stderr).toMatch(
      new RegExp(
        `^quiesce: exit code 3: could not start: [a-z-]+: failed to create listener: failed to listen on 127\\.0\\.0\\.1:${port}: .*address already in use.*\nquiesce: process ${process.pid} \\(.*\\) has port ${port}: give another one \\(--port\\), or end that process \\(kill ${process.pid}\\)\n$`,
      ),
    )
  })

  test('ends with 2 and serves nothing when it is told something it cannot use', async () => {
    const { child, stderr, exited } = start('serve', '--port=99999', '--deadline=soon')
    expect(await text(child.stdout)).toBe('')
    expect(await stderr).toBe(
      'quiesce: --port: got 99999, allowed: an integer from 0 to 65535; 0 is any free port\n' +
        'quiesce: --deadline: got "soon", allowed: a duration like 500ms, 5s, 1m30s (units ns, us, ms, s, m, h, d); 100ms to 24d\n',
    )
    expect(await exited).toBe(2)
  })
})

/**
 * Whether the process has a handler of its own for SIGHUP. Node itself has none, so that this is
 * our own first line.
 */
function isLatched(pid: number): boolean {
  const [, caught] = /^SigCgt:\s*([\da-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (BigInt(`0x${caught ?? 0}`) & 1n) === 1n
}

/** Whether the process has this file open. */
const holds = (pid: number, path: string): boolean =>
  readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === path
    } catch {
      // Closed in between.
      return false
    }
  })

test.each([
  ['a function', 'export default () => new Promise(() => {})'],
  ['a module', 'export default await new Promise(() => {})'],
])('a life from %s that never settles is bad usage, and said to be', async (_, source) => {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const config = join(folder, 'life.mjs')
  await writeFile(config, source)
  const { child, stderr, exited } = start('check', `--config=${config}`)
  child.stdout.resume()
  expect(await exited).toBe(2)
  expect(await stderr).toMatch(/^quiesce: --config: got ".*life\.mjs", allowed: .*\(.*it waits for a promise that never settles\)\n$/)
})

describe.each(['check', 'plan', 'diagram'])('quiesce %s --config', (command) => {
  /** The exit code and what is said of a module that is written for the test. */
  async function lookAt(name: string, source: string): Promise<{ code: number | null; said: string }> {
    const folder = await mkdtemp(join(tmpdir(), 'quiesce-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, name), source)
    const { child, stderr, exited } = start(command, `--config=${join(folder, name)}`)
    child.stdout.resume()
    return { code: await exited, said: await stderr }
  }
  const made = `import { createServer } from '${new URL('../../dist/index.js', import.meta.url).href}'
    const server = createServer({ listener: () => {} }, { port: 0 })\n`

  test.each([
    ['runs its server', 'await server.run()', 'run()'],
    ['runs it and waits for nothing', 'void server.run()', 'run()'],
    ['starts it and looks away', 'server.started = (async () => server.start())().catch(() => {})', 'start()'],
    ['makes and runs it', 'export { run as default }; async function run() { await server.run(); return server }', 'run()'],
  ])('refuses a module that %s: nothing is served, exit code 2', async (_, last, call) => {
    const { code, said } = await lookAt('life.mjs', `${made}${last.includes('default') ? '' : 'export default server\n'}${last}`)
    expect(said).toBe(`quiesce: ${call} is called while its module is imported: export the server instead of running it\n`)
    expect(code).toBe(2)
  })

  test('says of a module that listens, and cannot, what is wanted instead', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const { code, said } = await lookAt(
      'life.mjs',
      `${made}import { createServer as listening } from 'node:net'\nlistening().listen(${port}, '127.0.0.1')\nexport default server`,
    )
    expect(said).toMatch(
      /^quiesce: --config: \S+ listens when it is imported, and could not \(listen EADDRINUSE[^)]*\): give attachLifecycle\(\) .*\n$/,
    )
    expect(code).toBe(2)
  })

  test('says of any other error of a module that it was its', async () => {
    const { code, said } = await lookAt('life.mjs', `${made}process.nextTick(() => { throw new Error('boom') })\nexport default server`)
    expect(said).toMatch(/^quiesce: --config: got .*life\.mjs".*\(it threw in a callback: boom .*\)\n$/)
    expect(code).toBe(2)
  })

  test('says of an app that it has no life, and does not call it', async () => {
    const { code, said } = await lookAt(
      'app.mjs',
      `import app from '${pathToFileURL(createRequire(import.meta.url).resolve('express')).href}'\nexport default app()`,
    )
    expect(said).toMatch(
      /^quiesce: --config: got .* \(it is an app or a server without a lifecycle: export what createServer\(app\), .*\)\n$/,
    )
    expect(code).toBe(2)
  })

  test('loads TypeScript where Node does, and says what does not', async () => {
    const { code, said } = await lookAt(
      'life.ts',
      `${made}const name: string = 'typed'\nserver.addDestroy(name, () => {})\nexport default server`,
    )
    const loads = (process.features as { typescript?: unknown }).typescript === 'strip'
    expect(said).toMatch(
      loads
        ? /^(\(node:\d+\) ExperimentalWarning[\s\S]*)?$/
        : /allowed: .* \(Node \S+ does not load TypeScript: use Node 22\.18 or newer, or give the compiled module\)\n$/,
    )
    expect(code).toBe(loads ? 0 : 2)
  })
})

describe.runIf(process.platform === 'linux')('a stop signal while the command line is loading', () => {
  test.each([
    ['SIGTERM', 'that is about to be written'],
    ['SIGINT', 'that nobody writes'],
    ['SIGHUP', 'that nobody writes'],
  ] as const)('%s is a stop, in order, also while it reads settings from a pipe %s', async (signal, about) => {
    const folder = await mkdtemp(join(tmpdir(), 'quiesce-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const config = join(folder, 'config.json')
    const reportFile = join(folder, 'report.json')
    execFileSync('mkfifo', [config])
    const { child, stderr, exited } = start('serve', '--port=0', `--config=${config}`, `--report-file=${reportFile}`)
    child.stdout.resume()
    if (about === 'that is about to be written') {
      // Opens when the other side does.
      const settings = await open(config, 'w')
      onTestFinished(() => settings.close())
    } else await expect.poll(() => holds(child.pid as number, config), { interval: 1, timeout: 20_000 }).toBe(true)
    child.kill(signal)
    expect(await exited).toBe(0)
    expect(await stderr).toBe('')
    expect(JSON.parse(await readFile(reportFile, 'utf8'))).toMatchObject({
      exitCode: 0,
      reason: { kind: 'abort-signal', reason: `${signal} before the server ran` },
      listeners: [],
    })
  })

  test('settings that come by a pipe, in pieces, are settings', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quiesce-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const config = join(folder, 'config.json')
    execFileSync('mkfifo', [config])
    const { stderr, exited } = start('serve', '--port=0', `--config=${config}`)
    const settings = await open(config, 'w')
    await settings.write('{ "dead')
    await settings.write('line": "soon" }')
    await settings.close()
    expect(await stderr).toContain(`deadline in ${config}: got "soon"`)
    expect(await exited).toBe(2)
  })

  test('is one from our first line on, however early it comes', async () => {
    for (const delayMs of [0, 20, 60, 120, 200, 300]) {
      const { child, exited } = start('serve', '--port=0')
      child.stdout.resume()
      await expect.poll(() => isLatched(child.pid as number), { interval: 1, timeout: 20_000 }).toBe(true)
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      child.kill('SIGTERM')
      expect(await exited, `${delayMs} ms after the first line`).toBe(0)
    }
  })

  test('ends the other commands as usual', async () => {
    const child = spawn(process.execPath, [cli, 'report', '-'], { env: environment, stdio: ['pipe', 'inherit', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM'])
  })
})

describe.runIf(existsSync('/dev/full'))('output that cannot be written', () => {
  function startOnFull(...args: string[]) {
    const full = openSync('/dev/full', 'w')
    try {
      return watched(spawn(process.execPath, [cli, ...args], { env: environment, stdio: ['ignore', full, 'pipe'] }))
    } finally {
      closeSync(full)
    }
  }

  test.each([
    ['a help', ['--help']],
    ['a command that says several things', ['diagram', '--format=mermaid', '--out=OUT']],
    ['a command that ends by itself', ['check', '--mode=refuse', '--outside=stop', '--property=end/possible']],
  ])('is said in one line, and costs %s its exit code', async (_, args) => {
    const out = await mkdtemp(join(tmpdir(), 'quiesce-'))
    onTestFinished(() => rm(out, { recursive: true }))
    const { stderr, exited } = startOnFull(...args.map((arg) => arg.replace('OUT', out)))
    expect(await stderr).toMatch(/^quiesce: standard output: ENOSPC.*\n$/)
    expect(await exited).toBe(4)
  })

  test('is said in one line, and leaves a server its exit code; the lines that its log has lost are counted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quiesce-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const reportFile = join(folder, 'report.json')
    const { child, stderr, exited } = startOnFull('serve', '--port=0', '--pretty', `--report-file=${reportFile}`)
    await expect.poll(() => isLatched(child.pid as number), { interval: 1, timeout: 20_000 }).toBe(true)
    child.kill('SIGTERM')
    const code = await exited
    // The report says what went wrong.
    expect({ code, errors: JSON.parse(await readFile(reportFile, 'utf8')).errors }).toEqual({ code: 0, errors: [] })
    const [, lines] =
      /^quiesce: (\d+) log lines were lost \[WARN_LOG_LOST\]\nquiesce: standard output: ENOSPC.*\n$/.exec(await stderr) ?? []
    expect(Number(lines)).toBeGreaterThan(1)
    expect(JSON.parse(await readFile(reportFile, 'utf8'))).toMatchObject({
      exitCode: 0,
      errors: [],
      warnings: [{ message: 'log lines were lost', details: { code: 'WARN_LOG_LOST', lines: Number(lines) } }],
    })
  })

  test('is no failure when the reader has gone', async () => {
    const { child, stderr, exited } = start('serve', '--help')
    child.stdout.destroy()
    expect(await exited).toBe(0)
    expect(await stderr).toBe('')
  })

  test('changes no exit code when it is standard error', async () => {
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [cli, 'serve', '--port=99999'], { env: environment, stdio: ['ignore', 'ignore', full] })
    closeSync(full)
    expect(await once(child, 'exit')).toEqual([2, null])
  })
})
