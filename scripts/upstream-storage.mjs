// @ts-check
// `npm run test:upstream-storage`: the tests that upstream has of its storage in etcd (k8s.io/apiserver/pkg/storage/etcd3, and through them the suite
// in pkg/storage/testing), as they are, against our stores behind a façade of etcd's protocol (test/upstream-storage). Only the package that starts an
// etcd for them is replaced. Needs Go, and minutes the first time; a file needs Node 24, which npm brings. What came of it is written to
// test/upstream-storage/results.json. `-- memory` for one engine, `-- memory TestWatch` for some of the tests: neither is written.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { refuseUsage } from './usage.mjs'

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
const RESULTS = here('../test/upstream-storage/results.json')
const ENGINES = ['memory', 'file']
/** Some tests wait for a tenth of a second, in which a disk does not always sync twice. */
const ATTEMPTS = 4

const [engine, pattern = ''] = process.argv.slice(2)
if (engine !== undefined && !ENGINES.includes(engine)) refuseUsage(`engine: got ${engine}, allowed: ${ENGINES.join(', ')}`)

const version = /k8s\.io\/apiserver (v\S+)/.exec(readFileSync(here('../bench/upstream/go.mod'), 'utf8'))?.[1]
const folder = mkdtempSync(join(tmpdir(), 'quiesce-upstream-storage-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Upstream's module with our package in place of one: what is in the cache of modules cannot be replaced there. */
function build() {
  const { Dir } = JSON.parse(
    execFileSync('go', ['mod', 'download', '-json', `k8s.io/apiserver@${version}`], { cwd: folder, encoding: 'utf8' }),
  )
  const module = join(folder, 'apiserver')
  cpSync(Dir, module, { recursive: true })
  for (const path of ['', ...readdirSync(module, { recursive: true, encoding: 'utf8' })]) chmodSync(join(module, path), 0o755)
  cpSync(here('../test/upstream-storage/testserver'), join(module, 'pkg/storage/etcd3/testserver'), { recursive: true })
  const binary = join(folder, 'etcd3.test')
  execFileSync('go', ['test', '-c', '-o', binary, './pkg/storage/etcd3'], { cwd: module, stdio: 'inherit' })
  return { module, binary }
}

/** The functions of upstream's suite that its tests call, and those that only tests of its watch cache do. @param {string} module */
function suiteOf(module) {
  const textsIn = (/** @type {string} */ path, /** @type {RegExp} */ names) =>
    readdirSync(join(module, path))
      .filter((name) => names.test(name))
      .map((name) => readFileSync(join(module, path, name), 'utf8'))
      .join('\n')
  const called = new Set([...textsIn('pkg/storage/etcd3', /_test\.go$/).matchAll(/storagetesting\.(Run\w+)\(/g)].map(([, name]) => name))
  const all = [...textsIn('pkg/storage/testing', /_tests\.go$/).matchAll(/^func (Run\w+)\(/gm)].map(([, name]) => String(name))
  return { called: all.filter((name) => called.has(name)), others: all.filter((name) => !called.has(name)) }
}

/** @param {string} binary @param {string} module @param {string} facade @param {string} run @returns {Promise<Map<string, 'pass' | 'fail' | 'skip'>>} by test */
async function runTests(binary, module, facade, run) {
  const child = spawn('go', ['tool', 'test2json', binary, '-test.v=test2json', '-test.timeout=20m', `-test.run=${run}`], {
    cwd: join(module, 'pkg/storage/etcd3'),
    env: { ...process.env, QUIESCE_FACADE: facade },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  /** @type {Map<string, 'pass' | 'fail' | 'skip'>} */
  const results = new Map()
  /** @type {Map<string, string>} */
  const said = new Map()
  createInterface(child.stdout).on('line', (line) => {
    const { Action: action, Test: test = '', Output: output = '' } = JSON.parse(line)
    if (action === 'output') said.set(test, `${said.get(test) ?? ''}${output}`)
    if (test === '' || !['pass', 'fail', 'skip'].includes(action)) return
    results.set(test, action)
    if (action === 'fail') console.log(said.get(test)?.slice(-3_000))
  })
  const [code] = await closed
  if (code !== 0 && ![...results.values()].includes('fail'))
    results.set(`the run, with exit code ${code}: ${said.get('')?.slice(-1_000)}`, 'fail')
  return results
}

/** @param {string} name @param {ReturnType<typeof build>} built */
async function judge(name, { binary, module }) {
  const node =
    name === 'file' ? execFileSync('npx', ['-y', '-p', 'node@24', 'which', 'node'], { encoding: 'utf8' }).trim() : process.execPath
  const child = spawn(node, [here('../test/upstream-storage/process.mjs'), name], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout.setEncoding('utf8'), 'data')
  const facade = `127.0.0.1:${String(port).trim()}`
  try {
    const results = await runTests(binary, module, facade, pattern)
    /** @type {string[]} */
    const again = []
    for (const test of [...results.keys()].filter((each) => !each.includes('/') && results.get(each) === 'fail')) {
      for (let attempt = 1; attempt < ATTEMPTS && results.get(test) === 'fail'; attempt++)
        for (const [each, result] of await runTests(binary, module, facade, `^${test}$`)) results.set(each, result)
      if (results.get(test) === 'pass') again.push(test)
    }
    const which = (/** @type {string} */ result) => [...results].filter(([, each]) => each === result).map(([test]) => test)
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    return { node: version, passed: which('pass').length, failed: which('fail'), skipped: which('skip'), again }
  } finally {
    child.kill()
  }
}

const built = build()
/** @type {Record<string, Awaited<ReturnType<typeof judge>>>} */
const engines = {}
for (const name of engine ? [engine] : ENGINES) {
  const result = await judge(name, built)
  engines[name] = result
  console.log(
    `${name}: ${result.passed} passed, ${result.failed.length} failed, ${result.skipped.length} skipped${result.again.length > 0 ? `; at another attempt: ${result.again.join(', ')}` : ''}`,
  )
  for (const test of result.failed) console.log(`FAILED ${test}`)
  if (result.failed.length > 0 || result.passed === 0) process.exitCode = 1
}
if (engine === undefined) {
  const { called, others } = suiteOf(built.module)
  const result = {
    date: new Date().toISOString().slice(0, 10),
    apiserver: version,
    go: execFileSync('go', ['version'], { encoding: 'utf8' }).trim(),
    engines,
    suite: called,
    ofTheWatchCacheOnly: others,
  }
  writeFileSync(RESULTS, `${JSON.stringify(result, undefined, 2)}\n`)
}
