// What the packages export: quiesce of each entry in its four forms, its engine, its way to and
// @quiesce/apiserver as ES modules, @quiesce/model as tsc has made it. Fails when: a name is there
// when the program runs and not when it is compiled, or the other way round.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { COMPILING_MS, ROOT } from './compiler.ts'

type Targets = string | { readonly [condition: string]: Targets }
const exportsOf = (folder: string): readonly Targets[] => {
  const { exports } = JSON.parse(readFileSync(`${ROOT}${folder}package.json`, 'utf8')) as { exports: Readonly<Record<string, Targets>> }
  return Object.values(exports).map((targets) => within(folder, targets))
}
const within = (folder: string, targets: Targets): Targets =>
  typeof targets === 'string'
    ? targets.replace('./', `./${folder}`)
    : Object.fromEntries(Object.entries(targets).map(([condition, target]) => [condition, within(folder, target)]))

const filesOf = (targets: Targets): string[] => (typeof targets === 'string' ? [targets] : Object.values(targets).flatMap(filesOf))

const MODEL = ['./build/packages/model/src/index.js', './build/packages/model/src/index.d.ts']

/** The files of each entry that are code or types, each once. */
const ENTRIES = [...[...exportsOf(''), ...exportsOf('packages/apiserver/')].map((targets) => [...new Set(filesOf(targets))]), MODEL]
  .map((files) => files.filter((file) => !file.endsWith('.json')))
  .filter((files) => files.length > 0)
const FILES = ENTRIES.flat()
const isTypes = (file: string): boolean => /\.d\.c?ts$/.test(file)

const isEsAlone = (file: string): boolean => file === MODEL[0] || /^\.\/(packages\/|dist\/(apiserver|engine))/.test(file)

/** As a program finds them: it imports ES modules, and requires CommonJS. */
function namesWhenRun(): Record<string, string[]> {
  const program = `import { createRequire } from 'node:module'
    const require = createRequire(${JSON.stringify(`${ROOT}package.json`)})
    const names = {}
    for (const file of ${JSON.stringify(FILES.filter((file) => !isTypes(file)))}) {
      const module = file.endsWith('.cjs') ? require(file) : await import(new URL(file, ${JSON.stringify(pathToFileURL(ROOT))}))
      names[file] = Object.keys(module).filter((name) => name !== '__esModule').sort()
    }
    console.log(JSON.stringify(names))`
  const found = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  return JSON.parse(found) as Record<string, string[]>
}

/** As the compiler finds them: those that are values. */
function namesWhenCompiled(): Record<string, string[]> {
  const files = FILES.filter(isTypes)
  const resolution = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }
  const program = ts.createProgram(
    files.map((file) => `${ROOT}${file.slice('./'.length)}`),
    { ...resolution, types: [], noLib: true },
  )
  const checker = program.getTypeChecker()
  const isValue = (symbol: ts.Symbol): boolean => {
    const meant = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    return (meant.flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(symbol)
  }
  return Object.fromEntries(
    files.map((file) => {
      const source = program.getSourceFile(`${ROOT}${file.slice('./'.length)}`)
      const module = source && checker.getSymbolAtLocation(source)
      const symbols = module ? checker.getExportsOfModule(module) : []
      return [
        file,
        symbols
          .filter(isValue)
          .map(({ name }) => name)
          .sort(),
      ]
    }),
  )
}

const isTypeOnly = (symbol: ts.Symbol): boolean =>
  (symbol.declarations ?? []).some((one) => ts.isExportSpecifier(one) && ts.isTypeOnlyImportOrExportDeclaration(one))

test('types and JavaScript of an entry export the same names, default included', { timeout: COMPILING_MS }, () => {
  const names = { ...namesWhenRun(), ...namesWhenCompiled() }
  for (const forms of ENTRIES) {
    const [first = ''] = forms
    expect(forms, first).toHaveLength(isEsAlone(first) ? 2 : 4)
    expect(names[first]?.length, first).toBeGreaterThan(0)
    expect(Object.fromEntries(forms.map((file) => [file, names[file]]))).toEqual(
      Object.fromEntries(forms.map((file) => [file, names[first]])),
    )
  }
  expect(names['./dist/fastify.d.ts']).toEqual(['default', 'quiesce'])
})
