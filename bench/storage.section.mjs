// @ts-check
// What a store costs, without a server in front.
import { rowOf, tableOf } from './verdict.mjs'

/** @typedef {import('./statistics.mjs').Summary} Summary */
/**
 * @typedef {object} Result
 * @property {number} rounds
 * @property {number} objects
 * @property {number} lanes
 * @property {number} watches
 * @property {Record<string, Record<string, Summary>>} stores what was measured of each, by its name
 * @property {Record<string, Summary>} ratios of CPU, within each round
 */

const CREATES_MIN = 3_000
const STEP_MAX_MS = 5
const LIST_MAX = 1.5

/** @param {Result & { readonly pace?: import('./pace.mjs').Pace }} result */
function rows({ stores, ratios, objects, pace }) {
  const { file } = stores
  return [
    ...(file?.['createRate']
      ? [rowOf('file, durable creates a second', file['createRate'], { target: { atLeast: CREATES_MIN }, digits: 0, pace })]
      : []),
    ...(file?.['stepMs']
      ? [
          rowOf('file, longest step of the event loop while it writes', file['stepMs'], {
            target: { atMost: STEP_MAX_MS },
            unit: ' ms',
            digits: 1,
            pace,
          }),
        ]
      : []),
    ...(file?.['listRatio']
      ? [rowOf(`a list of ${objects} from the cache, of the CPU of writing its bytes`, file['listRatio'], { target: { atMost: LIST_MAX } })]
      : []),
    ...Object.entries(ratios).map(([what, ratio]) => rowOf(what, ratio)),
  ]
}

/** @type {readonly (readonly [string, string, number])[]} */
const COLUMNS = [
  ['createRate', 'creates a second', 0],
  ['createUs', 'CPU of each, µs', 0],
  ['stepMs', 'longest step of the event loop, ms', 1],
  ['readRate', 'reads a second', 0],
  ['readUs', 'CPU of each, µs', 0],
  ['listMs', 'list of all, ms', 1],
  ['listRatio', 'beside writing its bytes', 2],
  ['watchUs', 'a watch, µs', 1],
  ['eventUs', 'an event of it, µs', 2],
]

/** @param {Result} result */
function markdown(result) {
  const { stores, objects, lanes, watches, rounds } = result
  const table = tableOf(
    ['', ...COLUMNS.map(([, title]) => title)],
    Object.entries(stores).map(([name, measured]) => [
      name,
      ...COLUMNS.map(([column, , digits]) => measured[column]?.median.toFixed(digits) ?? ''),
    ]),
  )
  return `Each store runs in a process of its own, without a server in front. The process creates ${objects} objects of 1 KB, ${lanes} at a time, and each create waits until its object is durable. Then it reads all objects, ${lanes} at a time, lists them from the watch cache, and opens ${watches} watches. CPU is that of the whole process, threads included; what etcd itself uses is not in it. Medians of ${rounds} rounds.

- **The longest step** of the event loop is in CPU of its thread. It is that of a garbage collection; no sync is part of any, as it is done in a thread.
- **Values alone** is the store's connection to etcd, without objects, beside etcd's own client in Go that puts the same values.

${table}

${tableOf(
  ['', 'measured', 'target', 'verdict'],
  rows(result).map((row) => [row.what, row.measured, row.target, row.verdict]),
)}`
}

/** @type {import('./sections.mjs').Section<Result>} */
export const section = {
  name: 'storage',
  title: 'Stores',
  minutes: 4,
  packages: ['@grpc/grpc-js'],
  run: async (how) => (await import('./storage.mjs')).measureStores(how),
  rows,
  markdown,
}
