// @ts-check
// Which tests look for the mutants of a file. Those of programs do not: they run what was built.
import { existsSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * By folder, the quickest first.
 * @type {readonly (readonly [string, readonly string[]])[]}
 */
const AREAS = [
  [
    'src/actors',
    [
      'test/testing/test-server.test.ts',
      'test/sockets/listener.test.ts',
      'test/sockets/unix-socket.test.ts',
      'test/sockets/unix-sockets.test.ts',
      'test/sockets/several.test.ts',
      'test/life',
      'test/report',
      'test/sockets',
      'test/upstream',
      'test/conformance',
    ],
  ],
  [
    'src/http',
    [
      'test/http',
      'test/testing/test-server.test.ts',
      'test/sockets',
      'test/sockets',
      'test/tls',
      'test/sockets',
      'test/random',
      'test/life',
      'test/report',
      'test/upstream',
      'test/sockets',
      'test/conformance',
    ],
  ],
  [
    'src/lifecycle',
    [
      'test/testing/test-server.test.ts',
      'test/life',
      'test/report',
      'test/options',
      'test/http',
      'test/telemetry',
      'test/upstream',
      'test/telemetry',
      'test/sockets',
      'test/tls',
      'test/inspector',
      'test/sockets/limits.test.ts',
      'test/apiserver/profiles.test.ts',
    ],
  ],
  ['src/process', ['test/life', 'test/testing', 'test/upstream', 'test/cli']],
  ['src/report', ['test/report', 'test/testing/test-server.test.ts', 'test/telemetry', 'test/life', 'test/upstream']],
]

/** The folder whose tests look for the mutants of a file. @param {string} file */
export const areaOf = (file) => AREAS.find(([folder]) => file.startsWith(folder))?.[0] ?? ''

/**
 * Those that have noticed most mutants of the file so far come first, then those of its own name.
 * @param {string} file
 * @param {import('./table.mjs').Table} table
 * @returns {readonly string[]}
 */
export function testsOf(file, table) {
  const area = AREAS.find(([folder]) => file.startsWith(folder))?.[1].flatMap(filesIn) ?? []
  const own = area.filter((test) => basename(test, '.test.ts') === basename(file, '.ts'))
  const noticed = [...table].filter(([id]) => id.startsWith(`${file} `)).map(([, test]) => test)
  const count = (/** @type {string} */ test) => noticed.filter((failed) => failed?.startsWith(test)).length
  return [...new Set([...own, ...area])].sort((a, b) => count(b) - count(a))
}

/** @param {string} path */
function filesIn(path) {
  if (!existsSync(path)) return []
  if (path.endsWith('.ts')) return [path]
  const names = readdirSync(path, { encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'))
  return names.sort().map((name) => `${path}/${name}`)
}
