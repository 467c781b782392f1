// @ts-check
// docs/mutation.md, made of the table of who catches what.
import { EQUIVALENT, reasonFor } from './equivalent.mjs'

/** @typedef {import('./table.mjs').Table} Table */

/** Properties named per operator; the rest is in the table. */
const NAMED_MAX = 4

/** @param {Table} answers */
export function documentOf(answers) {
  const left = [...answers].filter(([, found]) => found === null).map(([id]) => id)
  const unexplained = left.filter((id) => !reasonFor(id))
  const caught = answers.size - left.length
  return `# Mutants

Written by \`npm run mutation\`; do not edit. Each mutant is a life with one mistake: each operator below makes it at every place where it can be made, one after
the other, in the wiring table, in the regions of the root machine and in the phase machines; and each is one of the machines that work beside a life, with one. Those that a property of
[docs/model-checking.md](model-checking.md) notices are caught; \`scripts/mutation/caught.json\` says by which one, and in which of the
lives of \`scripts/mutation/scenarios.mjs\`, or of \`scripts/mutation/beside-checks.mjs\`. A mutant that nothing notices is equivalent, with the reason why no run could tell it from the original, or else unexplained: a property is missing.

**${answers.size} mutants: ${caught} caught, ${left.length - unexplained.length} equivalent, ${unexplained.length} unexplained.**

| operator | caught | equivalent | unexplained | caught by |
|---|---|---|---|---|
${rowsOf(answers).join('\n')}

\`refused\` is no property: the life cannot be composed or has more states than any, which \`start()\` or the explorer say by an error.

## Who catches how many
| property | mutants |
|---|---|
${countsOf([...answers.values()])
  .map(([by, count]) => `| \`${by}\` | ${count} |`)
  .join('\n')}

## Equivalent
Where a reason is marked as tested, it rests on transitions that are never taken, and a test looks for them in all states of both modes.
${EQUIVALENT.map(({ mutants, why, unheard }) => ({ why: unheard ? `${why} (tested)` : why, ids: left.filter((id) => mutants.test(id)) }))
  .filter(({ ids }) => ids.length > 0)
  .map(({ why, ids }) => `\n${why}\n\n${listOf(ids)}\n`)
  .join('')}
## Unexplained

${unexplained.length === 0 ? 'None.' : listOf(unexplained)}
`
}

/** @param {readonly string[]} ids */
const listOf = (ids) => ids.map((id) => `- \`${id}\``).join('\n')

/** @param {Table} answers */
function rowsOf(answers) {
  /** @type {Map<string, [string, import('./catch.mjs').Catch | null][]>} */
  const byOperator = new Map()
  for (const [id, found] of answers) {
    const operator = id.slice(0, id.indexOf(':'))
    byOperator.set(operator, [...(byOperator.get(operator) ?? []), [id, found]])
  }
  return [...byOperator].map(([operator, all]) => {
    const left = all.filter(([, found]) => found === null)
    const explained = left.filter(([id]) => reasonFor(id)).length
    const counts = countsOf(all.map(([, found]) => found))
    const named = counts.slice(0, NAMED_MAX).map(([by, count]) => `\`${by}\` ${count}`)
    const others = counts.length > NAMED_MAX ? [`${counts.length - NAMED_MAX} more`] : []
    return `| ${operator} | ${all.length - left.length} | ${explained} | ${left.length - explained} | ${[...named, ...others].join(', ')} |`
  })
}

/** The most frequent first. @param {readonly (import('./catch.mjs').Catch | null)[]} answers @returns {[string, number][]} */
function countsOf(answers) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const found of answers) if (found) counts.set(found.by, (counts.get(found.by) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
}
