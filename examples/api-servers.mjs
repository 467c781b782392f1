// Three API servers in a row, as kube-apiserver is: an aggregator in front of the core, and the core
// in front of extensions. They are one server to their clients, with one life, and two of them have
// resources that kubectl knows.
//
//   node api-servers.mjs
//   curl localhost:8080/             every path of all three
//   curl localhost:8080/readyz?verbose
//   kubectl --server http://localhost:8080 api-resources
//   kubectl --server http://localhost:8080 get orders -w
//   kill -TERM ...                   the watch ends, and kubectl with exit code 0; then all three do
import { setTimeout as sleep } from 'node:timers/promises'
import {
  apiGroup,
  completeConfig,
  createApiServer,
  defineResource,
  notFoundDelegate,
  selfReviews,
  storageOver,
  storeAt,
} from '@quiesce/apiserver'

// `STORAGE=file:shop.db node api-servers.mjs` keeps orders and kettles (Node 22.13 or newer).
const config = completeConfig({ port: Number(process.env['PORT'] ?? 8080), storage: process.env['STORAGE'] ?? 'memory' })
const store = storeAt(config.storage)

// Innermost: kinds that users define. They are read from somewhere first; until then, what is not
// found may only be late, and clients are told to come again: 503.
const orders = defineResource({
  group: 'shop.example',
  kind: 'Order',
  plural: 'orders',
  shortNames: ['od'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: {
    v1: {
      schema: {
        type: 'object',
        description: 'Tea for a table.',
        required: ['spec'],
        properties: {
          spec: {
            type: 'object',
            required: ['tea'],
            properties: {
              tea: { type: 'string', description: 'Which one.' },
              cups: { type: 'integer', minimum: 1, maximum: 12, default: 1, description: 'How many of them.' },
            },
          },
          status: { type: 'object', properties: { cups: { type: 'integer', description: 'How many are on the table.' } } },
        },
      },
      columns: [
        { name: 'Cups', type: 'integer', path: '.spec.cups' },
        { name: 'Tea', type: 'string', path: '.spec.tea', priority: 1 },
        { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
      ],
      // `kubectl scale order assam --replicas 5`
      subresources: { status: true, scale: { specReplicasPath: '.spec.cups', statusReplicasPath: '.status.cups' } },
    },
  },
  strategy: { warnings: ({ spec }) => (/^instant/.test(spec?.tea ?? '') ? ['spec.tea: that is not tea'] : []) },
})
const extensions = createApiServer(config, { name: 'extensions', delegate: notFoundDelegate() })
const definitions = sleep(200).then(() => [
  apiGroup({ group: 'shop.example', versions: { v1: [{ resource: orders, storage: storageOver(store, orders) }] } }),
])
extensions.installApiGroupsWhen('definitions', definitions)
extensions.addDestroy('definitions', () => {})

// The core: what is there from the start. Its storage is asked whether it is ready, and closed at
// the end.
const kettles = defineResource({
  group: 'kitchen.example',
  kind: 'Kettle',
  plural: 'kettles',
  scope: 'Cluster',
  versions: {
    v1: {
      schema: {
        type: 'object',
        description: 'What water is boiled in.',
        properties: { litres: { type: 'number', exclusiveMinimum: 0, description: 'How much it holds.' } },
      },
    },
  },
})
const core = createApiServer(config, { name: 'core', delegate: extensions })
core.installApiGroups(
  apiGroup({ group: 'kitchen.example', versions: { v1: [{ resource: kettles, storage: storageOver(store, kettles) }] } }),
)
core.addHealthzCheck('kitchen', () => true)
core.addPostStartHook('first-kettle', async ({ loopback }) => {
  const kettle = { apiVersion: 'kitchen.example/v1', kind: 'Kettle', metadata: { name: 'old' }, litres: 1.7 }
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(kettle) }
  const answer = await loopback.fetch('/apis/kitchen.example/v1/kettles', init)
  // It may be there from a life before.
  if (!answer.ok && answer.status !== 409) throw new Error(await answer.text())
})

// Outermost: the one that is run. Its filters are passed by all requests, once.
const aggregator = createApiServer(config, { name: 'aggregator', delegate: core })
aggregator.addDestroy('services', () => {})
// Without an authorizer everything is allowed, and that is what `kubectl auth can-i` says.
aggregator.installApiGroups(...selfReviews())
aggregator.handle('/load', (_request, response) => {
  response.setHeader('Content-Type', 'application/json')
  response.end(`${JSON.stringify({ cpu: process.cpuUsage().user })}\n`)
})

await aggregator.prepare().run()
