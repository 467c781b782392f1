// A created server with a request listener, and WebSockets of the package ws.
import { WebSocketServer } from 'ws'
import { createServer } from '../../../dist/index.js'
import { answer } from './answer.mjs'
import { options } from './options.mjs'

const wss = new WebSocketServer({ noServer: true })
wss.on('connection', (ws) => ws.send('first'))
await createServer({ listener: answer }, { websocket: { server: wss }, port: 0, host: '127.0.0.1', ...options }).run()
