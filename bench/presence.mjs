// @ts-check
// What it takes to have quiesce, and what the other libraries take: packages, megabytes and seconds
// of an install, the processor time of an import on each Node, the time to listening, and memory.
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CONTROL, PLAIN, SUBJECTS } from './end-subjects.mjs'
import { shuffled } from './in-turns.mjs'
import { summarize } from './statistics.mjs'

export const LIBRARIES = ['http-terminator', '@godaddy/terminus', 'lightship', 'stoppable', 'http-graceful-shutdown', 'close-with-grace']
const NODES = ['20', '22', '24', '26']
export const HONO = 'bare Hono'
export const HONO_AGAIN = 'bare Hono, a second one (A/A)'
export const ATTACH = 'attachLifecycle'
/** By their names in import-cost.mjs. */
export const IMPORTS = [HONO, HONO_AGAIN, ATTACH, 'attachLifecycle, attached and started', 'xstate', 'Express']
/** How a process has loaded node:http, by its name in import-cost.mjs. */
export const HTTP_LOADED = { required: '`node:http` required', imported: '`node:http` imported' }
/** From the word that a server listens to the look at its memory. */
const SETTLED_MS = 500

const root = fileURLToPath(new URL('..', import.meta.url))
const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))

/** @typedef {import('./statistics.mjs').Summary} Summary */
/**
 * @typedef {object} Presence
 * @property {Record<string, { packages: number, megabytes: number, seconds: Summary, importMs: Summary }>} installs by library
 * @property {Record<string, Record<string, Record<string, { cpuMs: Summary, ofHono: Summary }>>>} imports by how node:http was loaded, then by
 *   major version of Node, then by import
 * @property {Record<string, { listeningMs: Summary, rssMiB: Summary, ofPlain: Summary }>} servers by subject of end-server.mjs
 */

/** Bytes of all files below it. @param {string} path @returns {number} */
const bytesOf = (path) =>
  readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    const below = join(path, entry.name)
    return sum + (entry.isDirectory() ? bytesOf(below) : entry.isFile() ? statSync(below).size : 0)
  }, 0)

/** @param {string} folder @param {{ name: string, from: string }} library */
function install(folder, { name, from }) {
  const into = join(folder, name.replaceAll('/', '-'))
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into)
  writeFileSync(join(into, 'package.json'), '{"private":true,"type":"module"}')
  const begun = performance.now()
  execFileSync('npm', ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', from], { cwd: into, stdio: 'pipe' })
  const seconds = (performance.now() - begun) / 1000
  const lock = JSON.parse(readFileSync(join(into, 'node_modules/.package-lock.json'), 'utf8'))
  return { into, seconds, packages: Object.keys(lock.packages).length, megabytes: bytesOf(join(into, 'node_modules')) / 1e6 }
}

/** Milliseconds of processor time, behind node:http, as CommonJS has loaded it. @param {string} name @param {string} cwd */
function importMs(name, cwd) {
  const program = `import { createRequire } from 'node:module'
createRequire(process.execPath)('node:http')
const before = process.cpuUsage()
await import(${JSON.stringify(name)})
const { user, system } = process.cpuUsage(before)
console.log((user + system) / 1000)
process.exit()`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd, encoding: 'utf8' }))
}

/** @param {number} rounds @param {number} importRounds */
function measureInstalls(rounds, importRounds) {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-install-'))
  // As it was built, and not built again, which would take dist/ away for a minute.
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--silent', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  /** @type {{ devDependencies: Record<string, string> }} */
  const { devDependencies } = JSON.parse(readFileSync(here('package.json'), 'utf8'))
  const libraries = [
    { name: 'quiesce', from: join(folder, JSON.parse(packed)[0].filename) },
    ...LIBRARIES.map((name) => ({ name, from: `${name}@${devDependencies[name]}` })),
  ]
  const runs = libraries.map((library) => ({
    library,
    installs: /** @type {ReturnType<typeof install>[]} */ ([]),
    imports: /** @type {number[]} */ ([]),
  }))
  // The first fills the cache.
  for (let round = -1; round < rounds; round++)
    for (const run of shuffled(runs)) {
      const made = install(folder, run.library)
      if (round >= 0) run.installs.push(made)
    }
  for (let round = 0; round < importRounds; round++)
    for (const { library, installs, imports } of shuffled(runs)) imports.push(importMs(library.name, installs[0]?.into ?? ''))
  rmSync(folder, { recursive: true })
  return Object.fromEntries(
    runs.map(({ library, installs, imports }) => [
      library.name,
      {
        packages: installs[0]?.packages ?? Number.NaN,
        megabytes: installs[0]?.megabytes ?? Number.NaN,
        seconds: summarize(installs.map(({ seconds }) => seconds)),
        importMs: summarize(imports),
      },
    ]),
  )
}

/** Another Node, from npm's package of that name. @param {string} major */
const nodeOf = (major) =>
  process.versions.node.startsWith(`${major}.`)
    ? process.execPath
    : execFileSync('npx', ['-y', '-p', `node@${major}`, 'which', 'node'], { encoding: 'utf8' }).trim()

/** Milliseconds of processor time of each import, by round. @param {string} node @param {string} loaded @param {number} rounds */
function measureImports(node, loaded, rounds) {
  const cpuMs = new Map(IMPORTS.map((name) => [name, /** @type {number[]} */ ([])]))
  // The first round is the disk's.
  for (let round = -1; round < rounds; round++)
    for (const name of shuffled(IMPORTS)) {
      const program = name === HONO_AGAIN ? HONO : name
      const cost = JSON.parse(execFileSync(node, [here('import-cost.mjs'), program, loaded], { encoding: 'utf8' }))
      if (round >= 0) cpuMs.get(name)?.push(cost.cpuMs)
    }
  const of = (/** @type {string} */ name) => cpuMs.get(name) ?? []
  const hono = of(HONO).map((ms, round) => (ms + (of(HONO_AGAIN)[round] ?? 0)) / 2)
  return Object.fromEntries(
    IMPORTS.map((name) => {
      const beside = name === HONO_AGAIN ? of(HONO) : hono
      return [name, { cpuMs: summarize(of(name)), ofHono: summarize(of(name).map((ms, round) => ms / (beside[round] ?? Number.NaN))) }]
    }),
  )
}

/** From its start to the word that it listens, and its memory a little later. @param {string} subject */
async function startOf(subject) {
  const begun = performance.now()
  const setting = JSON.stringify({ subject: subject === CONTROL ? PLAIN : subject, steps: false })
  const child = fork(here('end-server.mjs'), [setting], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child, 'message'),
    ended.then(() => {
      throw new Error(`${subject} has ended before it listened`)
    }),
  ])
  const listeningMs = performance.now() - begun
  await sleep(SETTLED_MS)
  const rssMiB = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'latin1'))?.[1]) / 1024
  child.kill('SIGKILL')
  await ended
  return { listeningMs, rssMiB }
}

/** @param {number} rounds */
async function measureServers(rounds) {
  const starts = new Map(SUBJECTS.map((subject) => [subject, /** @type {Awaited<ReturnType<typeof startOf>>[]} */ ([])]))
  for (let round = -1; round < rounds; round++)
    for (const subject of shuffled(SUBJECTS)) {
      const start = await startOf(subject)
      if (round >= 0) starts.get(subject)?.push(start)
    }
  const plain = starts.get(PLAIN) ?? []
  return Object.fromEntries(
    [...starts].map(([subject, own]) => [
      subject,
      {
        listeningMs: summarize(own.map(({ listeningMs }) => listeningMs)),
        rssMiB: summarize(own.map(({ rssMiB }) => rssMiB)),
        ofPlain: summarize(own.map(({ listeningMs }, round) => listeningMs / (plain[round]?.listeningMs ?? Number.NaN))),
      },
    ]),
  )
}

/** @param {{ quick: boolean, say: (line: string) => void }} how @returns {Promise<Presence & { versions: Record<string, string> }>} */
export async function measurePresence({ quick, say }) {
  say('installs')
  const installs = measureInstalls(quick ? 1 : 6, quick ? 1 : 15)
  /** @type {Presence['imports']} */
  const imports = Object.fromEntries(Object.keys(HTTP_LOADED).map((loaded) => [loaded, {}]))
  /** @type {Record<string, string>} */
  const versions = {}
  for (const major of NODES) {
    say(`imports on Node ${major}`)
    const node = nodeOf(major)
    versions[`Node ${major}`] = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1)
    for (const [loaded, byMajor] of Object.entries(imports)) byMajor[major] = measureImports(node, loaded, quick ? 1 : 20)
  }
  say('starts')
  const servers = await measureServers(quick ? 1 : 6)
  return { versions, installs, imports, servers }
}
