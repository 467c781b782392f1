// @ts-check
// What the chain of an API server is measured against: programs without quiesce that do some of the
// same. Each is a handler of Hono behind a listener of node.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, openSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'

/** Events of a batch, as in `api-server.mjs`. */
const BATCH = 400

const logFile = () => openSync(join(mkdtempSync(join(tmpdir(), 'quiesce-bench-')), 'audit.log'), 'a', 0o600)

/**
 * The least that can be done: an id, three headers beside those of Hono on the way that costs node
 * least, and two lines of audit whose text is constant but for id and time, encoded and written
 * like ours. It does not look who asks, nor for what; nothing is counted, limited or waited for.
 */
export function leastListener() {
  const file = logFile()
  const chunk = Buffer.allocUnsafe(1024 * BATCH)
  let filled = 0
  let events = 0
  const inner = getRequestListener(new Hono().get('/', (context) => context.text('hello\n')).fetch)
  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  return (request, response) => {
    const id = randomUUID()
    const { writeHead } = response
    response.writeHead = /** @type {any} */ (
      (/** @type {number} */ status, /** @type {Record<string, string>} */ headers) => {
        const all = ['Audit-ID', id, 'Cache-Control', 'no-cache, private', 'Strict-Transport-Security', 'max-age=31536000']
        for (const name in headers) all.push(name, /** @type {string} */ (headers[name]))
        return writeHead.call(response, status, /** @type {any} */ (all))
      }
    )
    void inner(request, response)
    const now = Date.now()
    const head = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"${id}","stage":"`
    const rest = `","requestURI":"/","verb":"get","user":{"username":"bench","uid":"1","groups":["readers","system:authenticated"]},"sourceIPs":["127.0.0.1"],"userAgent":"bench","requestReceivedTimestamp":"${now}","stageTimestamp":"${now}"`
    filled += chunk.write(`${head}RequestReceived${rest}}\n`, filled)
    filled += chunk.write(
      `${head}ResponseComplete${rest},"responseStatus":{"metadata":{},"code":200},"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"RBAC: allowed by ClusterRoleBinding readers of ClusterRole reader to Group readers"}}\n`,
      filled,
    )
    events += 2
    if (events < BATCH) return
    writeSync(file, chunk, 0, filled)
    filled = events = 0
  }
}

/**
 * What people write: a middleware of Hono. Tokens in a map, one group that may ask, two lines of
 * `JSON.stringify`.
 */
export function middleware() {
  const file = logFile()
  const tokens = new Map([['of-the-benchmark', { username: 'bench', uid: '1', groups: ['readers', 'system:authenticated'] }]])
  /** @type {string[]} */
  let lines = []
  const record = (/** @type {object} */ event) => {
    lines.push(JSON.stringify(event))
    if (lines.length < BATCH) return
    writeSync(file, `${lines.join('\n')}\n`)
    lines = []
  }
  /** @type {Hono<{ Bindings: import('@hono/node-server').HttpBindings }>} */
  const app = new Hono()
  app.use(async (context, next) => {
    const { incoming } = context.env
    const user = tokens.get(incoming.headers.authorization?.slice('Bearer '.length) ?? '')
    if (!user) return context.text('Unauthorized', 401)
    if (!user.groups.includes('readers')) return context.text('Forbidden', 403)
    const auditID = randomUUID()
    const requestReceivedTimestamp = new Date().toISOString()
    const event = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID,
      stage: 'RequestReceived',
      requestURI: incoming.url,
      verb: 'get',
      user,
      sourceIPs: [incoming.socket.remoteAddress],
      userAgent: incoming.headers['user-agent'],
      requestReceivedTimestamp,
      stageTimestamp: requestReceivedTimestamp,
    }
    record(event)
    context.header('Audit-ID', auditID)
    context.header('Cache-Control', 'no-cache, private')
    context.header('Strict-Transport-Security', 'max-age=31536000')
    await next()
    record({
      ...event,
      stage: 'ResponseComplete',
      responseStatus: { metadata: {}, code: context.res.status },
      stageTimestamp: new Date().toISOString(),
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': 'allowed to Group "readers"' },
    })
    return undefined
  })
  app.get('/', (context) => context.text('hello\n'))
  return getRequestListener(/** @type {any} */ (app.fetch))
}
