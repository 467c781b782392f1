// @ts-check
// `npm run test:api-clients`: what clients of Kubernetes, as they are, are told of objects whose server is ended and started again under them:
// client-go's informer and its watch (Go is needed), the informer of @kubernetes/client-node, and the watch of the Python client. Each has to
// see every event once, in order. The clients are fetched from their registries into a folder of their own. `-- go` for some of them.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runClient } from '../test/api-clients/world.mjs'

const NPM = '@kubernetes/client-node@1.3.0'
const PYPI = 'kubernetes==33.1.0'
const SOURCES = fileURLToPath(new URL('../test/api-clients/', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'quiesce-api-clients-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** @param {string} program @param {readonly string[]} args @param {string} [cwd] */
function run(program, args, cwd = folder) {
  const { status, stderr, stdout } = spawnSync(program, args, { encoding: 'utf8', cwd })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}${stdout}`)
}

/** @type {string | undefined} */
let built
function goClient() {
  if (built !== undefined) return built
  const sources = join(folder, 'go')
  cpSync(join(SOURCES, 'go'), sources, { recursive: true })
  built = join(folder, 'go-client')
  run('go', ['build', '-o', built, '.'], sources)
  return built
}
function jsClient() {
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  run('npm', ['install', '--no-audit', '--no-fund', NPM])
  return [process.execPath, join(SOURCES, 'informer.mjs'), folder]
}
function pythonClient() {
  run('python3', ['-m', 'venv', 'venv'])
  run(join(folder, 'venv/bin/pip'), ['install', '--quiet', '--disable-pip-version-check', PYPI])
  return [join(folder, 'venv/bin/python3'), join(SOURCES, 'watch.py')]
}

/** @type {Record<string, () => string[]>} */
const CLIENTS = {
  'go informer': () => [goClient(), 'informer'],
  'go watch': () => [goClient(), 'watch'],
  'js informer': jsClient,
  'python watch': pythonClient,
}

const chosen = process.argv.slice(2)
for (const [name, command] of Object.entries(CLIENTS)) {
  if (chosen.length > 0 && !chosen.some((each) => name.startsWith(each))) continue
  const { wrong, events } = await runClient(command())
  console.log(`${name}: ${wrong === '' ? `${events} events, each once` : wrong}`)
  if (wrong !== '') process.exitCode = 1
}
process.exit()
