// Packages of Python for the probes, which need Python: each in an environment of its own.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** @param {string} name @param {string} requirement with its version @param {string} program below python/ */
export async function buildPython(name, requirement, program) {
  const folder = fileURLToPath(new URL(`../../build/bench/python-${name}`, import.meta.url))
  const python = join(folder, 'bin/python')
  await run('python3', ['-m', 'venv', folder])
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', requirement], { timeout: 300_000 })
  return { folder, command: [python, fileURLToPath(new URL(`python/${program}`, import.meta.url))] }
}
