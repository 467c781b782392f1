// @ts-check
// An API server with every filter that it can have, or with some of them: for measuring.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiServerOn } from '../build/packages/apiserver/src/api-server.js'
import { CHAIN_ORDER } from '../build/packages/apiserver/src/chain/order.js'
import { completeConfig } from '../build/packages/apiserver/src/config.js'
import { systemHost } from '../build/src/actors/host.js'

/** Places of the order at which nothing is done for a request that is answered as it should be. */
const NO_FILTERS = ['panic-recovery', 'request-received', 'latency', 'retry-after', 'goaway', 'count', 'warnings', 'tracing']

/** A logger that writes no line for a request, as in production. */
const nothing = () => {}
const logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  isLevelEnabled: (/** @type {string} */ level) => level !== 'debug',
}

const RBAC_VERSION = 'rbac.authorization.k8s.io/v1'
const ROLE = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' }
const RBAC = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: RBAC_VERSION,
      kind: 'ClusterRole',
      metadata: { name: 'reader' },
      rules: [{ nonResourceURLs: ['/', '/api/*'], verbs: ['get'] }],
    },
    {
      apiVersion: RBAC_VERSION,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'readers' },
      roleRef: ROLE,
      subjects: [{ apiGroup: ROLE.apiGroup, kind: 'Group', name: 'readers' }],
    },
  ],
}

/**
 * @param {readonly string[] | undefined} chain default: all
 * @param {string} [audit] `end`: what comes is not recorded, as many policies have it; else a request makes two events
 */
export async function filtersOf(chain, audit) {
  // Its filters are put together by this list: what is not in it is left out.
  const order = /** @type {{ name: string, part: string }[]} */ (/** @type {unknown} */ (CHAIN_ORDER))
  if (chain)
    for (let at = order.length - 1; at >= 0; at--)
      if (order[at]?.part !== 'engine' && !chain.includes(order[at]?.name ?? '')) order.splice(at, 1)
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-bench-'))
  const [tokenAuthFile, authorizationRbacFile] = [join(folder, 'tokens.csv'), join(folder, 'rbac.json')]
  writeFileSync(tokenAuthFile, 'of-the-benchmark,bench,1,"readers"\n')
  writeFileSync(authorizationRbacFile, JSON.stringify(RBAC))
  const server = createApiServerOn(
    systemHost,
    completeConfig({
      port: 0,
      host: '127.0.0.1',
      logger,
      enableIndex: false,
      tokenAuthFile,
      authorizationRbacFile,
      hstsDirectives: ['max-age=31536000'],
      corsAllowedOrigins: ['//www\\.example\\.com(:|$)'],
      auditPolicy: { rules: [{ level: 'Metadata' }], ...(audit === 'end' && { omitStages: ['RequestReceived'] }) },
      auditLog: {
        path: join(folder, 'audit.log'),
        maxSize: 0,
        mode: 'batch',
        maxBatchSize: 400,
        maxBatchWait: '1s',
      },
    }),
  )
  return { server, filters: order.map(({ name }) => name).filter((name) => !NO_FILTERS.includes(name)) }
}
