// An API server with every filter that it can have; behind them one handler, and a resource.
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiServerOn } from '../../build/packages/apiserver/src/api-server.js'
import { completeConfig } from '../../build/packages/apiserver/src/config.js'
import { apiGroup, defineResource } from '../../build/packages/apiserver/src/index.js'
import { echoNamed } from './echoes.mjs'

const USER = { name: 'crowd', uid: '', groups: ['system:authenticated'], extra: {} }

const integer = { type: 'integer' }
const echoes = defineResource({
  group: 'loss.example',
  kind: 'Echo',
  plural: 'echoes',
  scope: 'Namespaced',
  versions: {
    v1: {
      schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { count: integer, ms: integer, note: { type: 'string' } } } },
      },
    },
  },
})

let version = 0
const late = async (object) => {
  if (object.spec.ms > 0) await sleep(object.spec.ms)
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(++version) } }
}
/** Keeps nothing: an object is read from its name, and one that is created is given back; either takes its time. */
const storage = {
  get: ({ name }) => {
    const object = echoNamed(name)
    return object && late(object)
  },
  create: late,
}

export function apiServer(host, options, listener) {
  const server = createApiServerOn(
    host,
    completeConfig({
      ...options,
      enableIndex: false,
      requestTimeout: '30s',
      corsAllowedOrigins: ['//www\\.example\\.com(:|$)'],
      hstsDirectives: ['max-age=31536000'],
      // Not anonymous: those are told to come anew by every answer over HTTP/2.
      authenticators: [{ authenticate: () => ({ user: USER }) }],
      authorizationMode: ['AlwaysAllow'],
      auditPolicy: { rules: [{ level: 'Metadata' }] },
      auditLog: { path: process.env.AUDIT_FILE, maxSize: 0, mode: 'batch', maxBatchSize: 400, maxBatchWait: '5s' },
    }),
  )
  server.handlePrefix('/', listener)
  server.installApiGroups(apiGroup({ group: 'loss.example', versions: { v1: [{ resource: echoes, storage }] } }))
  return server.prepare().life
}
