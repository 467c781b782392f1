import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/**
 * What the tidy tests look at: the project's own files, with paths as `src/server.ts`, parsed once.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDERS = ['src', 'packages', 'test', 'scripts', 'bench', 'diagrams', 'docs', 'examples']
/** Written by builds and by npm, below a folder of ours, too. */
const WRITTEN = /^packages\/[^/]+\/dist\/|\/node_modules\//

export interface Import {
  /** As written: `xstate`, `node:http`, `#model`, `./clock.ts`, `#src/base/clock.ts`. */
  readonly specifier: string
  /**
   * `type` leaves nothing in the output; `dynamic` loads when it is reached; `static` loads with
   * the file.
   */
  readonly kind: 'static' | 'dynamic' | 'type'
  /**
   * For an import of a file of ours, relative, by `#src/` or by `#apiserver/`: the path it names,
   * whether or not that exists.
   */
  readonly target: string | undefined
  readonly line: number
}

export interface Source {
  readonly path: string
  readonly text: string
  readonly ast: ts.SourceFile
  readonly imports: readonly Import[]
}

/** Every file of the project below the folders above, and the documents beside them. */
export const files: readonly string[] = [
  ...readdirSync(ROOT, { encoding: 'utf8' }).filter((name) => name.endsWith('.md')),
  ...FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/')),
  ),
]
  .filter((path) => !WRITTEN.test(path))
  .sort()

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const parsed = new Map<string, Source>()

/** The TypeScript and JavaScript files below a folder, parsed once. */
export function sources(folder: string): readonly Source[] {
  const paths = files.filter((path) => path.startsWith(`${folder}/`) && /\.(ts|mjs|js)$/.test(path))
  for (const path of paths) if (!parsed.has(path)) parsed.set(path, parse(path))
  return paths.flatMap((path) => parsed.get(path) ?? [])
}

/** A file as the tidy tests see it; exported so that they can be tried on made-up files, too. */
export function parse(path: string, text: string = read(path)): Source {
  const ast = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  return { path, text, ast, imports: importsOf(path, ast) }
}

/** Calls `visit` for every node of a file. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  ts.forEachChild(node, (child) => walk(child, visit))
}

export const lineOf = (ast: ts.SourceFile, node: ts.Node): number => ast.getLineAndCharacterOfPosition(node.getStart(ast)).line + 1

/** Those of `imports` of package.json that have a folder behind them. */
const FOLDERS_BY_NAME: readonly (readonly [string, string])[] = [
  ['#src/', 'src/'],
  ['#apiserver/', 'packages/apiserver/src/'],
]

function targetOf(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(path), specifier).replaceAll('\\', '/')
  const named = FOLDERS_BY_NAME.find(([name]) => specifier.startsWith(name))
  return named && named[1] + specifier.slice(named[0].length)
}

function importsOf(path: string, ast: ts.SourceFile): Import[] {
  const found: Import[] = []
  const add = (node: ts.Node, specifier: ts.Node | undefined, kind: Import['kind']): void => {
    if (!specifier || !ts.isStringLiteralLike(specifier)) return
    const { text } = specifier
    const target = targetOf(path, text)
    found.push({ specifier: text, kind, target, line: lineOf(ast, node) })
  }
  walk(ast, (node) => {
    if (ts.isImportDeclaration(node)) {
      add(node, node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? 'type' : 'static')
    } else if (ts.isExportDeclaration(node)) {
      add(node, node.moduleSpecifier, node.isTypeOnly ? 'type' : 'static')
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node, node.argument.literal, 'type')
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node, node.arguments[0], 'dynamic')
    }
  })
  return found
}
