import express from 'express'
import { attachLifecycle, shutdownSignalOf } from '../../../dist/index.js'
import { options } from './options.mjs'
import { slow } from './slow.mjs'

const app = express()
app.get('/', (_, response) => response.send('hello'))
app.get('/slow', async (_, response) => response.send(await slow()))
app.get('/events', (request, response) => {
  response.set('content-type', 'text/event-stream').write('data: first\n\n')
  shutdownSignalOf(request).addEventListener('abort', () => response.end('event: last\ndata: bye\n\n'))
})
await attachLifecycle(app.listen(0, '127.0.0.1'), { health: true, ...options }).run()
