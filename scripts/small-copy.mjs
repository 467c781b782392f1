// @ts-check
// The copy in CommonJS, which is for what cannot load the other one, takes little room: it has no
// white space, and short names for what is inside of functions. Functions and classes keep their
// names, and each statement of a module and each member of a class has a line of its own, so that a
// stack says where it was and node prints a line that fits on a screen.
import { parseSync } from 'rolldown/utils'

/** @satisfies {import('rolldown').OutputOptions} */
export const SMALL = { minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } } }

/** @type {import('rolldown').Plugin} */
export const lines = {
  name: 'lines',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = inLines(file.code)
  },
}

/** @param {string} code */
function inLines(code) {
  const { program } = parseSync('chunk.js', code)
  const ends = new Set([...program.body, ...membersOf(program)].map(({ start }) => start).filter((start) => start > 0))
  const places = [0, ...[...ends].sort((a, b) => a - b)]
  return places.map((from, at) => code.slice(from, places[at + 1])).join('\n')
}

/** The members of all classes in it. @param {unknown} node @returns {readonly { readonly start: number }[]} */
function membersOf(node) {
  if (Array.isArray(node)) return node.flatMap(membersOf)
  if (typeof node !== 'object' || node === null) return []
  const inside = Object.values(node).flatMap(membersOf)
  return 'type' in node && node.type === 'ClassBody' && 'body' in node
    ? [.../** @type {{ start: number }[]} */ (node.body), ...inside]
    : inside
}
