// @ts-check
// `npm run test:metrics`: what Prometheus's own client library for Python reads of our `/metrics`, in
// both formats (`pip install prometheus_client`; the python that has it in PROMETHEUS_PYTHON). Fails
// for a text that its parsers refuse, and for a family that comes out of them in another way than it
// was counted. Ours is joined by a registry of prom-client.
import { spawnSync } from 'node:child_process'
import { Counter, collectDefaultMetrics, Histogram, Registry, Summary } from 'prom-client'
import { fromPromClient, MetricRegistry } from '../dist/metrics.js'
import { completeConfig, createApiServer } from '../packages/apiserver/dist/index.js'

const PYTHON = process.env['PROMETHEUS_PYTHON'] ?? 'python3'

/** Reads one text, and says what families it has, with how many samples. */
const READER = `
import json, sys
if sys.argv[1] == 'openmetrics':
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
else:
    from prometheus_client.parser import text_string_to_metric_families as read
families = list(read(sys.stdin.read()))
print(json.dumps({f.name: {'type': f.type, 'samples': [[s.name, s.labels, s.value] for s in f.samples]} for f in families}))
`

const server = createApiServer(
  completeConfig({ port: 0, host: '127.0.0.1', logger: false, platform: 'unknown', shutdownDelay: 0, lastCall: 0 }),
)
server.handle('/a', (_, response) => void response.setHeader('Content-Length', 1).end('a'))
server.handlePrefix('/apis/shop.example/v1/', (_, response) => void response.end())
const { life } = server.prepare()

const own = new MetricRegistry()
const hostile = own.counter({ name: 'hostile_total', help: 'a "help"\nwith \\ all # of it', labels: ['text'] })
const TEXTS = ['plain', '"quoted"', 'back\\slash', 'new\nline', 'ünï → 漢', '{a="b"} 1', '']
for (const text of TEXTS) hostile.with(text).add()
own.gauge({ name: 'odd', help: '' }).set(Number.NaN)
own.histogram({ name: 'sizes', help: 'Sizes.', bounds: [0.001, 1, 10, 1e6, 1e9] }).observe(1)
life.addMetrics(own)

const registry = new Registry()
collectDefaultMetrics({ register: registry })
new Counter({ name: 'orders_total', help: 'Orders.', labelNames: ['kind'], registers: [registry] }).inc({ kind: 'book' })
new Histogram({ name: 'order_seconds', help: 'Took.', registers: [registry] }).observe(0.2)
new Summary({ name: 'order_bytes', help: 'Size.', registers: [registry] }).observe(10)
life.addMetrics(fromPromClient(registry))

await life.start()
const { url } = /** @type {{ url: string }} */ (life.addresses[0])
for (const path of ['/a', '/nowhere', '/apis/shop.example/v1/books', '/readyz']) await (await fetch(url + path)).text()

/** @type {string[]} */
const failed = []
/** @param {string} what @param {boolean} isFine */
const expect = (what, isFine) => {
  if (!isFine) failed.push(what)
  console.log(`${isFine ? 'ok    ' : 'FAILED'} ${what}`)
}
for (const [format, accept] of Object.entries({ prometheus: 'text/plain', openmetrics: 'application/openmetrics-text; version=1.0.0' })) {
  const text = await (await fetch(`${url}/metrics`, { headers: { Accept: accept } })).text()
  const { status, stdout, stderr, error } = spawnSync(PYTHON, ['-c', READER, format], { input: text, encoding: 'utf8' })
  if (error) throw new Error(`${PYTHON} does not run: ${error.message}`)
  if (/No module named/.test(stderr))
    throw new Error(`${PYTHON} has no prometheus_client (pip install prometheus_client, or PROMETHEUS_PYTHON=...)`)
  expect(`${format}: is read without a complaint${status === 0 ? '' : `: ${stderr.trim().split('\n').at(-1)}`}`, status === 0)
  if (status !== 0) continue
  /** @type {Record<string, { type: string, samples: [string, Record<string, string>, number][] }>} */
  const families = JSON.parse(stdout.replace(/\bNaN\b/g, 'null').replace(/\bInfinity\b/g, '1e999'))
  const texts = families['hostile']?.samples.filter(([name]) => name === 'hostile_total').map(([, labels]) => labels['text'])
  expect(`${format}: labels come out as they went in`, JSON.stringify(texts) === JSON.stringify(TEXTS))
  const buckets = families['sizes']?.samples.filter(([name]) => name === 'sizes_bucket').map(([, , value]) => value)
  expect(`${format}: buckets are cumulative`, buckets?.join() === '0,1,1,1,1,1')
  const requests = families['apiserver_request']
  expect(`${format}: requests are a counter`, requests?.type === 'counter' && requests.samples.length >= 4)
  const types = ['order_seconds', 'order_bytes', 'orders', 'odd'].map((name) => families[name]?.type)
  expect(`${format}: what joins keeps its types`, types.join() === 'histogram,summary,counter,gauge')
}
registry.clear()
await life.stop({ now: true })
console.log(failed.length === 0 ? 'all as expected' : `failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
