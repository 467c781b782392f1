// The verdict of each row for each system, of what was observed.
import { JUDGES_OF_END } from './judge-end.mjs'
import { JUDGES_OF_PACKAGES } from './judge-packages.mjs'
import { JUDGES_OF_START } from './judge-start.mjs'
import { na, notRun } from './verdicts.mjs'

const JUDGES = { ...JUDGES_OF_START, ...JUDGES_OF_END, ...JUDGES_OF_PACKAGES }

/** Rows about what only Node and its packages have. */
const OF_NODE = new Set(['23', '25', '60', '70', '76', '89', '90'])

/** @returns {Record<string, { verdict: string, evidence: string }>} by the number of the row */
export function judge(found, system) {
  const verdicts = {}
  for (const [row, judgeOf] of Object.entries(JUDGES)) {
    const other = system.notItsJob?.[row] ?? (system.job === 'program' && OF_NODE.has(row) ? 'it is about Node' : undefined)
    if (system.missing || other) {
      verdicts[row] = system.missing ? notRun(system.missing) : na(other)
      continue
    }
    if (system.job === 'program' && !system.rows.includes(Number(row))) continue
    const untried = system.untried?.[row]
    if (untried) {
      verdicts[row] = notRun(untried)
      continue
    }
    try {
      verdicts[row] = found.own?.[row] ?? judgeOf(found, system)
    } catch (error) {
      const failed = Object.entries(found).find(([, one]) => typeof one?.failed === 'string')
      verdicts[row] = notRun(
        failed
          ? `the life "${failed[0]}" could not be observed: ${failed[1].failed.slice(0, 200)}`
          : `the observation has no answer: ${error.message}`,
      )
    }
  }
  return verdicts
}
