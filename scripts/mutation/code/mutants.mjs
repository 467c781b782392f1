// @ts-check
// Every mutant of the code around the machines: what it is called, and the edit of one file that
// makes it.
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { OPERATORS } from './operators.mjs'

/**
 * @typedef {import('./operators.mjs').Edit} Edit
 * @typedef {{ start: number, end: number, isStatement: boolean }} Whole of the text, what can be switched by itself
 * @typedef {Edit & { id: string, file: string, whole: Whole | undefined }} CodeMutant
 */

/** What does the machines' effects, and what tells of them. */
const FOLDERS = ['src/actors', 'src/http', 'src/lifecycle', 'src/process', 'src/report']
/** Of an id; what is longer is told apart by its number. */
const EXCERPT_MAX = 60

/** @returns {CodeMutant[]} */
export const codeMutants = () => FOLDERS.flatMap(filesIn).flatMap(mutantsOf)

/** @param {string} folder */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => `${folder}/${name}`)

/** @param {string} file @returns {CodeMutant[]} */
function mutantsOf(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  /** @type {Map<string, number>} */
  const seen = new Map()
  /** @type {CodeMutant[]} */
  const found = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node)) return
    for (const [operator, mutate] of Object.entries(OPERATORS)) {
      for (const edit of mutate(node)) {
        const id = `${file} ${operator}: ${excerpt(node)} -> ${edit.text}`
        const nth = (seen.get(id) ?? 0) + 1
        seen.set(id, nth)
        found.push({ ...edit, id: nth === 1 ? id : `${id} (${nth})`, file, whole: wholeOf(node, edit) })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/**
 * The expression or statement around an edit that can stand in parentheses or braces without
 * another meaning; none within an optional chain, which ends early as a whole.
 * @param {ts.Node} node
 * @param {Edit} edit
 * @returns {Whole | undefined}
 */
function wholeOf(node, edit) {
  if (ts.isStatement(node) && !ts.isIfStatement(node)) return { start: node.getStart(), end: node.getEnd(), isStatement: true }
  // A condition that is decided.
  if (edit.text === '(true)' || edit.text === '(false)') return { start: edit.start, end: edit.end, isStatement: false }
  if (ts.isCallExpression(node) && ts.isOptionalChain(node)) return undefined
  // Another operator binds its operands otherwise: as far as no parenthesis holds them.
  let top = node
  while (ts.isBinaryExpression(top) && ts.isBinaryExpression(top.parent)) top = top.parent
  return { start: top.getStart(), end: top.getEnd(), isStatement: false }
}

/** In one line, so that it survives a formatter. @param {ts.Node} node */
const excerpt = (node) => node.getText().replace(/\s+/g, ' ').slice(0, EXCERPT_MAX)
