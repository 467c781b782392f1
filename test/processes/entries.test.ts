import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

interface Loaded {
  readonly packages: readonly string[]
  /** Files of `dist/`. */
  readonly ours: readonly string[]
}

/** What a program below this folder loaded by the time it ended by itself with exit code 0. */
async function loadedBy(program: string): Promise<Loaded> {
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', path('../support/trace-loads.mjs'), path(program)])
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as Loaded
}

describe('what an entry loads', () => {
  test('attachLifecycle loads four files and xstate, and neither hono nor pino, in a whole life', async () => {
    expect(await loadedBy('attach-only.mjs')).toEqual({
      packages: ['xstate'],
      ours: ['dist/chunks/measuring.js', 'dist/chunks/server.js', 'dist/chunks/stop-signals.js', 'dist/index.js'],
    })
  })

  test('attachLifecycle loads of node neither undici, nor HTTP/2, nor TLS, in a whole life', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [path('attach-beside-require.mjs')])
    expect(JSON.parse(stdout)).toEqual([])
  })

  test('createServer loads the adapter and the logger that it uses, and nothing for a terminal that is not there', async () => {
    const { packages, ours } = await loadedBy('create-server.mjs')
    expect(packages).toEqual(expect.arrayContaining(['@hono/node-server', 'pino', 'xstate']))
    expect(ours).toEqual(['dist/chunks/measuring.js', 'dist/chunks/server.js', 'dist/chunks/stop-signals.js', 'dist/index.js'])
  })
})

test('no bundle has a character for which V8 would keep two bytes of each', () => {
  const folders = ['../../dist', '../../packages/apiserver/dist'].map(path)
  const bundles = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.c?js$/.test(name) && !name.endsWith('inspector-page.cjs'))
      .map((name) => posix.join(folder, name)),
  )
  expect(bundles).not.toEqual([])
  expect(bundles.filter((file) => /[\u0080-\uffff]/.test(readFileSync(file, 'utf8')))).toEqual([])
})

/** A file of `dist/` with what it imports before anything of it runs. */
function loadedFirst(file: string, known = new Set<string>()): readonly string[] {
  if (known.has(file)) return []
  known.add(file)
  const text = readFileSync(path(`../../${file}`), 'utf8')
  for (const [, from, alone] of text.matchAll(/^(?:import|export) [^"']*from ["'](\.[^"']+)["']|^import ["'](\.[^"']+)["']/gm))
    loadedFirst(posix.join(posix.dirname(file), from ?? alone ?? ''), known)
  return [...known].sort()
}

describe('what the command loads', () => {
  const FIRST = ['dist/chunks/program.js', 'dist/chunks/stop-signals.js']

  test('before it listens for stop signals is little: one that comes meanwhile ends the process', () => {
    expect(loadedFirst('dist/cli.js')).toEqual([...FIRST, 'dist/cli.js'])
    expect(loadedFirst('dist/engine-main.js')).toEqual([...FIRST, 'dist/engine-main.js'])
  })

  test('to run a module has no model checker, no diagrams and no help in it', () => {
    const run = loadedFirst('dist/chunks/run.js')
    expect(run).toContain('dist/chunks/server.js')
    expect(run.filter((file) => /model|diagram|pages|inspector|routes/.test(file))).toEqual([])
  })
})

test('what a life tells can be read with any rxjs', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [path('events-and-rxjs.mjs')])
  expect(JSON.parse(stdout)).toEqual(['begun', 'Start', 'Start', expect.any(String), expect.any(String)])
})
