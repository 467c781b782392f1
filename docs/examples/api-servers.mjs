// Three API servers in a row, as kube-apiserver is: an aggregator in front of the core, and the core
// in front of extensions. They are one server to their clients, with one life.
//
//   node node_modules/quiesce/docs/examples/api-servers.mjs
//   curl localhost:8080/             every path of all three
//   curl localhost:8080/readyz?verbose
//   curl 'localhost:8080/api/v1/pods?watch=true'
//   kill -TERM ...                   the watch ends with a line of its own, then all three do
import { setTimeout as sleep } from 'node:timers/promises'
import { shutdownSignalOf } from 'quiesce'
import { completeConfig, createApiServer, notFoundDelegate } from 'quiesce/apiserver'

const config = completeConfig({ port: Number(process.env['PORT'] ?? 8080), watchGrace: '5s' })

const json = (value) => (_request, response) => {
  response.setHeader('Content-Type', 'application/json')
  response.end(`${JSON.stringify(value)}\n`)
}

// Innermost: kinds that users define. They are read from somewhere first; until then, what is not
// found may only be late, and clients are told to come again: 503.
const extensions = createApiServer(config, { name: 'extensions', delegate: notFoundDelegate() })
const definitions = sleep(200).then(() => {
  extensions.handle('/apis/shop.example/v1/orders', json({ kind: 'OrderList', items: [{ id: 1, of: 'tea' }] }))
})
extensions.addMuxCompleteSignal('definitions', definitions)
extensions.addDestroy('definitions', () => {})

// The core: what is there from the start, with a watch.
const pods = new Map([['web', { name: 'web', restarts: 0 }]])
const core = createApiServer(config, { name: 'core', delegate: extensions })
core.addHealthzCheck('store', () => pods.size > 0)
core.addPostStartHook('fill-store', () => void pods.set('db', { name: 'db', restarts: 0 }))
core.addDestroy('store', () => pods.clear())
core.handle('/api/v1/pods', async (request, response) => {
  const list = json({ kind: 'PodList', items: [...pods.values()] })
  if (!new URL(request.url, 'http://localhost').searchParams.has('watch')) return list(request, response)
  response.setHeader('Content-Type', 'application/json')
  const end = shutdownSignalOf(request)
  while (!end.aborted && !response.closed) {
    response.write(`${JSON.stringify({ type: 'MODIFIED', object: pods.get('web') })}\n`)
    await sleep(1_000, undefined, { signal: end }).catch(() => {})
  }
  response.end(`${JSON.stringify({ type: 'ERROR', object: { message: 'the server ends: watch another one' } })}\n`)
})

// Outermost: the one that is run. Its filters are passed by all requests, once.
const aggregator = createApiServer(config, { name: 'aggregator', delegate: core })
aggregator.addDestroy('services', () => {})
aggregator.handle(
  '/apis/metrics.example/v1/nodes',
  json({ kind: 'NodeMetricsList', items: [{ name: 'here', cpu: process.cpuUsage().user }] }),
)

await aggregator.prepare().run()
