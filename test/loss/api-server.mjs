// An API server with every filter that it can have, and one handler behind them.
import { createApiServerOn } from '../../build/packages/apiserver/src/api-server.js'
import { completeConfig } from '../../build/packages/apiserver/src/config.js'

const USER = { name: 'crowd', uid: '', groups: ['system:authenticated'], extra: {} }

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
  return server.prepare().life
}
