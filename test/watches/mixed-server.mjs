// Watches of mixed kinds on one server: event streams, chunked watches and, over HTTP/1.1,
// WebSockets, those of the package ws and those whose handler writes frames itself. On dist/ and
// ended by a real SIGTERM; says on which port it listens, and as its last line what memory it took.
// Argument: { "graceMs", "protocol" } as JSON.
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { WebSocketServer } from 'ws'
import { attachLifecycle, markWatch, shutdownSignalOf } from '../../dist/index.js'

const { graceMs, protocol } = JSON.parse(process.argv[2])

const create = protocol === 'HTTP/2' ? createHttp2Server : createServer
const server = create((request, response) => {
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n')
    shutdownSignalOf(request).addEventListener('abort', () => response.end('data: last\n\n'))
  } else {
    response.writeHead(200).write('{"type":"first"}\n')
    markWatch(request).addEventListener('abort', () => response.end('{"type":"last"}\n'))
  }
})
const wss = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false })
const ACCEPTED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
server.on('upgrade', (request, socket, head) => {
  if (request.url === '/ws') wss.handleUpgrade(request, socket, head, (ws) => ws.on('error', () => {}).send('first'))
  else socket.resume().write(Buffer.concat([Buffer.from(ACCEPTED), Buffer.from([0x81, 5]), Buffer.from('first')]))
})

let mostMb = 0
const measure = () => {
  mostMb = Math.max(mostMb, process.memoryUsage.rss() / 2 ** 20)
}
process.on('message', () => {
  measure()
  process.send({ openMb: process.memoryUsage.rss() / 2 ** 20 })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => process.send({ port: server.address().port }))

const measuring = setInterval(measure, 50)
// Nothing but the grace is to end them.
const options = { watchGrace: graceMs, deadline: graceMs * 2 + 60_000, shutdownDelay: 0, logger: false, exit: 'natural' }
const { exitCode, watches, connections } = await attachLifecycle(server, options).run()
clearInterval(measuring)
measure()
process.send({ mostMb, report: { exitCode, watches, connections } })
process.disconnect()
