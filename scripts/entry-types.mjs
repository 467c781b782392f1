// @ts-check
// The declarations of what programs import. Those of an ES module hand on what tsc has made; those
// of CommonJS name the same types, so that one program may import and require: a declaration file of
// CommonJS may not import an ES module but for its types, so each value is declared by its type.
import { writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import ts from 'typescript'

/** @param {Readonly<Record<string, string>>} entries sources by the name of the entry */
export function writeEntryTypes(entries) {
  const files = Object.fromEntries(
    Object.entries(entries).map(([name, source]) => [name, resolve(`dist/types/${source.replace(/ts$/, 'd.ts')}`)]),
  )
  const program = ts.createProgram(Object.values(files), {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
    noLib: true,
  })
  const checker = program.getTypeChecker()
  for (const [name, file] of Object.entries(files)) {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (!module) throw new Error(`${file} declares no module`)
    const symbols = checker.getExportsOfModule(module)
    const from = `./types/${(entries[name] ?? '').replace(/ts$/, 'js')}`
    const hasDefault = symbols.some((symbol) => symbol.name === 'default')
    writeFileSync(`dist/${name}.d.ts`, `export * from '${from}'\n${hasDefault ? `export { default } from '${from}'\n` : ''}`)
    writeFileSync(`dist/cjs/${name}.d.cts`, commonJs(`../${name}.js`, symbols, checker))
  }
}

/** @param {string} from @param {readonly ts.Symbol[]} symbols @param {ts.TypeChecker} checker */
function commonJs(from, symbols, checker) {
  const asModule = `from '${from}' with { 'resolution-mode': 'import' }`
  const values = symbols.flatMap((symbol) => {
    const declared = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    if (!(declared.flags & ts.SymbolFlags.Value) || isTypeOnly(symbol)) return []
    if (symbol.name === 'default') return ['declare const _default: typeof module.default', 'export default _default']
    const value = `export declare const ${symbol.name}: typeof module.${symbol.name}`
    // A name that is both hides what the line of all types says of it.
    return declared.flags & ts.SymbolFlags.Type ? [value, typeOf(symbol.name, declared, checker)] : [value]
  })
  return [`import type * as module ${asModule}`, `export type * ${asModule}`, ...values, ''].join('\n')
}

/** @param {ts.Symbol} symbol */
const isTypeOnly = (symbol) =>
  (symbol.declarations ?? []).some(
    (declaration) => ts.isExportSpecifier(declaration) && ts.isTypeOnlyImportOrExportDeclaration(declaration),
  )

/**
 * The type of a name, with its parameters. What bounds them has to be a type by its name.
 * @param {string} name @param {ts.Symbol} declared @param {ts.TypeChecker} checker
 */
function typeOf(name, declared, checker) {
  const parameters = (declared.declarations ?? [])
    .filter((one) => ts.isClassDeclaration(one) || ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one))
    .flatMap(({ typeParameters = [] }) => [...typeParameters])
  /** @param {string} keyword @param {ts.TypeNode | undefined} bound */
  const bounded = (keyword, bound) => {
    if (!bound) return ''
    const symbol = ts.isTypeReferenceNode(bound) && !bound.typeArguments ? checker.getSymbolAtLocation(bound.typeName) : undefined
    const meant = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const file = meant?.declarations?.[0]?.getSourceFile().fileName
    if (!meant || !file) throw new Error(`${name}: ${bound.getText()} has to be a type by its name, to be declared for CommonJS as well`)
    const from = relative('dist/cjs', file)
      .replaceAll('\\', '/')
      .replace(/d\.ts$/, 'js')
    return ` ${keyword} import('${from}', { with: { 'resolution-mode': 'import' } }).${meant.name}`
  }
  const given = parameters.map((one) => one.name.text)
  const taken = parameters.map((one) => `${one.name.text}${bounded('extends', one.constraint)}${bounded('=', one.default)}`)
  /** @param {readonly string[]} list */
  const listed = (list) => (list.length > 0 ? `<${list.join(', ')}>` : '')
  return `export type ${name}${listed(taken)} = module.${name}${listed(given)}`
}
