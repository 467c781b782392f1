import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Report } from '#src/index.ts'
import { temporaryFolder } from '../support/process.ts'
import { Screen } from '../support/screen.ts'

/**
 * `quiesce serve`, and servers of one's own, on a real pseudo-terminal, which util-linux's `script`
 * makes, and whose output is put on a screen.
 */

// Unbundled: the fixture below reaches into one of its modules.
const cli = fileURLToPath(new URL('../../build/src/cli/main.js', import.meta.url))
const slowRegistry = fileURLToPath(new URL('../fixtures/slow-registry.mjs', import.meta.url))
const ownServer = fileURLToPath(new URL('../fixtures/own-server.mjs', import.meta.url))
const PROMPT_MS = 30_000

interface Setting {
  readonly columns?: number
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** In place of `quiesce serve`. */
  readonly program?: readonly string[]
}

class Terminal {
  readonly screen: Screen
  /** Everything the terminal was sent. */
  output = ''
  readonly script: ChildProcess
  readonly #reportFile = join(temporaryFolder(), 'report.json')
  /** The screen after each of the writes to it. */
  readonly #frames: string[] = []
  #seen = 0
  readonly #pidFile = join(temporaryFolder(), 'pid')

  constructor({ columns = 100, env = {}, args = [], program }: Setting = {}) {
    this.screen = new Screen(columns, 40)
    const serve = ['--import', slowRegistry, cli, 'serve', '--port=0', '--kill-after=1h', `--report-file=${this.#reportFile}`, ...args]
    const command = `stty cols ${columns} rows 40; echo $$ > ${this.#pidFile}; exec node ${(program ?? serve).join(' ')}`
    this.script = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
      env: { PATH: process.env['PATH'], TERM: 'xterm', SHELL: '/bin/sh', SLOW_LEAVE_MS: '0', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => {
      if (this.isAlive) process.kill(this.pid, 'SIGKILL')
      this.script.kill('SIGKILL')
    })
    this.script.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text
      this.screen.write(text)
      this.#frames.push(this.screen.lines.join('\n'))
    })
  }

  get pid(): number {
    return Number(readFileSync(this.#pidFile, 'utf8'))
  }

  get isAlive(): boolean {
    return existsSync(`/proc/${this.pid}`)
  }

  get report(): Report {
    return JSON.parse(readFileSync(this.#reportFile, 'utf8')) as Report
  }

  /**
   * Resolves when the screen has shown it, somewhere, since it showed what was asked for before:
   * however late we look.
   */
  async shows(text: string | RegExp): Promise<void> {
    const isShown = (frame: string): boolean => (typeof text === 'string' ? frame.includes(text) : text.test(frame))
    await expect
      .poll(() => this.#frames.slice(this.#seen).some(isShown) || this.screen.lines.join('\n'), { timeout: PROMPT_MS, interval: 20 })
      .toSatisfy((found) => found === true || isShown(String(found)))
    this.#seen += Math.max(0, this.#frames.slice(this.#seen).findIndex(isShown))
  }

  /**
   * Requests a path, of which the server has heard when this resolves; nobody reads the answer.
   * Gives what its client leaves with.
   */
  async request(path: string): Promise<() => void> {
    const [, port] = /Serving on http:\/\/127\.0\.0\.1:(\d+)/.exec(this.output) as RegExpExecArray
    const send = (what: string) => get({ port, path: what, agent: false }, (response) => response.on('error', () => {}).resume())
    const request = send(path).on('error', () => {})
    const leave = (): void => void request.destroy()
    onTestFinished(leave)
    await once(request, 'finish')
    // Another one, on a connection of its own that is made after this was sent: when it is
    // answered, this was heard.
    await once(send('/echo?message=x'), 'close')
    return leave
  }

  type(text: string): void {
    this.script.stdin?.write(text)
  }

  /** Resolves with the exit code, when everything that was written has been read. */
  async ended(): Promise<number> {
    if (this.script.exitCode === null) await once(this.script, 'close')
    return this.script.exitCode as number
  }

  async gone(): Promise<void> {
    await expect.poll(() => this.isAlive, { timeout: PROMPT_MS, interval: 20 }).toBe(false)
  }

  /** What somebody does who drags the corner of the window. */
  resize(columns: number): void {
    const device = readlinkSync(`/proc/${this.pid}/fd/0`)
    execFileSync('stty', ['-F', device, 'cols', String(columns)])
    this.screen.reflow(columns)
  }
}

const logLines = (lines: readonly string[]): string[] => lines.filter((line) => /^\d\d:\d\d:\d\d/.test(line))

test('a drain is shown while it lasts, and only the log and the timeline stay', async () => {
  const terminal = new Terminal({ env: { SLOW_LEAVE_MS: '1500' }, args: ['--deadline=20s'] })
  await terminal.shows('ready, until a stop is requested')
  const leave: (() => void)[] = []
  for (const path of ['/slow?ms=15000', '/slow?ms=15000', '/watch']) leave.push(await terminal.request(path))
  terminal.type('\u0003')
  await terminal.shows(
    /\n\ndraining for \d\.\ds \(SIGINT, refuse\): at most 1\d\.\ds more\n\[=*> *\] {2}press Ctrl-C again to end now\npre-shutdown hook "leave-registry" blocks the exit; .* in \d\.\ds\n {2}pre-shutdown-hooks .* pre-shutdown hook "leave-registry" \d\.\ds/,
  )
  await terminal.shows(/in flight +2 requests, 1 watch: GET \/.*\n {2}connections +3 active/)
  await terminal.shows(/request-drain +\d+\.\ds left {2}2 requests: GET \/slow \d\.\ds, GET \/slow \d\.\ds\n/)
  for (const one of leave) one()
  expect(await terminal.ended()).toBe(0)

  const { lines } = terminal.screen
  expect(lines.join('\n')).not.toMatch(/draining for|in flight/)
  expect(lines.filter((line) => line.startsWith('exit code 0'))).toHaveLength(1)
  const messages = logLines(lines).map((line) => line.slice(20))
  expect(new Set(messages).size).toBe(messages.length)
  expect(messages.at(-1)).toContain('is exiting')
  // What the terminal echoes stands on a line of its own.
  expect(lines).toContain('^C')
  // The timeline stands below the log, after a blank line.
  expect(lines.findIndex((line) => line.startsWith('stopped by SIGINT'))).toBeGreaterThan(
    lines.lastIndexOf(logLines(lines).at(-1) as string) + 1,
  )
})

/** What the log says of a drain at level info, in its order. */
const DRAIN_LINES = [
  'ready, until a stop is requested',
  'stop requested',
  'ShutdownInitiated',
  'AfterShutdownDelayDuration',
  'pre-shutdown hooks are over',
  'NotAcceptingNewRequest',
  'Stopped listening on',
  'HTTPServerStoppedListening',
  'watches are over',
  'requests are over',
  'InFlightRequestsDrained',
  'is exiting',
]

/** Those of them that a text has, above the timeline; a line may be wrapped. */
function messagesIn(text: string): string[] {
  const log = text.slice(0, text.indexOf('stopped by')).replaceAll(/\n +/g, ' ')
  return log.match(new RegExp([...new Set(DRAIN_LINES)].map((line) => line.replaceAll(/[()]/g, '\\$&')).join('|'), 'g')) ?? []
}

test('a window may change its size meanwhile', async () => {
  const terminal = new Terminal({ env: { SLOW_LEAVE_MS: '500' }, args: ['--deadline=20s'] })
  await terminal.shows('ready, until a stop is requested')
  const leave = await terminal.request('/slow?ms=15000')
  terminal.type('\u0003')
  await terminal.shows('draining for')
  for (const columns of [50, 30, 120, 45, 100]) {
    terminal.resize(columns)
    const { writes } = terminal.screen
    await expect.poll(() => terminal.screen.writes).toBeGreaterThan(writes + 1)
    // What we see may end in the middle of a frame.
    await expect.poll(() => terminal.screen.lines.filter((line) => line.startsWith('draining for'))).toHaveLength(1)
  }
  leave()
  expect(await terminal.ended()).toBe(0)
  const text = terminal.screen.lines.join('\n')
  expect(text).not.toContain('draining for')
  expect(messagesIn(text)).toEqual(DRAIN_LINES)
})

test('without colour it is the same view in plain text', async () => {
  const terminal = new Terminal({ env: { SLOW_LEAVE_MS: '800', NO_COLOR: '1' }, args: ['--deadline=20s'] })
  await terminal.shows('ready, until a stop is requested')
  terminal.type('\u0003')
  await terminal.shows('draining for')
  expect(await terminal.ended()).toBe(0)
  expect(terminal.output).toContain('\u001b[J')
  expect(terminal.output).not.toMatch(/\[\d+m/)
})

test('a terminal that cannot redraw gets lines, and no escape sequence at all', async () => {
  const terminal = new Terminal({ env: { SLOW_LEAVE_MS: '800', TERM: 'dumb' }, args: ['--deadline=20s'] })
  await terminal.shows('ready, until a stop is requested')
  terminal.type('\u0003')
  expect(await terminal.ended()).toBe(0)
  expect(terminal.output).not.toContain('\u001b')
  expect(terminal.output).not.toContain('draining for')
  expect(terminal.output).toContain('exit code 0')
})

test('an end by force takes the view away, too', async () => {
  const terminal = new Terminal({ env: { SLOW_LEAVE_MS: '30000' }, args: ['--deadline=40s'] })
  await terminal.shows('ready, until a stop is requested')
  process.kill(terminal.pid, 'SIGTERM')
  // Signals within half a second count as one: the view says when another is heard.
  await terminal.shows('press Ctrl-C to end now')
  process.kill(terminal.pid, 'SIGTERM')
  expect(await terminal.ended()).toBe(1)
  const { lines } = terminal.screen
  expect(lines.join('\n')).not.toContain('draining for')
  expect(lines).toContainEqual(expect.stringMatching(/^stopped by SIGTERM, ended by force \(second-signal: SIGTERM\) in \d/))
  expect(lines.at(-1)).toBe('exit code 1: forced by a second signal or process.exit(), or a crash')
})

/** What the application of the fixture has written, in its order. */
const APP_LINES = ['app: serves', 'app: by console', 'app: by standard error', 'app: by descriptor', 'app: in two parts']

const own = (env: Readonly<Record<string, string>>): Terminal => new Terminal({ program: [ownServer], env })

describe.each(['createServer', 'attachLifecycle', 'createLife'])('a server of one’s own, made with %s,', (OWN) => {
  test('shows its drain and its timeline as the example does, and what the application writes stays whole', async () => {
    const terminal = own({ OWN })
    await terminal.shows('ready, until a stop is requested')
    terminal.type('\u0003')
    await terminal.shows(/draining for .*\n\[=*> *\] {2}press Ctrl-C again to end now\npre-shutdown hook "leave-registry" blocks the exit/)
    await terminal.shows(/app: in\ndraining for/)
    expect(await terminal.ended()).toBe(0)
    const { lines } = terminal.screen
    expect(lines.join('\n')).not.toMatch(/draining for|press Ctrl-C/)
    expect(lines.filter((line) => line.startsWith('app: '))).toEqual([...APP_LINES, 'app: ended with 0'])
    expect(lines).toContainEqual(expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}the server is exiting$/))
    // The timeline stands below the log, after a blank line, and what the program does after
    // `run()` below that.
    const at = lines.findIndex((line) => line.startsWith('stopped by SIGINT, ended in'))
    expect(lines[at - 1]).toBe('')
    expect(lines.slice(-2)).toEqual(['exit code 0: graceful: everything ended by itself', 'app: ended with 0'])
  })
})

test('two lives in one process are shown one below the other, and the timeline of each stays', async () => {
  const terminal = own({ OWN: 'createServer', HOOK_MS: '1500', OTHER_MS: '3000' })
  await terminal.shows('app: serves')
  terminal.type('\u0003')
  await terminal.shows(/\ndraining for [\s\S]*\ndraining for /)
  // The first is over, and above the view of the other.
  await terminal.shows(/exit code 0: [\s\S]*\n\ndraining for [\s\S]*"other"/)
  expect(await terminal.ended()).toBe(0)
  const { lines } = terminal.screen
  expect(lines.filter((line) => line.startsWith('stopped by SIGINT'))).toHaveLength(2)
  expect(lines.filter((line) => line.startsWith('app: '))).toEqual([...APP_LINES, 'app: ended with 0'])
  expect(lines.join('\n')).not.toContain('draining for')
})

test('on the terminal of a cluster nothing is redrawn: its workers log JSON lines, and the primary lines for people', async () => {
  const terminal = own({ OWN: 'createServer', CLUSTER: '1', HOOK_MS: '1000' })
  await terminal.shows(/app: serves[\s\S]*app: serves/)
  terminal.type('\u0003')
  expect(await terminal.ended()).toBe(0)
  expect(terminal.output).not.toContain('\u001b[?7l')
  expect(terminal.output).not.toContain('draining for')
  const { lines } = terminal.screen
  expect(lines.filter((line) => line.includes('{"level"')).length).toBeGreaterThan(5)
  expect(logLines(lines).length).toBeGreaterThan(5)
  expect(lines.filter((line) => line.startsWith('stopped by SIGINT'))).toHaveLength(1)
})

test('in a pipe, pretty: true is lines for people and the timeline', async () => {
  const env = { PATH: process.env['PATH'], OWN: 'createServer', HOOK_MS: '0', OPTIONS: '{"pretty":true}' }
  const program = spawn(process.execPath, [ownServer], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void program.kill('SIGKILL'))
  let output = ''
  program.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (!output.includes('app: serves') && text.includes('app: serves')) program.kill('SIGTERM')
    output += text
  })
  const [code] = (await once(program, 'close')) as [number]
  expect(code).toBe(0)
  expect(output).not.toContain('\u001b')
  expect(output).toMatch(/\n\d\d:\d\d:\d\d\.\d{3} INFO {2}the server is exiting\n\nstopped by SIGTERM, ended in /)
  expect(output).toMatch(/\nexit code 0: graceful: everything ended by itself\napp: ended with 0\n$/)
  expect(output).not.toContain('draining for')
})

describe.each(['createServer', 'attachLifecycle'])('a server of one’s own, made with %s,', (OWN) => {
  test('prints the timeline of an end by force as well', async () => {
    const terminal = own({ OWN, HOOK_MS: '30000' })
    await terminal.shows('ready, until a stop is requested')
    terminal.type('\u0003')
    await terminal.shows('press Ctrl-C again to end now')
    terminal.type('\u0003')
    expect(await terminal.ended(), terminal.output).toBe(1)
    expect(terminal.screen.lines).toContainEqual(expect.stringMatching(/^stopped by SIGINT, ended by force \(second-signal: SIGINT\) in/))
    const last = 'exit code 1: forced by a second signal or process.exit(), or a crash'
    expect(terminal.screen.lines).toContain(last)
    // What standard error says in a pipe is in the timeline here.
    expect(terminal.output.split(last)).toHaveLength(2)
  })

  test('says how often Ctrl-C is to be pressed when the program has stopped itself', async () => {
    const terminal = own({ OWN, HOOK_MS: '30000', STOP: 'done' })
    await terminal.shows(/draining for [\s\S]*press Ctrl-C twice to end now/)
    terminal.type('\u0003')
    await terminal.shows('press Ctrl-C to end now')
    terminal.type('\u0003')
    expect(await terminal.ended(), terminal.output).toBe(1)
    expect(terminal.screen.lines).toContainEqual(expect.stringMatching(/^stopped by .*, ended by force \(second-signal: SIGINT\) in/))
  })

  test('and of one by process.exit()', async () => {
    const terminal = own({ OWN, EXIT: '7' })
    await terminal.shows('ready, until a stop is requested')
    terminal.type('\u0003')
    expect(await terminal.ended()).toBe(7)
    const { lines } = terminal.screen
    expect(lines.filter((line) => line.startsWith('app: '))).toEqual(APP_LINES)
    expect(lines).toContainEqual(expect.stringMatching(/^stopped by SIGINT, ended by force \(process-exit\) in/))
    expect(lines.join('\n')).not.toContain('draining for')
  })

  test.each<[string, Readonly<Record<string, string>>]>([
    ['with logger: false', { LOGGER: 'none' }],
    ['with logger: false, whatever pretty says', { LOGGER: 'none', OPTIONS: '{"pretty":true}' }],
    ['with a logger of its own', { LOGGER: 'own' }],
    ['with pretty: false', { OPTIONS: '{"pretty":false}' }],
    ['in a CI', { CI: 'true' }],
  ])('shows nothing of that %s', async (_, env) => {
    const terminal = own({ OWN, HOOK_MS: '0', ...env })
    const isSilent = env['LOGGER'] === 'none' || (env['LOGGER'] !== 'own' && OWN !== 'createServer')
    await terminal.shows('app: serves')
    terminal.type('\u0003')
    expect(await terminal.ended()).toBe(0)
    expect(terminal.output).not.toContain('\u001b')
    expect(terminal.output).not.toMatch(/draining for|stopped by/)
    const { lines } = terminal.screen
    if (env['LOGGER'] === 'own') expect(lines).toContain('own: the server is exiting')
    else if (isSilent) expect(lines.filter((line) => !/^(\^C)?app: /.test(line))).toEqual([])
    else expect(lines.filter((line) => /^(\^C)?\{"level"/.test(line)).length).toBeGreaterThan(5)
  })

  test('shows its drain and its timeline beside a logger of its own, with pretty: true', async () => {
    const terminal = own({ OWN, LOGGER: 'own', OPTIONS: '{"pretty":true}' })
    await terminal.shows('app: serves')
    terminal.type('\u0003')
    await terminal.shows('draining for')
    expect(await terminal.ended()).toBe(0)
    const { lines } = terminal.screen
    expect(lines.filter((line) => line.startsWith('app: '))).toEqual([...APP_LINES, 'app: ended with 0'])
    expect(lines).toContain('own: the server is exiting')
    expect(lines).toContain('exit code 0: graceful: everything ended by itself')
    expect(logLines(lines)).toEqual([])
  })
})

test('a terminal that is stopped holds neither the server nor its end', async () => {
  const terminal = new Terminal({ env: { SLOW_LEAVE_MS: '800' }, args: ['--deadline=5s', '--log-level=debug'] })
  await terminal.shows('ready, until a stop is requested')
  // Ctrl-S: from now on the terminal takes nothing.
  terminal.type('\u0013')
  await terminal.request('/slow?ms=1500')
  process.kill(terminal.pid, 'SIGTERM')
  await terminal.gone()
  expect(terminal.report).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 } })
})

test('nor does one that is closed', async () => {
  const terminal = new Terminal({ env: { SLOW_LEAVE_MS: '800' } })
  await terminal.shows('ready, until a stop is requested')
  await terminal.request('/slow?ms=1500')
  terminal.script.kill('SIGKILL')
  await terminal.gone()
  expect(terminal.report).toMatchObject({
    exitCode: 0,
    reason: { kind: 'os-signal', signal: 'SIGHUP' },
    requests: { before: 1, after: 0 },
    errors: [],
  })
})
