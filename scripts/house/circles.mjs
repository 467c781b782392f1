// @ts-check
// Circles of imports among the product's own files: groups of which each file names every other
// one, by whatever way. Imports of types count: who reads one of these files has to read them all.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** What programs of others load: the core, and the packages beside it. */
const OURS = /^(?:src|packages\/[\w-]+\/src)\/.*\.ts$/

/**
 * The text of each of the product's own files, by its path from the root.
 * @returns {ReadonlyMap<string, string>}
 */
function ownTexts() {
  const paths = ['src', 'packages'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name).replaceAll('\\', '/')),
  )
  return new Map(paths.filter((path) => OURS.test(path)).map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}

/**
 * The files of ours that a file names: in types, too, and in `await import()`.
 * @param {string} path
 * @param {string} text
 */
function importsOf(path, text) {
  return ts.preProcessFile(text).importedFiles.flatMap(({ fileName }) => {
    if (fileName.startsWith('.')) return [join(dirname(path), fileName).replaceAll('\\', '/')]
    return fileName.startsWith('#src/') ? [fileName.slice(1)] : []
  })
}

/**
 * The circles, the largest first: strongly connected components of more than one file, as Tarjan
 * finds them (SIAM Journal on Computing 1, 1972).
 * @param {ReadonlyMap<string, string>} texts
 */
export function circles(texts = ownTexts()) {
  /** @type {string[][]} */
  const found = []
  /** @type {Map<string, number>} */
  const order = new Map()
  /** @type {string[]} */
  const open = []
  /** @param {string} path @returns {number} the first of the open files that lead back here */
  const visit = (path) => {
    const at = order.size
    order.set(path, at)
    open.push(path)
    let lowest = at
    for (const next of importsOf(path, texts.get(path) ?? '')) {
      if (!order.has(next)) lowest = Math.min(lowest, visit(next))
      else if (open.includes(next)) lowest = Math.min(lowest, order.get(next) ?? at)
    }
    if (lowest < at) return lowest
    const group = open.splice(open.indexOf(path))
    if (group.length > 1) found.push(group.sort())
    return at
  }
  for (const path of texts.keys()) if (!order.has(path)) visit(path)
  return found.sort((a, b) => b.length - a.length)
}
