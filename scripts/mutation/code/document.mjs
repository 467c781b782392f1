// @ts-check
// docs/mutation-code.md, made of the table of which test notices what.
import { reasonToSurvive } from './survivors.mjs'

/**
 * @param {readonly import('./mutants.mjs').CodeMutant[]} all
 * @param {import('./table.mjs').Table} table
 */
export function documentOf(all, table) {
  const survivors = [...table].filter(([, test]) => test === null).map(([id]) => id)
  const unexplained = survivors.filter((id) => !reasonToSurvive(id))
  return `# Mutants of the code around the machines

Written by \`npm run mutation:code\`; do not edit. Each mutant is one edit of one file as the tests load it: a statement that is left out, a condition
that is decided, an operator, a boolean or a default that is another. The unit tests of the file's area look for it: those that reach the place of
the edit run with it, one after the other, until one fails, passes at once without it and fails with it again. Many mutants are tried at a time; those
that are left are tried singly before they are said to survive. Tests of processes do not look for mutants, because they run what was built. Types and
lint rules are not asked. A whole run takes hours, so it is taken in parts, of which each goes on where the last one ended. \`scripts/mutation/code/caught.json\` says which test notices each.

**${all.length} mutants, ${table.size} of them run: ${table.size - survivors.length} caught, ${survivors.length - unexplained.length} survive for a reason, ${unexplained.length} without one.**

| folder | mutants | run | caught | explained | unexplained |
|---|---|---|---|---|---|
${foldersOf(all)
  .map((folder) => `| ${rowOf(folder, all, table).join(' | ')} |`)
  .join('\n')}

## Survive for a reason
${explained(survivors)}
## Survive without a reason

${unexplained.length === 0 ? 'None.' : listOf(unexplained)}
`
}

const folderOf = (/** @type {string} */ file) => file.slice(0, file.lastIndexOf('/'))
const foldersOf = (/** @type {readonly { file: string }[]} */ all) => [...new Set(all.map(({ file }) => folderOf(file)))]

/** @param {string} folder @param {readonly { id: string, file: string }[]} all @param {import('./table.mjs').Table} table */
function rowOf(folder, all, table) {
  const ids = all.filter(({ file }) => folderOf(file) === folder).map(({ id }) => id)
  const run = ids.filter((id) => table.has(id))
  const survivors = run.filter((id) => table.get(id) === null)
  const reasons = survivors.filter((id) => reasonToSurvive(id)).length
  return [`\`${folder}\``, ids.length, run.length, run.length - survivors.length, reasons, survivors.length - reasons]
}

/** @param {readonly string[]} survivors */
function explained(survivors) {
  /** @type {Map<string, string[]>} */
  const byReason = new Map()
  for (const id of survivors) {
    const why = reasonToSurvive(id)
    if (why !== undefined) byReason.set(why, [...(byReason.get(why) ?? []), id])
  }
  if (byReason.size === 0) return '\nNone.\n'
  return [...byReason].map(([why, ids]) => `\n${why}\n\n${listOf(ids)}\n`).join('')
}

/** An id may hold backticks of a template. @param {readonly string[]} ids */
const listOf = (ids) => ids.map((id) => (id.includes('`') ? `- \`\` ${id} \`\`` : `- \`${id}\``)).join('\n')
