// WebSockets of the package ws: each client gets the answers to what it has sent, then the close
// code 1001. A goodbye before that is the handler's.
//   node web-socket.mjs & npx wscat -c localhost:3000 & sleep 3; kill -TERM %1; wait
import { createServer } from 'node:http'
import { attachLifecycle, shutdownSignalOf } from 'quiesce'
import { WebSocketServer } from 'ws'

const server = createServer((_request, response) => response.end('hello\n'))
new WebSocketServer({ server }).on('connection', (socket, request) => {
  socket.on('message', (text) => socket.send(`you said: ${text}`))
  shutdownSignalOf(request).addEventListener('abort', () => socket.send('goodbye'))
  socket.send('welcome')
})

const life = attachLifecycle(server.listen(process.env.PORT ?? 3000), { health: true })
await life.run()
