// @ts-check
// `npm run bench:watches`: how many of a crowd of event streams are broken off when their server is
// ended although each would have ended within a tenth of the grace, and how many come back to other
// servers at a time; by their clients' own record. `-- 800 10000` for other crowds. Ten thousand
// watches of mixed kinds are in the section "life" of `npm run bench`.

import { wholeNumber } from '../scripts/usage.mjs'
import { peakPer100Ms, runCrowd } from '../test/watches/watch-crowd.mjs'

/** The default where nothing says otherwise (a third of 8 s), and that on Kubernetes. */
const GRACES_MS = [2667, 8000]

const given = process.argv.slice(2)
const counts = given.length > 0 ? given.map((count) => wholeNumber('watches', count, 1)) : [100, 800, 10_000]

const seconds = (/** @type {number | undefined} */ ms) => `${((ms ?? 0) / 1000).toFixed(2)} s`
console.log(`node ${process.versions.node}\n`)
console.log('| watches | grace | each needs | whole | broken off | first end | last end | most ends in 100 ms | exit code | exit |')
console.log('|---|---|---|---|---|---|---|---|---|---|')
for (const count of counts) {
  for (const graceMs of GRACES_MS) {
    const needMs = Math.round(graceMs / 10)
    const { whole, brokenOff, endedAt, exitCode, exitedAt } = await runCrowd({ count, graceMs, needMs })
    const cells = [
      count,
      seconds(graceMs),
      seconds(needMs),
      whole,
      brokenOff,
      seconds(endedAt[0]),
      seconds(endedAt.at(-1)),
      peakPer100Ms(endedAt),
    ]
    console.log(`| ${[...cells, exitCode, seconds(exitedAt)].join(' | ')} |`)
  }
}
