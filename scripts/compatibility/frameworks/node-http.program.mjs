// node:http
import { createServer } from 'node:http'
import { attachLifecycle } from 'quiesce'

const server = createServer((_, response) => setTimeout(() => response.end('done'), 1000))
server.listen(0, '127.0.0.1', () => console.log(`PORT ${server.address().port}`))
await attachLifecycle(server, { deadline: '8s' }).run()
