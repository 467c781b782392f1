// Koa, with the package ws on its server.
import { PassThrough } from 'node:stream'
import Koa from 'koa'
import { WebSocketServer } from 'ws'
import { attachLifecycle, shutdownSignalOf } from '../../../dist/index.js'
import { options } from './options.mjs'
import { slow } from './slow.mjs'

const app = new Koa().use(async (context) => {
  if (context.path === '/events') {
    const events = new PassThrough()
    context.type = 'text/event-stream'
    context.body = events
    events.write('data: first\n\n')
    shutdownSignalOf(context.req).addEventListener('abort', () => events.end('event: last\ndata: bye\n\n'))
  } else context.body = context.path === '/slow' ? await slow() : 'hello'
})
const server = app.listen(0, '127.0.0.1')
new WebSocketServer({ server }).on('connection', (ws) => ws.send('first'))
await attachLifecycle(server, { health: true, ...options }).run()
