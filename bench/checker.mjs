// @ts-check
// How many states a second the model checker explores, beside xstate's own graph module; how they
// grow with what a life has, and the same systems in spin.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { summarize } from './statistics.mjs'

/** @typedef {import('./statistics.mjs').Summary} Summary */
/** @typedef {{ what: string, count: number, states: number, edges: number, cpu: number, bytes: number, checkedCpu?: number }} Point a life with so many of something; `checkedCpu` is that of all its properties */
/** @typedef {{ life: string, states: number, transitions: number, cpu: number, compileCpu: number, megabytes: number }} OfSpin */
/**
 * @typedef {object} Result
 * @property {number} rounds
 * @property {Record<string, { states: number, edges: number, rate: Summary, bytes: Summary }>} systems states a second of CPU, bytes of each state
 * @property {Summary} besideXstate states a second of one machine, as a multiple of those of xstate's graph module in the same round
 * @property {Record<string, { explored: Summary, checked: Summary }>} ten of something in a life: seconds of CPU of exploring, and of that with all properties
 * @property {readonly Point[]} growth
 * @property {readonly OfSpin[]} spin empty where spin is not installed
 */

const CHILD = fileURLToPath(new URL('checker-child.mjs', import.meta.url))

/** @param {readonly string[]} args @returns {{ states: number, edges: number, cpu: number, seconds: number, bytes: number, checkedCpu?: number }} */
const explored = (...args) => JSON.parse(execFileSync(process.execPath, ['--expose-gc', CHILD, ...args], { encoding: 'utf8' }))

/** How many of each, to where a life takes a minute. */
const GROWTH = {
  'post-start': [1, 2, 3, 10],
  'pre-shutdown': [1, 4, 10],
  'pre-shutdown, side by side': [2, 4, 10],
  destroy: [1, 4, 10],
  mux: [1, 2, 3, 10],
  phase: [1, 2, 4, 10],
  stores: [1, 2, 3],
}
const ONE_MACHINE = { ours: 'one machine with three counters up to 20', xstates: 'the same, by `xstate/graph`' }
/** Ten of each are measured in every round. */
const TEN = ['post-start', 'pre-shutdown', 'pre-shutdown, side by side', 'destroy', 'mux', 'phase']
const SYSTEMS = {
  [ONE_MACHINE.ours]: ['one-machine'],
  [ONE_MACHINE.xstates]: ['one-machine-xstate'],
  'three actors that count up to 30': ['counters'],
  'a life without hooks': ['post-start', '0'],
}

/** @param {{ readonly quick: boolean, readonly say: (line: string) => void }} how @returns {Promise<Result & { versions?: Record<string, string> }>} */
export async function measureChecker({ quick, say }) {
  const rounds = quick ? 1 : 6
  /** @type {Record<string, ReturnType<typeof explored>[]>} */
  const measured = {}
  /** @type {Record<string, ReturnType<typeof explored>[]>} */
  const checked = {}
  for (let round = 0; round < rounds; round++) {
    const systems = Object.entries(SYSTEMS)
    for (const [name, args] of round % 2 === 0 ? systems : systems.reverse()) {
      say(`round ${round + 1} of ${rounds}: ${name}`)
      measured[name] = [...(measured[name] ?? []), explored(...args)]
    }
    for (const what of TEN) {
      say(`round ${round + 1} of ${rounds}: ten of ${what}`)
      checked[what] = [...(checked[what] ?? []), explored(what, '10', '--check')]
    }
  }
  const cpuOfOne = (/** @type {string} */ name) => (measured[name] ?? []).map(({ cpu }) => cpu)
  const ours = cpuOfOne(ONE_MACHINE.ours)
  const besideXstate = summarize(cpuOfOne(ONE_MACHINE.xstates).map((cpu, round) => cpu / /** @type {number} */ (ours[round])))
  const growth = Object.entries(GROWTH).flatMap(([what, counts]) =>
    counts.slice(0, quick ? 1 : undefined).map((count) => {
      say(`a life with ${count} of ${what}`)
      const { states, edges, cpu, bytes, checkedCpu } = explored(what, String(count), '--check')
      return { what, count, states, edges, cpu, bytes, ...(checkedCpu !== undefined && { checkedCpu }) }
    }),
  )
  const version = spinVersion()
  const lives = [
    ['post-start', '0'],
    ['post-start', '1'],
  ]
  return {
    rounds,
    systems: Object.fromEntries(
      Object.entries(measured).map(([name, all]) => [
        name,
        {
          states: all[0]?.states ?? 0,
          edges: all[0]?.edges ?? 0,
          rate: summarize(all.map(({ states, cpu }) => states / cpu)),
          bytes: summarize(all.map(({ states, bytes }) => bytes / states)),
        },
      ]),
    ),
    besideXstate,
    ten: Object.fromEntries(
      Object.entries(checked).map(([what, all]) => [
        what,
        { explored: summarize(all.map(({ cpu }) => cpu)), checked: summarize(all.map(({ cpu, checkedCpu = 0 }) => cpu + checkedCpu)) },
      ]),
    ),
    growth,
    spin: version === undefined ? [] : lives.slice(0, quick ? 1 : 2).map((args) => ofSpin(args, say)),
    ...(version !== undefined && { versions: { spin: version } }),
  }
}

function spinVersion() {
  try {
    return /Version ([\d.]+)/.exec(execFileSync('spin', ['-V'], { encoding: 'utf8' }))?.[1]
  } catch {
    return undefined
  }
}

/** @param {readonly string[]} args @param {(line: string) => void} say @returns {OfSpin} */
function ofSpin(args, say) {
  say(`spin: ${args.join(' ')}`)
  const folder = mkdtempSync(join(tmpdir(), 'spin-'))
  try {
    explored(...args, join(folder, 'model.pml'))
    const compileCpu = cpuOf(folder, 'spin -a model.pml').cpu + cpuOf(folder, 'gcc -O2 -DSAFETY -DVECTORSZ=8192 -o pan pan.c').cpu
    const { cpu, out } = cpuOf(folder, './pan -m1000000')
    const number = (/** @type {RegExp} */ pattern) => Number(pattern.exec(out)?.[1])
    return {
      life: args[1] === '0' ? 'without hooks' : `with ${args[1]} post-start hook`,
      states: number(/(\d+) states, stored/),
      transitions: number(/(\d+) transitions/),
      cpu,
      compileCpu,
      megabytes: number(/([\d.]+)\s+actual memory usage for states/),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What a command prints, and the CPU that it takes, as the shell counts it. @param {string} folder @param {string} command */
function cpuOf(folder, command) {
  const timed = `TIMEFORMAT='user %U'; { time ${command}; } 2>&1`
  const out = execFileSync('bash', ['-c', timed], { cwd: folder, encoding: 'utf8' })
  return { out, cpu: Number(/^user ([\d.]+)$/m.exec(out)?.[1]) }
}
