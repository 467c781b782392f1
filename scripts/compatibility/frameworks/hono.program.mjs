// Hono
// packages: hono, @hono/node-server
import { Hono } from 'hono'
import { createServer } from 'quiesce'

const app = new Hono().get('/', async (context) => {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  return context.text('done')
})
const server = createServer(app, { port: 0, host: '127.0.0.1', deadline: '8s', logger: false })
server.addPostStartHook('print the port', () => console.log(`PORT ${server.addresses[0].port}`))
await server.run()
