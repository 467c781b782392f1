// @ts-check
// The server of ours that bench/upstream.mjs puts beside upstream's (main.go): the same paths and the same resource, every other setting a default.
import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { apiGroup, completeConfig, createApiServer, defineResource, memoryStorage } from '../../packages/apiserver/dist/index.js'

/** @type {import('./setting.mjs').Setting} */
const setting = JSON.parse(process.argv[2] ?? '{}')

/** What main.go's authorizer does. @param {import('../../packages/apiserver/dist/index.js').AuthorizationAttributes} attributes */
const readersMay = ({ user }) => ({
  decision: user?.groups?.includes('readers') ? /** @type {const} */ ('allow') : /** @type {const} */ ('no-opinion'),
})

const config = completeConfig({
  port: setting.port,
  host: '127.0.0.1',
  logger: false,
  platform: 'unknown',
  tls: { cert: readFileSync(setting.cert), key: readFileSync(setting.key) },
  http2: true,
  tokenAuthFile: setting.tokens,
  shutdownDelay: 0,
  authorizer: { authorize: readersMay },
  ...(setting.audit && {
    auditPolicy: { rules: [{ level: 'Metadata' }] },
    auditLog: { path: setting.audit, maxSize: 0, mode: 'batch', maxBatchSize: 400, maxBatchWait: '1s' },
  }),
})
const server = createApiServer(config)
server.handle(
  '/hello',
  new Hono().get('/hello', (c) => c.text('hello\n')),
)
const text = { type: 'string' }
const flunders = defineResource({
  group: 'wardle.example.com',
  kind: 'Flunder',
  plural: 'flunders',
  scope: 'Namespaced',
  versions: {
    v1alpha1: {
      schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { reference: text, referenceType: text } }, status: { type: 'object' } },
      },
    },
  },
})
server.installApiGroups(
  apiGroup({ group: 'wardle.example.com', versions: { v1alpha1: [{ resource: flunders, storage: memoryStorage().resource() }] } }),
)
await server.prepare().run()
