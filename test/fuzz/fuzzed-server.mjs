// The server that the fuzzer attacks, on dist/ and in a process of its own: three API servers in a
// row, as in examples/api-servers.mjs, with every filter on. On descriptor 3 it says line by
// line where it listens, and what must never happen. Argument: { folder, options } as JSON.
import { once } from 'node:events'
import { writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import {
  apiExchangeOf,
  apiGroup,
  completeConfig,
  createApiServer,
  defineResource,
  memoryStorage,
  selfReviews,
} from '../../packages/apiserver/dist/index.js'
import { TOKEN } from './attacks.mjs'

const { folder, options } = JSON.parse(process.argv[2])
const say = (what) => writeSync(3, `${JSON.stringify(what)}\n`)
process.on('uncaughtExceptionMonitor', (error) => say({ breach: `uncaught: ${error.stack}` }))

const USER = 'fuzzer'
const RBAC = 'rbac.authorization.k8s.io'
/** Everything but what is private, and but to act as another. */
const roles = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'public' },
      rules: [
        {
          apiGroups: ['*'],
          resources: ['*'],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
        },
        {
          nonResourceURLs: [
            '/',
            '/index.html',
            '/api',
            '/api/*',
            '/apis',
            '/apis/*',
            '/version',
            '/readyz*',
            '/livez*',
            '/healthz*',
            '/metrics',
            '/none',
          ],
          verbs: ['*'],
        },
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'public' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'public' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: USER }],
    },
  ],
}
const [tokenAuthFile, authorizationRbacFile] = [join(folder, 'tokens.csv'), join(folder, 'rbac.json')]
writeFileSync(tokenAuthFile, `${TOKEN},${USER},1\n`)
writeFileSync(authorizationRbacFile, JSON.stringify(roles))

const config = completeConfig({
  tokenAuthFile,
  authorizationRbacFile,
  listeners: [
    { port: 0, host: '127.0.0.1' },
    { port: 0, host: '127.0.0.1', http2: true },
  ],
  platform: 'unknown',
  shutdownDelay: 0,
  lastCall: 0,
  requestTimeout: '1s',
  headersTimeout: '1s',
  logger: false,
  reportFile: join(folder, 'report.json'),
  corsAllowedOrigins: ['//www\\.example\\.com(:|$)'],
  hstsDirectives: ['max-age=31536000'],
  auditPolicy: { rules: [{ level: 'Metadata' }] },
  auditLog: { path: join(folder, 'audit.log'), maxSize: 0, mode: 'batch', maxBatchSize: 400, maxBatchWait: '1s' },
  ...options,
})

/** What its client has told it, back to its client. */
async function echo(request, response) {
  const { user } = apiExchangeOf(request)
  if (user?.name !== USER) say({ breach: `${request.method} ${request.url} has come through as ${JSON.stringify(user)}` })
  const chunks = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    // Its client has left, or what it has sent is no body.
    return
  }
  response.setHeader('Content-Type', 'application/json')
  response.end(
    `${JSON.stringify({
      url: request.url,
      secret: request.headers['x-secret'],
      user: user?.name,
      body: Buffer.concat(chunks).toString('latin1'),
    })}\n`,
  )
}

const extensions = createApiServer(config, { name: 'extensions' })
extensions.handle('/apis/shop.example/v1/orders', echo)
const core = createApiServer(config, { name: 'core', delegate: extensions })
core.handle('/api/v1/pods', echo)
core.handle('/api/v1/large', (_request, response) => response.end(Buffer.alloc(64 * 2 ** 20)))
core.handle('/api/v1/panics', () => {
  throw new Error('on purpose')
})
core.handle('/api/v1/late', (_request, response) => {
  response.write('a part')
  throw new Error('on purpose')
})
/** Until its time is over or its client has left. */
core.handle('/api/v1/never', (request) => once(apiExchangeOf(request).signal, 'abort'))
/** Objects that the attacks create, change, watch and delete; few are kept, so that versions grow old. */
const cups = defineResource({
  group: 'tea.example',
  kind: 'Cup',
  plural: 'cups',
  scope: 'Namespaced',
  versions: {
    v1: {
      schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: { size: { type: 'integer', maximum: 9 }, of: { type: 'string', default: 'tea', pattern: '^[a-z]*$' } },
          },
          status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
      columns: [{ name: 'Size', type: 'integer', path: '.spec.size' }],
      subresources: { status: true, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
    },
  },
})
core.installApiGroups(
  apiGroup({ group: 'tea.example', versions: { v1: [{ resource: cups, storage: memoryStorage({ history: 20 }).resource() }] } }),
)
const aggregator = createApiServer(config, { name: 'aggregator', delegate: core })
aggregator.installApiGroups(...selfReviews())
aggregator.handlePrefix('/private/', (request, response) => {
  say({ breach: `${request.method} ${request.url} has come to a private path` })
  response.end('private')
})

aggregator.addPostStartHook('say', () => say({ ports: life.addresses.map(({ port }) => port) }))
const { life } = aggregator.prepare()
life.events$.subscribe((event) => {
  if (event.type === 'warning') say({ warning: event.message })
  if (event.type === 'error' && !event.error.message.includes('on purpose'))
    say({ error: `${event.where}: ${event.error.stack ?? event.error.message}` })
})
await life.run()
