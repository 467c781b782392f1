// The examples in the docstrings of what programs call. Fails when: one does not compile, or
// something that is called has none.
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { COMPILING_MS, ROOT } from './compiler.ts'
import { TypedFile } from './typed-file.ts'

/** What the examples speak of; it belongs to the program that an example is taken from. */
const PROGRAM = `
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { readFile } from 'node:fs/promises'
import type { Life } from '../../dist/index.js'
import { expect } from 'vitest'
declare const app: { fetch(request: Request): Response; callback(): http.RequestListener }
declare const life: Life
declare const request: IncomingMessage
declare const response: ServerResponse
interface Heeds { signal?: AbortSignal }
declare const pool: { query(sql: string, options?: Heeds): Promise<unknown[]>; end(): Promise<void> }
declare const queue: { close(): Promise<void>; onJob(work: (job: { name: string; work(signal: AbortSignal): Promise<void> }) => unknown): void }
declare const outbox: { publish(): Promise<void> }
declare const cache: { ping(options: Heeds): Promise<void>; warm(options: Heeds): Promise<void> }
declare const registry: { leave(): Promise<void> }
declare const consumer: { pause(): void }
declare const disk: { free(): number }
declare const loop: { lagMs(): number }
declare const register: import('prom-client').Registry
declare const mailer: { send(message: string, options: Heeds): Promise<void> }
declare const message: string
declare const gauge: { set(value: number): void }
declare const loadRoutes: () => Promise<void>
declare const mail: (text: string) => Promise<void>
void [http, readFile, expect, app, life, request, response, pool, queue, outbox, cache, registry, consumer, disk, loop, register, mailer, message, gauge, loadRoutes, mail]
`

/** What programs import from an entry, and what of it they call. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  index: [],
  metrics: ['MetricRegistry', 'fromPromClient', 'registerInto'],
  opentelemetry: [],
  testing: ['testServer', 'testAttached', 'traceScript'],
}
const { program } = new TypedFile(
  'entries.ts',
  Object.keys(ENTRIES)
    .map((name) => `import '../../dist/${name}.js'\n`)
    .join(''),
)
const checker = program.getTypeChecker()

function exported(entry: string): ts.Symbol[] {
  const source = program.getSourceFile(`${ROOT}dist/${entry}.d.ts`) as ts.SourceFile
  return checker
    .getExportsOfModule(checker.getSymbolAtLocation(source) as ts.Symbol)
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
}

const examplesOf = (symbol: ts.Symbol): string[] =>
  symbol.getJsDocTags(checker).flatMap(({ name, text }) => (name === 'example' ? [ts.displayPartsToString(text)] : []))

const values = Object.fromEntries(
  Object.keys(ENTRIES).map((entry) => [entry, exported(entry).filter(({ flags }) => (flags & ts.SymbolFlags.Value) !== 0)]),
)
const life = exported('index').find(({ name }) => name === 'Life') as ts.Symbol
const called = [
  ...Object.entries(ENTRIES).flatMap(([entry, named]) =>
    (values[entry] ?? []).filter(({ name }) => named.length === 0 || named.includes(name)).map((symbol) => [symbol.name, symbol] as const),
  ),
  // Without those that are known by a symbol, and what is only read.
  ...checker
    .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(life))
    .filter(({ name }) => !name.startsWith('__') && !['ended', 'addresses'].includes(name))
    .map((symbol) => [`Life.${symbol.name}`, symbol] as const),
]

test.each(called)('%s has an example', (_, symbol) => {
  expect(examplesOf(symbol)).not.toEqual([])
})

describe('the examples', { timeout: COMPILING_MS }, () => {
  const names = new Set(called.map(([name]) => name))
  const imports = Object.entries(values)
    .map(([entry, symbols]) => [entry, symbols.map(({ name }) => name).filter((name) => names.has(name))] as const)
    .map(([entry, imported]) => `import { ${imported.join(', ')} } from '../../dist/${entry}.js'\nvoid [${imported.join(', ')}]\n`)
    .join('')
  const file = new TypedFile('example.ts', `${imports}${PROGRAM}`)
  /** In a function each, because an example may have names of its own. */
  const inFunctions = (examples: readonly string[]): string =>
    examples
      .map((example) => example.replace(/^```ts\n([\s\S]*)\n```$/, '$1'))
      .map((code, index) => `export async function example${index}() {\n${code}\n}`)
      .join('\n')

  test('compile', () => {
    expect(file.refused(inFunctions(called.flatMap(([, symbol]) => examplesOf(symbol))))).toEqual([])
  })

  test('that do not are seen, with their line', () => {
    expect(file.refused(inFunctions(['life.addDestroy(pool)', 'await life.start()']))).toEqual([
      expect.stringMatching(/^Expected .+: life\.addDestroy\(pool\)$/),
    ])
  })
})
