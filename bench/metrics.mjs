// @ts-check
// `npm run bench:metrics`: what it costs to count one request, in a registry of ours and in one of
// prom-client, in turns in one process: nanoseconds of CPU and bytes of the heap for each.
import { Counter, Histogram, Registry } from 'prom-client'
import { MetricRegistry } from '../dist/metrics.js'
import { median } from './statistics.mjs'

const LABELS = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component']
const BOUNDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const ROUNDS = 31
const COUNT = 100_000

/** Requests of several kinds, as they come. */
const REQUESTS = ['books', 'orders', 'carts', 'users'].flatMap((resource) =>
  ['GET', 'LIST', 'POST'].map((verb) => [verb, '', 'shop.example', 'v1', resource, '', 'namespace', 'apiserver']),
)
const RECORDS = REQUESTS.map((values) => Object.fromEntries(values.map((value, at) => [/** @type {string} */ (LABELS[at]), value])))

const ours = new MetricRegistry()
const total = ours.counter({ name: 'requests_total', help: '', labels: LABELS })
const seconds = ours.histogram({ name: 'seconds', help: '', labels: LABELS, bounds: BOUNDS })
const kept = REQUESTS.map((values) => seconds.of(values))
const theirs = new Registry()
const promTotal = new Counter({ name: 'requests_total', help: 'x', labelNames: LABELS, registers: [theirs] })
const promSeconds = new Histogram({ name: 'seconds', help: 'x', labelNames: LABELS, buckets: BOUNDS, registers: [theirs] })
const promKept = RECORDS.map((labels) => promSeconds.labels(labels))

/** @type {Readonly<Record<string, (at: number) => void>>} */
const CASES = {
  'ours, counter': (at) => total.of(/** @type {string[]} */ (REQUESTS[at])).add(),
  'ours, histogram': (at) => seconds.of(/** @type {string[]} */ (REQUESTS[at])).observe(0.003),
  'ours, histogram, kept series': (at) => kept[at]?.observe(0.003),
  'ours, histogram, kept series (again)': (at) => kept[at]?.observe(0.003),
  'prom-client, counter': (at) => promTotal.inc(/** @type {object} */ (RECORDS[at])),
  'prom-client, histogram': (at) => promSeconds.observe(/** @type {object} */ (RECORDS[at]), 0.003),
  'prom-client, histogram, kept child': (at) => promKept[at]?.observe(0.003),
}

/** @param {(at: number) => void} run @returns {{ ns: number, bytes: number }} of one */
function measure(run) {
  globalThis.gc?.()
  const heap = process.memoryUsage().heapUsed
  const { user, system } = process.cpuUsage()
  for (let at = 0; at < COUNT; at++) run(at % REQUESTS.length)
  const used = process.cpuUsage()
  return { ns: ((used.user + used.system - user - system) * 1_000) / COUNT, bytes: (process.memoryUsage().heapUsed - heap) / COUNT }
}

/** @type {Record<string, { ns: number, bytes: number }[]>} */
const found = {}
for (let round = 0; round < ROUNDS; round++)
  for (const [name, run] of Object.entries(CASES)) {
    found[name] ??= []
    const one = measure(run)
    // The first rounds are those of the compiler.
    if (round > 2) found[name].push(one)
  }
console.log('for one request, median; bytes as far as no collection came between\n')
for (const [name, each] of Object.entries(found)) {
  const bytes = each.map((one) => one.bytes).filter((one) => one >= 0)
  console.log(
    `${name.padEnd(40)} ${median(each.map(({ ns }) => ns))
      .toFixed(0)
      .padStart(6)} ns ${median(bytes).toFixed(1).padStart(8)} B`,
  )
}
