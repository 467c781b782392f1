// @ts-check
// `npm run check:readme [FILE...]`: runs the code blocks of README.md and docs/ as a new user
// would, in an empty folder with the packed package installed. What happens to a block says the
// comment on the line above it:
//
//   <!-- run -->               a js or ts program that must end with exit code 0 (ts is type-checked first); sh commands; or a console
//                              block, whose `$ ` lines are commands and whose other lines are the output they must print
//   <!-- run: serves 8080 -->  the same, but a server: kept until `<!-- stop -->`, the next server or the end of the document, then sent
//                              SIGTERM (Ctrl-C if its output shows `^C`), and must end with exit code 0. Blocks in between may talk to
//                              it and find its process id in $SERVER_PID. When the signal comes, a request is under way that takes three
//                              seconds; it must be answered (slow-answers.mjs)
//   <!-- run: serves 8080, cut short -->  the same without such a request: its end is not to wait
//   <!-- run: exits 1 -->      the same as run, but its last command must end with this exit code
//   <!-- file: NAME -->        saved under that name for later blocks
//   <!-- test -->              the project's own test command: .ci/run takes it from here (`--print-test` prints it)
//   <!-- not run: REASON -->   left alone
//
// In README.md a js, ts, sh or console block without such a comment is an error. In expected output
// `…` stands for any text, and a line of its own for any lines. Documented ports are replaced by
// free ones. Several documents run at a time, because their programs wait most of the time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../test/support/free-port.mjs'
import { pack } from './pack.mjs'
import { givenArguments } from './usage.mjs'

/** Of the package, where it has been packed just now. */
const { TARBALL } = process.env
/** What only programs in documents import. */
const OF_DOCUMENTS = { '@modelcontextprotocol/sdk': '^1.32.2' }
const PATIENCE_MS = 60_000
const SLOW_MS = 3_000
const DOCUMENTS_AT_A_TIME = 3
const EXECUTABLE = ['js', 'ts', 'sh', 'console']
const SLOW_ANSWERS = `--import ${new URL('readme/slow-answers.mjs', import.meta.url)}`
const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * @typedef {{ at: string, directive: string, argument: string, language: string, text: string }} Block
 * @typedef {{ at: string, child: import('node:child_process').ChildProcess, closed: Promise<unknown>, output: () => string, expected: string, isNpm: boolean, stopped: boolean, port: number, isSlow: boolean, slow?: Promise<number> }} Server
 */

/** The marked blocks and `stop` comments of a document, in order. @param {string} file @returns {Block[]} */
function blocksOf(file) {
  /** @type {Block[]} */
  const blocks = []
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  let directive = ''
  let argument = ''
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i] ?? ''
    const comment = /^<!-- (run|file|test|not run|stop)(?:: (.*?))? -->$/.exec(line.trim())
    if (comment?.[1] === 'stop') blocks.push({ at: `${file}:${i + 1}`, directive: 'stop', argument: '', language: '', text: '' })
    else if (comment) [directive, argument] = [comment[1] ?? '', comment[2] ?? '']
    const fence = /^(`{3,})(\w*)/.exec(line)
    if (!fence) {
      if (!comment && line.trim() !== '') directive = ''
      continue
    }
    const begun = i + 1
    while (i + 1 < lines.length && !lines[i + 1]?.startsWith(fence[1] ?? '```')) i += 1
    blocks.push({ at: `${file}:${begun}`, directive, argument, language: fence[2] ?? '', text: lines.slice(begun, i + 1).join('\n') })
    i += 1
    directive = ''
  }
  return blocks
}

/** Expected output as a pattern. @param {string} expected */
function pattern(expected) {
  const literal = (/** @type {string} */ text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const lines = expected
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '^C')
    .map((line) => (line.trim() === '…' ? '(?:[^\\n]*\\n)*?' : `${line.trimEnd().split('…').map(literal).join('[^\\n]*?')}[ \\t\\r]*\\n`))
  return new RegExp(`^${lines.join('')}$`)
}

/** @param {string} at @param {string} expected @param {string} actual */
function compare(at, expected, actual) {
  if (expected.trim() === '') return
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
  const plain = `${actual.replace(/\x1b\[[0-9;]*m/g, '').trim()}\n`
  if (!pattern(expected).test(plain)) throw new Error(`${at}: documented output\n${expected}\n--- differs from what was printed:\n${plain}`)
}

/** @param {Block} block */
const servedPort = ({ argument }) => /^serves (\d+)(, cut short)?$/.exec(argument)?.[1]

/** @param {Block} block */
const exitCodeOf = ({ argument }) => Number(/^exits (\d+)$/.exec(argument)?.[1] ?? 0)

/** A console block as its commands, each with the output it shows. @param {string} text */
function session(text) {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const lines = part.split('\n')
      let end = 1
      while (lines[end - 1]?.endsWith('\\')) end += 1
      return { command: lines.slice(0, end).join('\n'), expected: lines.slice(end).join('\n') }
    })
}

/** @param {number} port */
const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })

/**
 * A request of three seconds; resolves when it is under way, with a promise of its status. 0 is a
 * connection that broke.
 * @param {number} port
 * @returns {Promise<{ status: Promise<number> }>}
 */
const slowRequest = (port) =>
  new Promise((underWay) => {
    /** @type {Promise<number>} */
    const status = new Promise((resolve) => {
      const request = get({ host: '127.0.0.1', port, path: '/', headers: { 'x-slow': SLOW_MS }, agent: false }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0))
        response.once('error', () => resolve(0))
      })
      request.once('error', () => resolve(0))
      request.once('information', () => underWay({ status }))
    })
    // Broken, or answered at once: the caller sees it by the status.
    void status.then(() => underWay({ status }))
  })

/** One document, run from top to bottom in a folder of its own. */
class Document {
  passed = 0
  #server = /** @type {Server | undefined} */ (undefined)
  #ports = /** @type {Map<string, number>} */ (new Map())
  #programs = 0

  /** @param {string} file @param {Readonly<Record<string, string>>} tarballs of our packages, by their names */
  constructor(file, tarballs) {
    this.file = file
    this.tarballs = tarballs
    this.blocks = blocksOf(file)
    this.folder = mkdtempSync(join(tmpdir(), 'quiesce-readme-'))
  }

  /** @param {string} text */
  #withFreePorts = (text) =>
    [...this.#ports].reduce((result, [from, to]) => result.replace(new RegExp(`\\b${from}\\b`, 'g'), String(to)), text)

  async run() {
    for (const block of this.blocks) {
      const port = servedPort(block)
      if (port && !this.#ports.has(port)) this.#ports.set(port, await freePort())
    }
    await this.#install()
    try {
      for (const block of this.blocks) {
        await this.#block({ ...block, text: this.#withFreePorts(block.text) })
      }
      await this.#stop()
    } finally {
      if (this.#server) killGroup(this.#server.child, 'SIGKILL')
      rmSync(this.folder, { recursive: true, force: true })
    }
  }

  /**
   * The package, and from the registry what the document's programs import, in the versions we
   * develop against.
   */
  async #install() {
    const { name, dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const versions = { ...dependencies, ...devDependencies, ...OF_DOCUMENTS }
    const imports = /(?:\bfrom |\bimport |\brequire\()'((?:@[\w-]+\/)?[\w-][\w.-]*)/g
    const imported = this.blocks.flatMap(({ text }) => [...text.matchAll(imports)].map((match) => match[1] ?? ''))
    const packages = [...new Set(imported)].filter((id) => id in versions && !(id in this.tarballs)).map((id) => `${id}@${versions[id]}`)
    const types = this.blocks.some(({ language }) => language === 'ts') ? [`@types/node@${versions['@types/node']}`] : []
    writeFileSync(join(this.folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    const own = Object.entries(this.tarballs).flatMap(([id, tarball]) => (id === name || imported.includes(id) ? [tarball] : []))
    const args = ['install', '--no-fund', '--no-audit', '--loglevel=error', ...own, ...packages, ...types]
    const [code] = await once(spawn('npm', args, { cwd: this.folder, stdio: ['ignore', 'inherit', 'inherit'] }), 'close')
    if (code !== 0) throw new Error(`${this.file}: npm could not install ${[name, ...packages].join(', ')}`)
  }

  /** @param {Block} block */
  async #block(block) {
    const { at, directive, argument, language, text } = block
    if (directive === 'stop') return this.#stop()
    if (directive === 'file') return writeFileSync(join(this.folder, argument), `${text}\n`)
    if (directive === '' && EXECUTABLE.includes(language) && this.file === 'README.md') {
      throw new Error(`${at}: this ${language} block is neither run nor said not to be; see scripts/readme.mjs`)
    }
    if (directive !== 'run') return
    const commands = language === 'console' ? session(text) : [{ command: await this.#program(block), expected: '' }]
    const port = servedPort(block)
    const exitCode = exitCodeOf(block)
    if (argument !== '' && !port && exitCode === 0)
      throw new Error(`${at}: <!-- run: ${argument} -->: allowed are "serves PORT", "serves PORT, cut short" and "exits CODE"`)
    if (commands.length === 0 || (port && commands.length > 1))
      throw new Error(`${at}: a server is one command, a console block at least one`)
    for (const [i, { command, expected }] of commands.entries()) {
      console.log(`${at}: ${command.split('\n')[0]}`)
      const isSlow = !argument.endsWith('cut short')
      if (port) await this.#serve(at, command, expected, this.#ports.get(port) ?? 0, isSlow)
      else await this.#command(at, command, expected, i === commands.length - 1 ? exitCode : 0)
    }
    this.passed += 1
  }

  /** The command that runs a block. @param {Block} block */
  async #program({ at, language, text }) {
    // A new user gets the package from the registry; here it is the tarball.
    if (language === 'sh') return text.replace(/(?<=^npm (?:i|install|add)\b.*?)(?<= )[@\w/]+(?= |$)/gm, (id) => this.tarballs[id] ?? id)
    this.#programs += 1
    const base = `block-${this.#programs}`
    if (language === 'js') writeFileSync(join(this.folder, `${base}.mjs`), `${text}\n`)
    else if (language === 'ts') await this.#compile(at, base, text)
    else throw new Error(`${at}: cannot run a ${language || 'nameless'} block`)
    return `node ${base}.mjs`
  }

  /** @param {string} at @param {string} base @param {string} text */
  async #compile(at, base, text) {
    // Not at the top: `--print-test` runs before anything is installed.
    const { default: ts } = await import('typescript')
    const file = join(this.folder, `${base}.mts`)
    writeFileSync(file, `${text}\n`)
    const options = {
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
      module: ts.ModuleKind.NodeNext,
      strict: true,
      skipLibCheck: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      outDir: this.folder,
      types: ['node'],
      typeRoots: [join(this.folder, 'node_modules/@types')],
    }
    const program = ts.createProgram([file], options)
    const diagnostics = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics]
    if (diagnostics.length === 0) return
    const host = {
      getCanonicalFileName: (/** @type {string} */ name) => name,
      getCurrentDirectory: () => this.folder,
      getNewLine: () => '\n',
    }
    throw new Error(`${at}: does not compile\n${ts.formatDiagnostics(diagnostics, host)}`)
  }

  /** @param {string} command @param {Record<string, string>} [env] */
  #spawn(command, env) {
    // A process group of its own, as a terminal gives it: Ctrl-C reaches everything in it.
    const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
      cwd: this.folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        NO_COLOR: '1',
        FORCE_COLOR: undefined,
        npm_config_loglevel: 'error',
        SERVER_PID: String(this.#server?.child.pid ?? ''),
        ...env,
      },
    })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    return { child, output: () => output, closed: once(child, 'close') }
  }

  /** @param {string} at @param {string} command @param {string} expected @param {number} exitCode */
  async #command(at, command, expected, exitCode) {
    const isStop = /\bkill\b.*\$SERVER_PID/.test(command)
    if (isStop) await this.#slow()
    const { child, output, closed } = this.#spawn(command)
    const late = sleep(PATIENCE_MS, 'late', { ref: false })
    if ((await Promise.race([closed, late])) === 'late') {
      killGroup(child, 'SIGKILL')
      throw new Error(`${at}: still running after ${PATIENCE_MS} ms: ${command}\n${output()}`)
    }
    // It has had its signal from the document; a second one would be another story.
    if (this.#server && isStop) this.#server.stopped = true
    if (child.exitCode !== exitCode)
      throw new Error(`${at}: ${command}: exit code ${child.exitCode ?? child.signalCode}, not ${exitCode}\n${output()}`)
    compare(at, expected, output())
  }

  /** @param {string} at @param {string} command @param {string} expected @param {number} port @param {boolean} isSlow */
  async #serve(at, command, expected, port, isSlow) {
    await this.#stop()
    // Where the document relies on the command's default port, there is nothing to replace.
    const { child, output, closed } = this.#spawn(`exec ${command}`, { QUIESCE_PORT: String(port), NODE_OPTIONS: SLOW_ANSWERS })
    this.#server = { at, child, closed, output, expected, isNpm: /^np[mx] /.test(command), stopped: false, port, isSlow }
    const deadline = performance.now() + PATIENCE_MS
    while (!(await accepts(port))) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${at}: the server ended with ${child.exitCode}\n${output()}`)
      if (performance.now() > deadline) throw new Error(`${at}: nothing listens on its port after ${PATIENCE_MS} ms\n${output()}`)
      await sleep(50)
    }
  }

  /** Puts a slow request under way, once. */
  async #slow() {
    if (!this.#server?.isSlow || this.#server.slow) return
    const { status } = await slowRequest(this.#server.port)
    this.#server.slow = status
  }

  async #stop() {
    if (!this.#server) return
    await this.#slow()
    const { at, child, closed, output, expected, isNpm, stopped, slow } = this.#server
    const signal = /^\^C$/m.test(expected) ? 'SIGINT' : 'SIGTERM'
    if (!stopped && child.exitCode === null && child.signalCode === null) killGroup(child, signal)
    if ((await Promise.race([closed, sleep(PATIENCE_MS, 'late', { ref: false })])) === 'late') {
      killGroup(child, 'SIGKILL')
      throw new Error(`${at}: the server did not end within ${PATIENCE_MS} ms of its signal\n${output()}`)
    }
    this.#server = undefined
    const status = await slow
    if (status !== undefined && (status < 200 || status > 499 || status === 429))
      throw new Error(`${at}: a request of ${SLOW_MS} ms was under way at the signal and had no answer (${status})\n${output()}`)
    // npm and npx end by the signal that they had, whatever the exit code of what they ran.
    const number = { SIGINT: 130, SIGTERM: 143 }[signal]
    const good = child.exitCode === 0 || (isNpm && (child.signalCode === signal || child.exitCode === number))
    if (!good) throw new Error(`${at}: the server ended with ${child.exitCode ?? child.signalCode}\n${output()}`)
    compare(at, expected, output())
  }
}

/** @param {import('node:child_process').ChildProcess} child @param {NodeJS.Signals} signal */
function killGroup(child, signal) {
  if (child.pid !== undefined) process.kill(-child.pid, signal)
}

async function main() {
  const { values, positionals } = givenArguments({ allowPositionals: true, options: { 'print-test': { type: 'boolean' } } })
  if (values['print-test']) {
    const tests = blocksOf('README.md').filter(({ directive }) => directive === 'test')
    if (tests.length !== 1) throw new Error(`README.md: expected one <!-- test --> block, found ${tests.length}`)
    console.log(tests[0]?.text)
    return
  }
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((file) => join('docs', file))
  const files =
    positionals.length > 0 ? positionals.map((file) => relative(root, file)) : ['README.md', ...docs.filter((file) => file.endsWith('.md'))]
  const documents = files.filter((file) => file === 'README.md' || blocksOf(file).some(({ directive }) => directive === 'run'))
  const folder = join(root, '.results/package')
  const tarballs = {
    quiesce: TARBALL ? join(root, TARBALL) : pack(folder),
    '@quiesce/apiserver': pack(folder, join(root, 'packages/apiserver')),
  }
  const waiting = [...documents]
  const next = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const document = new Document(file, tarballs)
      await document.run()
      console.log(`${file}: ${document.passed} blocks ran`)
      if (document.passed === 0) throw new Error(`${file}: no block ran`)
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: DOCUMENTS_AT_A_TIME }, next))
  const failures = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  if (failures.length > 0) throw new Error(failures.map((error) => (error instanceof Error ? error.message : String(error))).join('\n'))
}

await main().catch((error) => {
  console.error(`check:readme: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
})
