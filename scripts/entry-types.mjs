// @ts-check
// The declarations of what programs require. They name the types of what is imported, so that one
// program may do both: a declaration file of CommonJS may not import an ES module but for its types,
// so each value is declared by its type.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import ts from 'typescript'

/**
 * @param {string} folder of declarations
 * @param {ReadonlyMap<string, readonly string[]>} entries by their names, with those of what they export when they run
 */
export function tidyTypes(folder, entries) {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.d.ts'))) {
    const text = readFileSync(`${folder}/${file}`, 'utf8')
    const values = entries.get(file.replace(/\.d\.ts$/, ''))
    writeFileSync(`${folder}/${file}`, withoutUnusedImports(withoutNumbers(values ? exportTypes(text, new Set(values)) : text)))
  }
}

/**
 * It keeps what a module imports of packages also when nothing that uses it is left; who imports the
 * declarations would have to have those packages, and types that compile.
 * @param {string} text
 */
function withoutUnusedImports(text) {
  const isUsed = (/** @type {string} */ name) =>
    text.match(new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g'))?.length !== 1
  return text.replace(/^import \{ (.*) \} from ("[^".][^"]*");\n/gm, (_, /** @type {string} */ list, from) => {
    const used = list.split(', ').filter((one) => isUsed(one.replace(/^.* as /, '')))
    return used.length === 0 ? '' : `import { ${used.join(', ')} } from ${from};\n`
  })
}

/** @param {readonly string[]} entries that can be required, by their names */
export function writeCommonJsTypes(entries) {
  const files = entries.map((name) => resolve(`dist/${name}.d.ts`))
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
    noLib: true,
  })
  const checker = program.getTypeChecker()
  for (const [at, name] of entries.entries()) {
    const symbols = exportsOf(program.getSourceFile(files[at] ?? ''), checker)
    if (symbols.length === 0) throw new Error(`${files[at]} declares no module`)
    writeFileSync(`dist/cjs/${name}.d.cts`, commonJs(`../${name}.js`, symbols, program))
  }
}

/**
 * The bundler forgets of a class that a module behind the entry exports its type alone.
 * @param {string} text @param {ReadonlySet<string>} values
 */
const exportTypes = (text, values) =>
  text.replace(/^export \{ (.*) \};$/m, (_, /** @type {string} */ list) => {
    const names = list.split(', ').map((one) => (one.startsWith('type ') || values.has(one.replace(/^.* as /, '')) ? one : `type ${one}`))
    return `export { ${names.join(', ')} };`
  })

/**
 * It also numbers a name that nothing else in the file has, and a compiler's messages would have
 * the number.
 * @param {string} text
 */
const withoutNumbers = (text) =>
  [...text.matchAll(/\b(\w+)(\$\d+) as \1(?=,| \})/g)].reduce((before, [, name = '', number = '']) => {
    const isTaken = new RegExp(`\\b(interface|type|class|const|function) ${name}\\b(?!\\$)|^import .*[{,] ${name}[,} ]`, 'm').test(before)
    const own = `${name}${number.replace('$', '\\$')}`
    return isTaken ? before : before.replace(new RegExp(`\\b${own} as ${name}\\b`), name).replace(new RegExp(`\\b${own}(?!\\w)`, 'g'), name)
  }, text)

/** @param {ts.SourceFile | undefined} source @param {ts.TypeChecker} checker */
function exportsOf(source, checker) {
  const module = source && checker.getSymbolAtLocation(source)
  return module ? checker.getExportsOfModule(module) : []
}

/** @param {ts.Symbol} symbol @param {ts.TypeChecker} checker */
const meantBy = (symbol, checker) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)

/** @param {string} from @param {readonly ts.Symbol[]} symbols @param {ts.Program} program */
function commonJs(from, symbols, program) {
  const checker = program.getTypeChecker()
  const asModule = `from '${from}' with { 'resolution-mode': 'import' }`
  const values = symbols.flatMap((symbol) => {
    const declared = meantBy(symbol, checker)
    if (!(declared.flags & ts.SymbolFlags.Value) || isTypeOnly(symbol)) return []
    if (symbol.name === 'default') return ['declare const _default: typeof module.default', 'export default _default']
    const value = `export declare const ${symbol.name}: typeof module.${symbol.name}`
    // A name that is both hides what the line of all types says of it.
    return declared.flags & ts.SymbolFlags.Type ? [value, typeOf(symbol.name, declared, program)] : [value]
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
 * @param {string} name @param {ts.Symbol} declared @param {ts.Program} program
 */
function typeOf(name, declared, program) {
  const checker = program.getTypeChecker()
  const parameters = (declared.declarations ?? [])
    .filter((one) => ts.isClassDeclaration(one) || ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one))
    .flatMap(({ typeParameters = [] }) => [...typeParameters])
  /** @param {string} keyword @param {ts.TypeNode | undefined} bound */
  const bounded = (keyword, bound) => {
    if (!bound) return ''
    const symbol = ts.isTypeReferenceNode(bound) && !bound.typeArguments ? checker.getSymbolAtLocation(bound.typeName) : undefined
    const meant = symbol && meantBy(symbol, checker)
    const from = program.getSourceFiles().find((file) => exportsOf(file, checker).some((one) => meantBy(one, checker) === meant))
    if (!meant || !from) throw new Error(`${name}: ${bound.getText()} has to be a type by its name, to be declared for CommonJS as well`)
    const path = relative('dist/cjs', from.fileName)
      .replaceAll('\\', '/')
      .replace(/d\.ts$/, 'js')
    return ` ${keyword} import('${path}', { with: { 'resolution-mode': 'import' } }).${meant.name}`
  }
  const given = parameters.map((one) => one.name.text)
  const taken = parameters.map((one) => `${one.name.text}${bounded('extends', one.constraint)}${bounded('=', one.default)}`)
  /** @param {readonly string[]} list */
  const listed = (list) => (list.length > 0 ? `<${list.join(', ')}>` : '')
  return `export type ${name}${listed(taken)} = module.${name}${listed(given)}`
}
