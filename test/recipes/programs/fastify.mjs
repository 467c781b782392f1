// Fastify with the plugin and @fastify/websocket, with `FACTORY` on a server that its owner has
// made, and with `HTTP2` over HTTP/2.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import fastifyWebSocket from '@fastify/websocket'
import newFastify from 'fastify'
import quiesce from '../../../dist/fastify.js'
import { shutdownSignalOf } from '../../../dist/index.js'
import { options } from './options.mjs'
import { slow } from './slow.mjs'

const { FACTORY, HTTP2 } = process.env
const file = (name) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url))
const { logger: _, ...times } = options
const app = newFastify({
  logger: { level: 'info' },
  ...(FACTORY && { serverFactory: (handler) => createServer(handler) }),
  ...(HTTP2 && { http2: true, https: { cert: file('cert.pem'), key: file('key.pem') } }),
})
await app.register(quiesce, times)
app.get('/', async () => 'hello')
app.get('/slow', slow)
app.get('/events', (request, reply) => {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
  reply.raw.write('data: first\n\n')
  shutdownSignalOf(request).addEventListener('abort', () => reply.raw.end('event: last\ndata: bye\n\n'))
})
if (!HTTP2) {
  await app.register(fastifyWebSocket)
  app.get('/chat', { websocket: true }, (socket) => socket.send('first'))
}
await app.listen({ port: 0, host: '127.0.0.1' })
