// @ts-check
// `npm run test:compat [-- WORD ...]`: quiesce with what stands around it, as its users install it:
// every cell is a small program that starts, serves, drains and ends, run with the packed package.
// `-- fastify "Node 24"` runs the cells that have all of these words in their name. `--update` writes
// docs/compatibility.md; without it the run fails when the verdicts there are others than those of
// today, or when a cell does not work (a run of some cells compares nothing).
//
// To add a cell, add one file to a folder of scripts/compatibility/: each folder is a table, each
// file a row, and each variant a column. Two kinds of files:
//
//   NAME.program.mjs (or .cjs) what a user writes: it prints `PORT <number>` once it listens and run() was called, answers GET / with `done` after a second,
//                                 and ends with quiesce. While such a request is under way it is sent SIGTERM; it must answer it, and
//                                 end with exit code 0.
//   NAME.check.mjs                what needs more than that: `export default async (cell) => { … }`, called once for each variant; it
//                                 fails by throwing. What `cell` has says the type Cell below.
//
// Both begin with comments, of which the first is the name of the row; the others, in any order:
//
//   // packages: express, ws      whose versions the table shows
//   // set: nest-12               the folder of scripts/compatibility/packages/ that is installed for it; default main
//   // variants: Node 20; Deno    the columns; of a program they are the runtimes it runs in (RUNTIMES below), by default every Node
//   // stop: GET /crash           instead of SIGTERM (another signal works, too)
//   // exit: 1                    the exit code that a program must end with; default 0
//   // note: TEXT                 a sentence below the table
//
// Packages are pinned by the lock file of their set (`npm install --package-lock-only` in its folder
// renews it) and installed once for each lock file, below the temporary folder.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { pack } from './pack.mjs'
import { givenArguments } from './usage.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const FOLDER = 'scripts/compatibility'
const TABLE = 'docs/compatibility.md'
/** For a start, a build, or an end; nothing waits for it but a hang. */
const PATIENCE_MS = 180_000
/** Of what a cell that fails has printed. */
const LONGEST = 3000
/** Programs wait for most of their time. */
const AT_A_TIME = availableParallelism() + 1

/** The tables, in their order. */
const SECTIONS = {
  frameworks: 'Frameworks',
  runtimes: 'Runtimes and what they may do',
  bundlers: 'Bundlers',
  'package-managers': 'Package managers',
  'test-runners': 'Test runners',
  typescript: 'TypeScript',
  'after-the-response': 'Work that goes on after the response',
  'crash-reporters': 'Crash reporters, and other owners of the end',
}

/** How a program is started in each runtime. @type {Record<string, (modules: string) => string[]>} */
const RUNTIMES = {
  'Node 20': (modules) => [join(modules, 'node-20/bin/node')],
  'Node 22': (modules) => [join(modules, 'node-22/bin/node')],
  'Node 24': (modules) => [join(modules, 'node-24/bin/node')],
  'Node 26': (modules) => [join(modules, 'node-26/bin/node')],
  Deno: (modules) => [join(modules, '@deno/linux-x64-glibc/deno'), 'run', '--allow-all'],
  Bun: (modules) => [join(modules, '@oven/bun-linux-x64/bin/bun')],
}
/** Runtimes are packages of this set. */
const MAIN = 'main'

/**
 * @typedef {{ code: number | null, output: string }} Ended
 * @typedef {{ path?: string, expect?: string, stop?: string, exit?: number, env?: NodeJS.ProcessEnv }} Drain
 * @typedef {object} Cell
 * @property {string} variant which of the file's variants is to be tried
 * @property {string} folder an empty folder of its own, in which the packages of its set are found
 * @property {string} modules the folder node_modules of its set
 * @property {string} tarball the packed package, for what installs it by itself
 * @property {string} apiServerTarball the same of the package of API servers
 * @property {(name: string, text: string) => string} write a file into the folder; returns its path
 * @property {(runtime: string) => string[]} runtime the command that starts a program in it
 * @property {(command: string[], env?: NodeJS.ProcessEnv) => Promise<string>} run to its end in the folder, which must be exit code 0; returns what it printed
 * @property {(command: string[], drain?: Drain) => Promise<Ended>} drains starts a server, and throws unless it prints its port, answers, drains and ends
 * @property {(seconds?: number) => string} server the text of a server of node:http that `drains` accepts, as an ES module
 */

/** @typedef {{ section: string, row: string, file: string, variant: string, set: string, head: Record<string, string>, isCheck: boolean, verdict?: 'works' | 'fails', why?: string }} Planned */

const { values, positionals: words } = givenArguments({ allowPositionals: true, options: { update: { type: 'boolean', default: false } } })

/** The comments that a file begins with. @param {string} text @returns {Record<string, string>} */
function headOf(text) {
  /** @type {Record<string, string>} */
  const head = {}
  for (const [at, line] of text.split('\n').entries()) {
    const comment = /^\/\/ ?(.*)$/.exec(line)?.[1]
    if (comment === undefined) break
    if (at === 0) head['name'] = comment
    const [, key, value] = /^(packages|set|variants|stop|exit|note): (.*)$/.exec(comment) ?? []
    if (key !== undefined && value !== undefined) head[key] = value
  }
  return head
}

/** @returns {Planned[]} */
function plan() {
  return Object.keys(SECTIONS)
    .filter((section) => existsSync(join(FOLDER, section)))
    .flatMap((section) =>
      readdirSync(join(FOLDER, section))
        .filter((file) => /\.(program|check)\.\w+$/.test(file))
        .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
        .flatMap((file) => {
          const path = join(FOLDER, section, file)
          const head = headOf(readFileSync(path, 'utf8'))
          const variants = head['variants']?.split('; ') ?? Object.keys(RUNTIMES).filter((name) => name.startsWith('Node'))
          const isCheck = /\.check\.\w+$/.test(file)
          return variants.map((variant) => ({
            section,
            row: head['name'] ?? file,
            file: path,
            variant,
            set: head['set'] ?? MAIN,
            head,
            isCheck,
          }))
        }),
    )
}

/** Where a set of packages is, or will be: by its lock file, so that another one does not meet it. @param {string} set */
function placeOf(set) {
  const lock = readFileSync(join(FOLDER, 'packages', set, 'package-lock.json'))
  return join(tmpdir(), `quiesce-compatibility-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`, set)
}

/** Whose cells import @quiesce/apiserver, too; what installs it by itself has its tarball. */
const WITH_API_SERVER = ['typescript']

/** Installs what is not there, and the packages of now. @param {string} set */
function install(set) {
  const place = placeOf(set)
  if (!existsSync(place)) {
    // Under another name until it is complete: the next run trusts what it finds.
    const begun = `${place}.${process.pid}`
    mkdirSync(begun, { recursive: true })
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(FOLDER, 'packages', set, file), join(begun, file))
    const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
      cwd: begun,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    if (status !== 0) throw new Error(`the packages of ${set} could not be installed: npm ci ended with ${status}`)
    renameSync(begun, place)
  }
  unpack(tarball, join(place, 'node_modules/quiesce'))
  if (WITH_API_SERVER.includes(set)) unpack(apiServerTarball, join(place, 'node_modules/@quiesce/apiserver'))
  return place
}

/** @param {string} packed @param {string} folder */
function unpack(packed, folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { status } = spawnSync('tar', ['-xzf', packed, '--strip-components=1', '-C', folder], { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${packed} could not be unpacked`)
}

/** @param {string[]} command @param {string} cwd @param {NodeJS.ProcessEnv} [env] */
function begin([program = '', ...args], cwd, env) {
  const child = spawn(program, args, { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const state = { output: '', child, ended: once(child, 'close').catch((error) => [null, String(error)]) }
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
      state.output += chunk
    })
  return state
}

/** @template T @param {Promise<T>} promise @param {() => string} what @returns {Promise<T>} */
async function within(promise, what) {
  const patience = new AbortController()
  try {
    return await Promise.race([
      promise,
      sleep(PATIENCE_MS, undefined, { signal: patience.signal }).then(() => {
        throw new Error(what())
      }),
    ])
  } finally {
    patience.abort()
  }
}

/** @param {string[]} command @param {string} folder @param {Drain} [drain] @returns {Promise<Ended>} */
async function drains(command, folder, { path = '/', expect = 'done', stop = 'SIGTERM', exit = 0, env = {} } = {}) {
  const server = begin(command, folder, env)
  try {
    let isOver = false
    void server.ended.then(() => {
      isOver = true
    })
    const port = await within(
      (async () => {
        for (;;) {
          const printed = /PORT (\d+)/.exec(server.output)?.[1]
          if (printed !== undefined) return printed
          if (isOver) throw new Error(`it ended before it served:\n${server.output}`)
          await sleep(20)
        }
      })(),
      () => `it did not print PORT <number>:\n${server.output}`,
    )
    const answer = fetch(`http://127.0.0.1:${port}${path}`).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (error) => ({ status: 0, text: String(error.cause ?? error) }),
    )
    // Until it has surely arrived; it takes a second.
    await sleep(400)
    if (stop.startsWith('SIG')) server.child.kill(/** @type {NodeJS.Signals} */ (stop))
    else await fetch(`http://127.0.0.1:${port}${stop.replace(/^GET /, '')}`).catch(() => undefined)
    const { status, text } = await within(answer, () => `the request under way was not answered:\n${server.output}`)
    if (status !== 200 || !text.includes(expect))
      throw new Error(`the request under way was answered with ${status} ${text.slice(0, 200)}:\n${server.output}`)
    const [code, signal] = await within(server.ended, () => `it did not end:\n${server.output}`)
    if (code !== exit) throw new Error(`it ended with ${signal ?? code} instead of ${exit}:\n${server.output}`)
    return { code, output: server.output }
  } finally {
    server.child.kill('SIGKILL')
  }
}

/** What {@link Cell.server} writes; one second, so that it is surely under way when the signal comes. */
const SERVER = (seconds = 1) => `import http from 'node:http'
import { attachLifecycle } from 'quiesce'

const server = http.createServer((_, response) => setTimeout(() => response.end('done'), ${seconds * 1000}))
server.listen(0, '127.0.0.1', () => console.log('PORT ' + server.address().port))
void attachLifecycle(server, { deadline: '8s' }).run()
`

/** @param {Planned} cell @param {Map<string, string>} places */
async function tryCell(cell, places) {
  const place = places.get(cell.set) ?? ''
  const runtimes = join(places.get(MAIN) ?? '', 'node_modules')
  const folder = join(place, 'cells', `${basename(cell.file)}-${cell.variant}`.replace(/[^\w.-]+/g, '-'))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  /** @param {string} name */
  const runtime = (name) => {
    const of = RUNTIMES[name]
    if (!of) throw new Error(`${name} is no runtime: ${Object.keys(RUNTIMES).join(', ')}`)
    return of(runtimes)
  }
  if (!cell.isCheck) {
    const program = join(folder, basename(cell.file).replace('.program', ''))
    cpSync(cell.file, program)
    const { stop, exit } = cell.head
    await drains([...runtime(cell.variant), program], folder, { ...(stop && { stop }), ...(exit && { exit: Number(exit) }) })
    return
  }
  /** @type {{ default: (cell: Cell) => Promise<unknown> }} */
  const { default: check } = await import(pathToFileURL(resolve(cell.file)).href)
  await check({
    variant: cell.variant,
    folder,
    modules: join(place, 'node_modules'),
    tarball,
    apiServerTarball,
    write: (name, text) => {
      const path = join(folder, name)
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, text)
      return path
    },
    runtime,
    run: async (command, env) => {
      const started = begin(command, folder, env)
      try {
        const [code] = await within(started.ended, () => `${command.join(' ')} did not end:\n${started.output}`)
        if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${started.output}`)
        return started.output
      } finally {
        started.child.kill('SIGKILL')
      }
    },
    drains: (command, drain) => drains(command, folder, drain),
    server: SERVER,
  })
}

/** @param {readonly Planned[]} cells @param {Map<string, string>} places */
function tableOf(cells, places) {
  /** @param {Planned} cell */
  const versions = ({ head, set }) =>
    (head['packages'] ?? '')
      .split(', ')
      .filter((name) => name !== '')
      .map((name) => {
        const manifest = join(places.get(set) ?? '', 'node_modules', name, 'package.json')
        const { name: own, version } = JSON.parse(readFileSync(manifest, 'utf8'))
        return `${own.replace(/^@(deno|oven)\//, '')} ${version}`
      })
      .join(', ')
  const sections = Object.entries(SECTIONS).flatMap(([section, title]) => {
    const own = cells.filter((cell) => cell.section === section)
    if (own.length === 0) return []
    const columns = [...new Set(own.map(({ variant }) => variant))]
    const rows = [...new Set(own.map(({ row }) => row))].map((row) => {
      const [first] = own.filter((cell) => cell.row === row)
      const verdicts = columns.map((variant) => own.find((cell) => cell.row === row && cell.variant === variant)?.verdict ?? '')
      return `| ${[row, ...verdicts, first ? versions(first) : ''].join(' | ')} |`
    })
    const notes = [...new Set(own.flatMap(({ row, head }) => (head['note'] ? [`- ${row}: ${head['note']}`] : [])))]
    return [
      `## ${title}`,
      '',
      `| | ${columns.join(' | ')} | tried with |`,
      `| --- |${' --- |'.repeat(columns.length + 1)}`,
      ...rows,
      '',
      ...(notes.length > 0 ? [...notes, ''] : []),
    ]
  })
  return `# Compatibility

What quiesce is tried with. Each cell is a small program, run with the packed package: it starts, serves, gets SIGTERM while a request is under way,
answers that request, and ends with the right exit code. \`npm run test:compat\` in a checkout of the repository runs all of them and writes this page; the programs are in
[scripts/compatibility](https://github.com/quiesce/quiesce/tree/main/scripts/compatibility).

${sections.join('\n').trimEnd()}
`
}

/** The verdicts of a table, without the versions and whatever else may differ. @param {string} text */
const verdictsIn = (text) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|') || line.startsWith('#'))
    .map((line) => line.replace(/\|[^|]*\|$/, '|'))
    .join('\n')

const all = plan()
const chosen = all.filter(({ section, row, variant, file }) =>
  words.every((word) => `${section} ${row} ${variant} ${file}`.toLowerCase().includes(word.toLowerCase())),
)
/** @param {string} variable @param {string} [from] */
const packed = (variable, from) => (process.env[variable] ? resolve(process.env[variable]) : pack('.results/package', from))
const tarball = packed('TARBALL')
const apiServerTarball = packed('API_SERVER_TARBALL', 'packages/apiserver')
const places = new Map([...new Set([MAIN, ...chosen.map(({ set }) => set)])].map((set) => [set, install(set)]))
// Programs of other sets find the runtimes in that one.
for (const place of places.values()) mkdirSync(join(place, 'cells'), { recursive: true })

const waiting = [...chosen]
await Promise.all(
  Array.from({ length: AT_A_TIME }, async () => {
    for (let cell = waiting.shift(); cell; cell = waiting.shift()) {
      const begun = performance.now()
      try {
        await tryCell(cell, places)
        cell.verdict = 'works'
      } catch (error) {
        cell.verdict = 'fails'
        cell.why = error instanceof Error ? error.message : String(error)
        process.exitCode = 1
      }
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      console.log(`${cell.verdict} ${seconds.padStart(5)} s  ${cell.section}: ${cell.row}, ${cell.variant}`)
      if (cell.why) console.log(cell.why.slice(0, LONGEST).replace(/^/gm, '    '))
    }
  }),
)
console.log(`${chosen.filter(({ verdict }) => verdict === 'works').length} of ${chosen.length} cells work`)

if (chosen.length === all.length) {
  const table = tableOf(all, places)
  if (values.update) writeFileSync(TABLE, table)
  else if (!existsSync(TABLE) || verdictsIn(readFileSync(TABLE, 'utf8')) !== verdictsIn(table)) {
    console.error(`${TABLE} says something else: npm run test:compat -- --update writes it`)
    process.exitCode = 1
  }
}
