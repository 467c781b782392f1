import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { parse, type Source, sources } from './sources.ts'

/**
 * An exported name has one meaning: it is declared in one file of `src/` and `packages/`, so that a
 * reader who meets it in an import, a stack or a document knows which it is.
 */

/** Names that stand in two files on purpose, each with what keeps them from being one. */
const MIRRORED: Readonly<Record<string, string>> = {
  // packages/model/src/mermaid.ts and src/diagram/mermaid-text.ts write sequence diagrams alike:
  // the package knows nothing of this project, what it exports is for its users, and src/diagram
  // does not load it (imports.test.ts).
  folded: 'the names of participants, in a package of its own',
  NARROW_SEQUENCE: 'the distances of a narrow diagram, in a package of its own',
}

/** The names that a file gives, but for those that it hands on as it has them from another one. */
function exportsOf({ ast }: Source): string[] {
  const imported = new Set(ast.statements.filter(ts.isImportDeclaration).flatMap(importedBy))
  return ast.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement
      if (!exportClause) return []
      if (ts.isNamespaceExport(exportClause)) return [exportClause.name.text]
      const isOwn = ({ name, propertyName }: ts.ExportSpecifier): boolean =>
        propertyName !== undefined || (moduleSpecifier === undefined && !imported.has(name.text))
      return exportClause.elements.filter(isOwn).map(({ name }) => name.text)
    }
    if (!ts.canHaveModifiers(statement)) return []
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
    if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(({ name }) => namesIn(name))
    const { name } = statement as ts.Statement & { readonly name?: ts.Node }
    return name && ts.isIdentifier(name) ? [name.text] : []
  })
}

function importedBy({ importClause }: ts.ImportDeclaration): string[] {
  const { namedBindings } = importClause ?? {}
  return namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements.map(({ name }) => name.text) : []
}

const namesIn = (name: ts.BindingName): string[] =>
  ts.isIdentifier(name) ? [name.text] : name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesIn(element.name) : []))

/** `name: its files` of every name that more than one file exports. */
function doubled(all: readonly Source[]): string[] {
  const files = new Map<string, Set<string>>()
  for (const source of all) {
    for (const name of exportsOf(source)) files.set(name, (files.get(name) ?? new Set()).add(source.path))
  }
  return [...files].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)
}

const nameOf = (line: string): string => line.replace(/:.*/, '')

const OURS: readonly Source[] = [...sources('src'), ...sources('packages').filter(({ path }) => /^packages\/[\w-]+\/src\//.test(path))]

test('an exported name is declared in one file', () => {
  expect(OURS.length).toBeGreaterThan(500)
  expect(doubled(OURS).filter((line) => !Object.hasOwn(MIRRORED, nameOf(line)))).toEqual([])
})

test('what stands in two files on purpose still does', () => {
  expect(doubled(OURS).map(nameOf).sort()).toEqual(Object.keys(MIRRORED).sort())
})

describe('the check sees', () => {
  const one = parse('src/a.ts', 'export interface Verdict {}')
  test.each([
    ['a type', 'export type Verdict = string'],
    ['a class', 'export class Verdict {}'],
    ['a function', 'export function Verdict(): void {}'],
    ['a constant', 'export const Verdict = 1'],
    ['what is taken apart', 'export const { one: Verdict, two: [other] } = all'],
    ['a list', 'type Verdict = string\nexport { type Verdict }'],
    ['another name', "export { type Step as Verdict } from './c.ts'"],
    ['a namespace', "export * as Verdict from './c.ts'"],
  ])('%s', (_, text) => {
    expect(doubled([one, parse('packages/model/src/b.ts', text)])).toEqual(['Verdict: src/a.ts, packages/model/src/b.ts'])
  })

  test.each([
    ['a type of its own', 'interface Verdict {}'],
    ['what is handed on', "export { type Verdict } from './a.ts'"],
    ['what is handed on after an import', "import { type Verdict } from './a.ts'\nexport { type Verdict }"],
    ['an import', "import type { Verdict } from './a.ts'\nexport type Judged = Verdict"],
  ])('nothing wrong with %s', (_, text) => {
    expect(doubled([one, parse('src/b.ts', text)])).toEqual([])
  })

  test('nothing wrong with the overloads of one function', () => {
    expect(doubled([parse('src/a.ts', 'export function f(a: string): void\nexport function f(a: number): void')])).toEqual([])
  })
})
