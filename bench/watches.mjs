// @ts-check
// `npm run bench:watches`: how many of a crowd of event streams are broken off when their server is
// ended although each would have ended within a tenth of the grace, and how many come back to other
// servers at a time; by their clients' own record. Then 10 000 watches of mixed kinds, a quarter
// each event streams, chunked watches, WebSockets of the package ws and WebSockets whose handler
// writes its own frames: how many end in each 100 ms, beside what the limiter gives, as a list
// and as docs/images/watches.svg; exit code 1 when they differ by more than a tenth. `-- 800 10000` for other crowds, `-- mixed` for the latter alone.
import { writeFileSync } from 'node:fs'
import { endsPer, KINDS, runMixed } from '../test/watches/mixed.mjs'
import { peakPer100Ms, runCrowd } from '../test/watches/watch-crowd.mjs'
import { plotOf } from './watches-plot.mjs'

/** The default where nothing says otherwise (a third of 8 s), and that on Kubernetes. */
const GRACES_MS = [2667, 8000]
const MIXED = 10_000
const MIXED_GRACE_MS = 8_000
/** How much more or less than the limiter gives may end in 100 ms. */
const OFF_MAX = 0.1
/** The first half of the grace is for telling. */
const RATE_PER_100_MS = MIXED / (MIXED_GRACE_MS / 2 / 100)

const given = process.argv.slice(2)
const isMixedOnly = given[0] === 'mixed'
const counts = isMixedOnly ? [] : given.length > 0 ? given.map(Number) : [100, 800, 10_000]
if (!counts.every((count) => Number.isInteger(count) && count > 0)) throw new Error('allowed: numbers of watches above 0')

const seconds = (/** @type {number | undefined} */ ms) => `${((ms ?? 0) / 1000).toFixed(2)} s`
console.log(`node ${process.versions.node}\n`)
if (counts.length > 0) {
  console.log('| watches | grace | each needs | whole | broken off | first end | last end | most ends in 100 ms | exit code | exit |')
  console.log('|---|---|---|---|---|---|---|---|---|---|')
}
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

const { ends, openMb, mostMb, report } = await runMixed({ count: MIXED, graceMs: MIXED_GRACE_MS })
const bins = endsPer(ends)
// The last one is what is left.
const whole = bins.slice(0, -1)
const isOff = (/** @type {number} */ bin) => Math.abs(bin / RATE_PER_100_MS - 1) > OFF_MAX
const most = peakPer100Ms(ends.map(({ at }) => at))
console.log(`\n${MIXED} watches of mixed kinds, grace ${seconds(MIXED_GRACE_MS)}, ${RATE_PER_100_MS} in 100 ms by the limiter\n`)
for (const kind of KINDS) {
  const hows = ends.filter((end) => end.kind === kind).map(({ how }) => how)
  console.log(`${kind}: ${[...new Set(hows)].map((how) => `${hows.filter((one) => one === how).length} ${how}`).join(', ')}`)
}
console.log(`ends in each 100 ms: ${bins.join(' ')}`)
console.log(`${whole.filter((bin) => !isOff(bin)).length} of the ${whole.length} before the last within ${100 * OFF_MAX} %`)
console.log(`most ends in any 100 ms, wherever they begin: ${most}`)
console.log(`memory: ${openMb.toFixed(0)} MB with all open, at most ${mostMb.toFixed(0)} MB while they end; exit code ${report.exitCode}`)
const title = `${MIXED} watches of mixed kinds: ends in each 100 ms, by their clients`
writeFileSync(new URL('../docs/images/watches.svg', import.meta.url), plotOf({ bins, rate: RATE_PER_100_MS, title }))
if (whole.some(isOff)) process.exitCode = 1
