// @ts-check
// `npm run bench:install`: what it costs to have quiesce, packed as it is published, and what the other libraries cost: packages, megabytes and
// seconds of `npm install` into an empty folder with a warm cache, and the processor time of the first import, in processes of their own. They are
// installed and imported in turns.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../scripts/pack.mjs'
import { shuffled } from './in-turns.mjs'
import { median } from './statistics.mjs'

const INSTALLS = 3
const IMPORTS = 15
const folder = mkdtempSync(join(tmpdir(), 'quiesce-install-'))
/** @type {{ devDependencies: Record<string, string> }} */
const { devDependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
const PEERS = ['http-terminator', '@godaddy/terminus', 'lightship', 'stoppable', 'http-graceful-shutdown', 'close-with-grace']
const packages = [
  { name: 'quiesce', from: pack(folder, fileURLToPath(new URL('..', import.meta.url))) },
  ...PEERS.map((name) => ({ name, from: `${name}@${devDependencies[name]}` })),
]

/** Bytes of all files below it. @param {string} path @returns {number} */
const bytesOf = (path) =>
  readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    const below = join(path, entry.name)
    return sum + (entry.isDirectory() ? bytesOf(below) : entry.isFile() ? statSync(below).size : 0)
  }, 0)

/** @param {typeof packages[number]} one */
function install({ name, from }) {
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

/** Milliseconds of processor time, behind node:http, which every server has loaded. @param {string} name @param {string} cwd */
function importMs(name, cwd) {
  const program = `import 'node:http'
const before = process.cpuUsage()
await import(${JSON.stringify(name)})
const { user, system } = process.cpuUsage(before)
console.log((user + system) / 1000)
process.exit()`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd, encoding: 'utf8' }))
}

/** @type {Map<string, ReturnType<typeof install>[]>} */
const installed = new Map(packages.map(({ name }) => [name, []]))
// The first fills the cache.
for (let round = -1; round < INSTALLS; round++)
  for (const one of shuffled(packages)) {
    const result = install(one)
    if (round >= 0) installed.get(one.name)?.push(result)
  }
/** @type {Map<string, number[]>} */
const imported = new Map(packages.map(({ name }) => [name, []]))
for (let round = 0; round < IMPORTS; round++)
  for (const { name } of shuffled(packages)) imported.get(name)?.push(importMs(name, installed.get(name)?.[0]?.into ?? ''))
rmSync(folder, { recursive: true })

console.log(`Node ${process.versions.node}\n\n| library | packages | MB | seconds to install | import, ms of CPU |\n|---|---|---|---|---|`)
for (const { name } of packages) {
  const runs = installed.get(name) ?? []
  const [first] = runs
  const seconds = median(runs.map((run) => run.seconds))
  console.log(
    `| ${name} | ${first?.packages} | ${first?.megabytes.toFixed(1)} | ${seconds.toFixed(1)} | ${median(imported.get(name) ?? []).toFixed(0)} |`,
  )
}
