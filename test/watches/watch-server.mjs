// The server of a run of watches, on dist/ and ended by a real SIGTERM: every response is an event
// stream, of which it is told by nothing but its head, and which takes its time to end once it is
// told to. Argument: { "graceMs", "needMs" } as JSON. Its first line says on which port it listens.
import { createServer } from 'node:http'
import { attachLifecycle, shutdownSignalOf } from '../../dist/index.js'

const { graceMs, needMs } = JSON.parse(process.argv[2])

const server = createServer((request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: first\n\n')
  shutdownSignalOf(request).addEventListener('abort', () => setTimeout(() => response.end('data: last\n\n'), needMs), { once: true })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => console.log(server.address().port))

// Nothing but the grace is to end them.
const options = {
  watchGrace: graceMs,
  deadline: graceMs * 2 + 60_000,
  shutdownDelay: 0,
  logger: false,
  reportFile: process.env.REPORT_FILE,
}
await attachLifecycle(server, options).run()
