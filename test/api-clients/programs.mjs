// @ts-check
// The clients of Kubernetes that this folder has programs for, fetched from their registries into a folder of their own. Each is given a server's URL,
// and says a line for each event that it is told of.
import { spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NPM = '@kubernetes/client-node@1.3.0'
const PYPI = 'kubernetes==33.1.0'
const SOURCES = fileURLToPath(new URL('.', import.meta.url))

/** @param {string} folder that is empty, and gone when they are not used any more @returns {Record<'go informer' | 'go watch' | 'js informer' | 'python watch', () => string[]>} */
export function clientPrograms(folder) {
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
  return {
    'go informer': () => [goClient(), 'informer'],
    'go watch': () => [goClient(), 'watch'],
    'js informer': () => {
      writeFileSync(join(folder, 'package.json'), '{"private":true}')
      run('npm', ['install', '--no-audit', '--no-fund', NPM])
      return [process.execPath, join(SOURCES, 'informer.mjs'), folder]
    },
    'python watch': () => {
      run('python3', ['-m', 'venv', 'venv'])
      run(join(folder, 'venv/bin/pip'), ['install', '--quiet', '--disable-pip-version-check', PYPI])
      return [join(folder, 'venv/bin/python3'), join(SOURCES, 'watch.py')]
    },
  }
}
