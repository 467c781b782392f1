// An event stream: its client learns that the server is leaving, and comes back to another one.
//   node event-stream.mjs & curl -N localhost:3000/events & sleep 3; kill -TERM %1; wait
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { attachLifecycle, shutdownSignalOf } from 'quiesce'

const server = createServer(async (request, response) => {
  if (request.url !== '/events') return void response.end('hello\n')
  const end = shutdownSignalOf(request)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let tick = 1; !end.aborted && !response.destroyed; tick++) {
    response.write(`event: tick\ndata: ${tick}\n\n`)
    await sleep(1_000, undefined, { signal: end }).catch(() => {})
  }
  response.end('event: last\ndata: come back\n\n')
})

const life = attachLifecycle(server.listen(process.env.PORT ?? 3000), { health: true })
await life.run()
