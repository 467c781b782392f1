// @ts-check
// What the model checker costs, how that grows, and spin beside it.
import { rowOf, tableOf } from './verdict.mjs'

/** @typedef {import('./checker.mjs').Result} Result */

/** Times as many states a second as xstate's own graph module. */
const TIMES_XSTATE_MIN = 2.5
const TEN_SECONDS_MAX = 10

const grouped = (/** @type {number} */ count) => Math.round(count).toLocaleString('en')

/** @param {Result & { readonly pace?: import('./pace.mjs').Pace }} result */
const rows = ({ systems, besideXstate, ten, pace }) => [
  ...Object.entries(systems).map(([name, { rate }]) => rowOf(`${name}, states a second of CPU`, rate, { digits: 0 })),
  rowOf("states a second of one machine, times those of xstate's graph module", besideXstate, { target: { atLeast: TIMES_XSTATE_MIN } }),
  ...Object.entries(ten).flatMap(([what, { explored, checked }]) => {
    const life = `a life with ten ${WHAT[/** @type {keyof typeof WHAT} */ (what)]}`
    const how = { unit: ' s', digits: 1, target: { atMost: TEN_SECONDS_MAX }, pace }
    return [rowOf(`${life}, CPU of exploring`, explored, how), rowOf(`${life}, CPU of that and of all properties`, checked, how)]
  }),
]

const WHAT = {
  'post-start': 'post-start hooks',
  'pre-shutdown': 'pre-shutdown hooks, one after the other',
  'pre-shutdown, side by side': 'pre-shutdown hooks, side by side',
  destroy: 'destroy functions',
  mux: 'mux-complete signals',
  phase: "phases of one's own, side by side",
  stores: 'stores of an API server and nothing else',
}

/** @param {Result} result */
function markdown({ systems, growth, spin, rounds }) {
  const sizes = tableOf(
    ['system', 'states', 'edges', 'states a second of CPU', 'bytes a state'],
    Object.entries(systems).map(([name, { states, edges, rate, bytes }]) => [
      name,
      grouped(states),
      grouped(edges),
      grouped(rate.median),
      grouped(bytes.median),
    ]),
  )
  const grows = tableOf(
    ['a life with', '', 'states', 'edges', 'CPU of exploring, s', 'of all properties, s', 'MB'],
    growth.map(({ what, count, states, edges, cpu, bytes, checkedCpu }) => [
      WHAT[/** @type {keyof typeof WHAT} */ (what)],
      String(count),
      grouped(states),
      grouped(edges),
      cpu.toFixed(1),
      checkedCpu?.toFixed(1) ?? '',
      (bytes / 1e6).toFixed(0),
    ]),
  )
  const beside =
    spin.length === 0
      ? 'spin was not installed.'
      : tableOf(
          ['a life', 'states', 'transitions', 'CPU of exploring, s', 'CPU of compiling, s', 'MB for states'],
          spin.map(({ life, states, transitions, cpu, compileCpu, megabytes }) => [
            life,
            grouped(states),
            grouped(transitions),
            cpu.toFixed(2),
            compileCpu.toFixed(1),
            megabytes.toFixed(1),
          ]),
        )
  return `Each system is explored in a process of its own; medians of ${rounds} rounds. Memory is what the heap holds more when the exploration is finished: graph, model, and what xstate keeps of machines.

${sizes}

\`xstate/graph\` knows one machine. Children, their answers, timers and what is said are explored by this checker alone.

How the states grow with what a life has, in the mode refuse, started and stopped at any time; each was explored once. What runs side by side ends in one order, because a run with another order is the same run under other names; so it adds states and does not multiply them. Post-start hooks still do. Of more than three of them, and of mux-complete signals, three stand for all ([decision 99](https://github.com/quiesce/quiesce/blob/main/docs/decisions/0099-a-life-with-many-hooks-is-checked.md)).

${grows}

spin explores the same lives from the model that \`quiesce check --promela\` writes: the steps of each actor are tables, which xstate has computed, so only how actors work together is left to do. One state more than ours is the one before the start.

${beside}`
}

/** @type {import('./sections.mjs').Section<Result>} */
export const section = {
  name: 'checker',
  title: 'The model checker',
  minutes: 8,
  packages: ['xstate'],
  run: async (how) => (await import('./checker.mjs')).measureChecker(how),
  rows,
  markdown,
}
