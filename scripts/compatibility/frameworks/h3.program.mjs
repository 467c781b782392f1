// h3
// packages: h3
import { H3 } from 'h3'
import { createServer } from 'quiesce'

const app = new H3().get('/', async () => {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  return 'done'
})
const server = createServer(app, { port: 0, host: '127.0.0.1', deadline: '8s', logger: false })
server.addPostStartHook('print the port', () => console.log(`PORT ${server.addresses[0].port}`))
await server.run()
