// @ts-check
// The product's own files, for the counts of this folder.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** What programs of others load: the core, and the packages beside it. */
const OURS = /^(?:src|packages\/[\w-]+\/src)\/.*\.ts$/

/**
 * The text of each of the product's own files, by its path from the root.
 * @returns {ReadonlyMap<string, string>}
 */
export function ownTexts() {
  const paths = ['src', 'packages'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name).replaceAll('\\', '/')),
  )
  return new Map(paths.filter((path) => OURS.test(path)).map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}

/** @param {string} path @param {string} text */
export const parsed = (path, text) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)

/** Every node below one. @param {ts.Node} node @returns {Generator<ts.Node>} */
export function* nodesBelow(node) {
  for (const child of childrenOf(node)) {
    yield child
    yield* nodesBelow(child)
  }
}

/** @param {ts.Node} node */
function childrenOf(node) {
  /** @type {ts.Node[]} */
  const children = []
  ts.forEachChild(node, (child) => void children.push(child))
  return children
}

/**
 * The files of ours that a file names: in types, too, and in `await import()`.
 * @param {string} path
 * @param {string} text
 */
export function importsOf(path, text) {
  return ts.preProcessFile(text).importedFiles.flatMap(({ fileName }) => {
    if (fileName.startsWith('.')) return [join(dirname(path), fileName).replaceAll('\\', '/')]
    return fileName.startsWith('#src/') ? [fileName.slice(1)] : []
  })
}
