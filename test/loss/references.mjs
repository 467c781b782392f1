// @ts-check
// Servers outside of Node, to compare with, each ended as its own documentation says: a program
// that prints its port, as a line, when it listens, and that SIGTERM ends.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { selfSigned } from '../../build/src/tls/self-signed.js'
import { isEncrypted } from './protocols.mjs'

const GRACE_MS = 4000
const UVICORN = 'uvicorn[standard]==0.54.0'
const at = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
/** What is built and installed once. */
const FOLDER = at('../../.results/loss/references')
const GO = join(FOLDER, 'go-server')
const PYTHON = join(FOLDER, 'venv/bin/python')

/** @typedef {'Go, Server.Shutdown' | 'uvicorn'} Reference */
/** @typedef {import('./replicas.mjs').ReplicaOptions} ReplicaOptions */

/** @type {Record<Reference, { hasHttp2: boolean, interpreter?: string, prepare: () => void, version: () => string, command: (options: ReplicaOptions, folder: string) => string[] }>} */
export const REFERENCES = {
  'Go, Server.Shutdown': {
    hasHttp2: true,
    prepare: () => void run('go', ['build', '-o', GO, '../../scripts/clients/server.go', '../../scripts/clients/works.go'].map(pathIn)),
    version: () => run('go', ['env', 'GOVERSION']).replace('go', ''),
    command: ({ protocol, delay, graceMs = GRACE_MS, port = 0 }) => [GO, JSON.stringify({ protocol, delay, graceMs, port })],
  },
  uvicorn: {
    hasHttp2: false,
    interpreter: PYTHON,
    prepare() {
      if (existsSync(PYTHON) && spawnSync(PYTHON, ['-c', 'import uvicorn, websockets']).status === 0) return
      run('python3', ['-m', 'venv', join(FOLDER, 'venv')])
      run(PYTHON, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', UVICORN])
    },
    version: () => run(PYTHON, ['-c', 'import uvicorn; print(uvicorn.__version__)']),
    command({ protocol, graceMs = GRACE_MS, port = 0 }, folder) {
      const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') }
      if (isEncrypted(protocol)) {
        const { key, cert } = selfSigned(['localhost'], Date.now())
        writeFileSync(files.key, key)
        writeFileSync(files.cert, cert)
      }
      return [PYTHON, at('uvicorn_app.py'), JSON.stringify({ graceMs, port, tls: isEncrypted(protocol) ? files : null })]
    },
  },
}

/** Its command, if it is one of these. @param {ReplicaOptions} options @param {string} folder @returns {string[] | undefined} */
export const referenceOf = (options, folder) =>
  options.server in REFERENCES ? REFERENCES[/** @type {Reference} */ (options.server)].command(options, folder) : undefined

/** Builds or installs one; says why when it cannot be had here. @param {Reference} name @returns {string | undefined} */
export function prepare(name) {
  mkdirSync(FOLDER, { recursive: true })
  try {
    REFERENCES[name].prepare()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const pathIn = (/** @type {string} */ arg) => (arg.endsWith('.go') ? at(arg) : arg)

/** @param {string} program @param {readonly string[]} args */
function run(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
  return stdout.trim()
}
