// Programs of Go for the probes, which need Go.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const BENCH = fileURLToPath(new URL('..', import.meta.url))

/** @param {string} source below bench/ @param {string} name of the binary */
export async function build(source, name) {
  const folder = fileURLToPath(new URL('../../build/bench/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const file = join(BENCH, source)
  await promisify(execFile)('go', ['build', '-o', join(folder, name), file], { cwd: dirname(file) })
  const go = execFileSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' }).trim().replace(/^go/, '')
  return {
    command: [join(folder, name)],
    versions: { Go: go, ...(source.startsWith('upstream') && { 'k8s.io/apiserver': apiserverOf(dirname(file)) }) },
  }
}

const apiserverOf = (folder) =>
  execFileSync('go', ['list', '-m', '-f', '{{.Version}}', 'k8s.io/apiserver'], { cwd: folder, encoding: 'utf8' }).trim()
