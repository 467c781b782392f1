// @ts-check
// `npm run build && node bench/hop.mjs [GENERATIONS]`: what it would cost to have the gate as an app
// of Hono in front of every framework, beside what it costs as it is. One request listener of node,
// in turns: bare, once more (A/A), behind an app of Hono that only hands on, and behind the gate.
// docs/decisions/0055-where-hono-is.md has the numbers.

import { wholeNumber } from '../scripts/usage.mjs'
import { measureInTurns } from './in-turns.mjs'
import { median, summarize } from './statistics.mjs'

const SERVERS = [
  { name: 'bare', application: 'node:http', life: 'bare' },
  { name: 'bare, a second one (A/A)', application: 'node:http', life: 'bare' },
  { name: 'behind an app of Hono that hands on', application: 'a Hono hop', life: 'bare' },
  { name: 'behind the gate', application: 'node:http', life: 'attached' },
]
const generations = wholeNumber('GENERATIONS', process.argv[2] ?? '4', 1)

/** Microseconds of each generation, in the order of SERVERS. @type {number[][]} */
const own = SERVERS.map(() => [])
/** Beyond the bare one of the same round. @type {number[][]} */
const beyond = SERVERS.map(() => [])
for (let generation = 0; generation < generations; generation++) {
  const rounds = await measureInTurns(SERVERS, {})
  for (const [index, { cpu }] of rounds.entries()) {
    own[index]?.push(median(cpu))
    beyond[index]?.push(median(cpu.map((microseconds, round) => microseconds - (rounds[0]?.cpu[round] ?? Number.NaN))))
  }
}
for (const [index, { name }] of SERVERS.entries()) {
  const { median: middle, quartiles } = summarize(beyond[index] ?? [])
  const shown = [median(own[index] ?? []), middle, ...quartiles].map((microseconds) => microseconds.toFixed(2))
  console.log(`${name.padEnd(38)}${shown[0]} µs of processor time a request, ${shown[1]} beyond bare (half: ${shown[2]} to ${shown[3]})`)
}
