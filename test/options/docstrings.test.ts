// Fails when: the default that an editor shows with an option is not the one of its row, or an
// editor shows none.
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { API_SERVER_OPTIONS } from '#apiserver/config.ts'
import { defaultText, type OptionTable } from '#src/options/kit/define.ts'
import { HEALTH_OPTIONS, HEALTH_PATH_OPTIONS } from '#src/options/rows/health.ts'
import { RESERVE_OPTIONS } from '#src/options/rows/hooks.ts'
import { INSPECTOR_OPTIONS } from '#src/options/rows/inspector.ts'
import { SERVER_OPTIONS } from '#src/options/rows/lifecycle.ts'
import { SNI_OPTIONS, TLS_OPTIONS } from '#src/options/rows/tls.ts'
import { STOP_OPTIONS } from '#src/options/stop-options.ts'
import { LYING_OPTIONS, STORE_OPTIONS, STORE_TLS_OPTIONS } from './made-up-package.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FILES = [
  'src/options/options.ts',
  'src/options/rows/inspector.ts',
  'src/options/rows/hooks.ts',
  'src/options/rows/health.ts',
  'src/options/stop-options.ts',
  'src/options/rows/tls.ts',
  'packages/apiserver/src/config.ts',
  'test/options/made-up-package.ts',
]
/** The compiler reads the types of all of node first. */
const COMPILING_MS = 120_000

const { config } = ts.readConfigFile(`${ROOT}/tsconfig.json`, ts.sys.readFile) as { config: object }
const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: FILES }, ts.sys, ROOT)
const program = ts.createProgram(
  FILES.map((file) => `${ROOT}/${file}`),
  options,
)

/**
 * Options of an exported type whose comment, as an editor shows it, states another default than
 * their row.
 */
function lies(file: string, type: string, table: OptionTable): string[] {
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(`${ROOT}/${file}`) as ts.SourceFile
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source) as ts.Symbol).find(({ name }) => name === type)
  const shown = checker.getDeclaredTypeOfSymbol(exported as ts.Symbol)
  return Object.entries(table).flatMap(([name, row]) => {
    const tags = shown.getProperty(name)?.getJsDocTags(checker) ?? []
    const stated = ts.displayPartsToString(tags.find((tag) => tag.name === 'default')?.text).replaceAll('\n', ' ')
    return stated === defaultText(row) ? [] : [`${name}: ${stated || 'none stated'}, is ${defaultText(row)}`]
  })
}

test.each<[string, string, OptionTable]>([
  ['src/options/options.ts', 'ServerOptions', SERVER_OPTIONS],
  ['src/options/rows/inspector.ts', 'InspectorOptions', INSPECTOR_OPTIONS],
  ['src/options/rows/hooks.ts', 'ReserveOptions', RESERVE_OPTIONS],
  ['src/options/rows/health.ts', 'HealthOptions', HEALTH_OPTIONS],
  ['src/options/rows/health.ts', 'HealthPathOptions', HEALTH_PATH_OPTIONS],
  ['src/options/stop-options.ts', 'StopOptions', STOP_OPTIONS],
  ['src/options/rows/tls.ts', 'TlsOptions', TLS_OPTIONS],
  ['src/options/rows/tls.ts', 'SniOptions', SNI_OPTIONS],
  ['packages/apiserver/src/config.ts', 'ApiServerConfig', API_SERVER_OPTIONS],
  ['test/options/made-up-package.ts', 'StoreOptions', STORE_OPTIONS],
  ['test/options/made-up-package.ts', 'StoreTlsOptions', STORE_TLS_OPTIONS],
])('the comments of %s state the defaults of %s', { timeout: COMPILING_MS }, (file, type, table) => {
  expect(lies(file, type, table)).toEqual([])
})

test('a comment with another default is seen, and one without', { timeout: COMPILING_MS }, () => {
  expect(lies('test/options/made-up-package.ts', 'LyingOptions', LYING_OPTIONS)).toEqual([
    'compactAfter: 60s, is 30s',
    'writes: none stated, is buffered',
  ])
})
