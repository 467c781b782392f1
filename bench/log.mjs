// @ts-check
// `npm run bench:log`: what a log costs the event loop whose reader has stalled, and comes back
// when many lines wait: the longest delay while they are written, as `monitorEventLoopDelay` sees
// it, and how long that takes. `-- --rounds 20` for more rounds, `-- --lines 100000` for another
// queue. `-- --source FILE` measures another build of `log-destination.js`, such as one of an older
// commit. Exit code 1 when the target is missed.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { givenArguments, wholeNumber } from '../scripts/usage.mjs'

const { values } = givenArguments({
  options: {
    rounds: { type: 'string', default: '10' },
    lines: { type: 'string' },
    source: { type: 'string', default: '../build/src/log/log-destination.js' },
  },
})
const ROUNDS = wholeNumber('--rounds', values.rounds, 1)
/** As many of 165 bytes as may wait, and what waits of an error storm. */
const BACKLOGS = values.lines === undefined ? [10_000, 100_000, 400_000] : [wholeNumber('--lines', values.lines, 1)]
const DELAY_MS_MAX = 10
const LINE_BYTES = 165

/** @param {readonly number[]} numbers */
const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN

/**
 * One process, whose standard output is a pipe that is not read before all lines wait.
 * @param {number} lines
 * @returns {Promise<{ maxMs: number, idleMaxMs: number, tookMs: number, cpuMs: number }>}
 */
async function measure(lines) {
  const child = fork(fileURLToPath(new URL('log-child.mjs', import.meta.url)), [values.source, String(lines), String(LINE_BYTES)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  child.stdout?.pause()
  await once(child, 'message')
  child.stdout?.resume()
  const [measured] = await once(child, 'message')
  await once(child, 'exit')
  return measured
}

console.log(`${cpus()[0]?.model}, node ${process.version}, ${ROUNDS} rounds\n`)
console.log(
  '| lines waiting | MB | longest delay, median of the rounds | worst round | the same process idle | until all are written | CPU |',
)
console.log('|---|---|---|---|---|---|---|')
let missed = 0
for (const lines of BACKLOGS) {
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measure(lines))
  const delays = rounds.map(({ maxMs }) => maxMs)
  const cells = [
    lines,
    Math.round((lines * LINE_BYTES) / 1e6),
    `${median(delays).toFixed(1)} ms`,
    `${Math.max(...delays).toFixed(1)} ms`,
    `${median(rounds.map(({ idleMaxMs }) => idleMaxMs)).toFixed(1)} ms`,
    `${median(rounds.map(({ tookMs }) => tookMs)).toFixed(0)} ms`,
    `${median(rounds.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms`,
  ]
  console.log(`| ${cells.join(' | ')} |`)
  if (median(delays) > DELAY_MS_MAX) missed++
}
console.log(`\ntarget: longest delay at most ${DELAY_MS_MAX} ms: ${missed === 0 ? 'met' : 'missed'}`)
process.exitCode = missed === 0 ? 0 : 1
