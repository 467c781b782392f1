// A server of node:http with watches of every kind: a WebSocket of the package ws, an event stream,
// a chunked watch and a long poll.
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
import { attachLifecycle } from '../../../dist/index.js'
import { answer } from './answer.mjs'
import { options } from './options.mjs'

const server = createServer(answer)
new WebSocketServer({ server }).on('connection', (ws) => ws.send('first'))
server.listen(0, '127.0.0.1')
await attachLifecycle(server, { health: true, ...options }).run()
