// @ts-check
// Circles of imports among the product's own files: groups of which each file names every other
// one, by whatever way. Imports of types count: who reads one of these files has to read them all.
import { importsOf, ownTexts } from './sources.mjs'

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
