// @ts-check
// What node itself needs, for bench/upstream.mjs: an HTTPS server without any library, which answers the path and writes each change of an object to
// all who watch it, in as many bytes as the API server does. It checks nothing and keeps nothing.
import { readFileSync } from 'node:fs'
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
  request.on('end', () => {
    const isText = request.url === '/hello' || request.url === '/readyz'
    response.setHeader('Content-Type', isText ? 'text/plain' : 'application/json')
    if (request.method === 'POST') response.statusCode = 201
    const answer = request.method === 'PATCH' ? changed() : { metadata: { resourceVersion: String(version) } }
    response.end(isText ? 'hello\n' : JSON.stringify(answer))
  })
}).listen(setting.port, '127.0.0.1')
process.on('SIGTERM', () => process.exit())
