// @ts-check
// What node itself needs, for bench/upstream.mjs: an HTTPS server without any library, which answers the path, writes its audit events, and writes
// each change of an object to all who watch it, in as many bytes as the API server does. It checks nothing and keeps nothing.
import { randomUUID } from 'node:crypto'
import { openSync, readFileSync, write } from 'node:fs'
import { createSecureServer } from 'node:http2'
import { flunder } from './setting.mjs'

/** @type {import('./setting.mjs').Setting} */
const setting = JSON.parse(process.argv[2] ?? '{}')

/** @type {Set<import('node:http2').Http2ServerResponse>} */
const watchers = new Set()
let version = 0

function changed() {
  version++
  const { metadata, ...rest } = flunder('f2', `w${version}`)
  const object = {
    ...rest,
    metadata: {
      ...metadata,
      namespace: 'kept',
      uid: 'c3b5ad0e-52f5-4c0a-9d0f-2f0a5d8f7a11',
      resourceVersion: String(version),
      generation: version,
      creationTimestamp: '2026-11-27T12:00:00Z',
    },
  }
  const event = Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`)
  for (const watcher of watchers) watcher.write(event)
  return object
}

const BATCH = 400
const auditLog = setting.audit === '' ? undefined : openSync(setting.audit, 'a')
/** @type {string[]} */
let events = []

/** @param {string} id @param {string} url @param {string} stage @param {string} received @param {string} more */
function audit(id, url, stage, received, more) {
  events.push(
    `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"${id}","stage":"${stage}","requestURI":${JSON.stringify(url)},"verb":"get","user":{"username":"bench","uid":"1","groups":["readers","system:authenticated"]},"sourceIPs":["127.0.0.1"]${more},"requestReceivedTimestamp":"${received}","stageTimestamp":"${new Date().toISOString()}"}\n`,
  )
  if (events.length < BATCH) return
  const batch = events.join('')
  events = []
  write(/** @type {number} */ (auditLog), batch, (error) => {
    if (error) throw error
  })
}

createSecureServer({ cert: readFileSync(setting.cert), key: readFileSync(setting.key), allowHTTP1: true }, (request, response) => {
  if (request.url.includes('watch=true')) {
    // Node's types lack one of its methods over HTTP/2.
    const answer = /** @type {any} */ (response)
    answer.writeHead(200, { 'Content-Type': 'application/json' })
    answer.flushHeaders()
    watchers.add(response)
    response.on('close', () => watchers.delete(response))
    return
  }
  request.resume()
  const id = auditLog === undefined ? '' : randomUUID()
  const received = auditLog === undefined ? '' : new Date().toISOString()
  if (auditLog !== undefined) audit(id, request.url, 'RequestReceived', received, '')
  request.on('end', () => {
    const isText = request.url === '/hello' || request.url === '/readyz'
    response.setHeader('Content-Type', isText ? 'text/plain' : 'application/json')
    if (request.method === 'POST') response.statusCode = 201
    const answer = request.method === 'PATCH' ? changed() : { metadata: { resourceVersion: String(version) } }
    response.end(isText ? 'hello\n' : JSON.stringify(answer))
    if (auditLog !== undefined)
      audit(
        id,
        request.url,
        'ResponseComplete',
        received,
        ',"responseStatus":{"metadata":{},"code":200},"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""}',
      )
  })
}).listen(setting.port, '127.0.0.1')
process.on('SIGTERM', () => process.exit())
