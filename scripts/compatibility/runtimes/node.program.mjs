// Everything allowed
// variants: Node 20; Node 22; Node 24; Node 26; Deno; Bun
// packages: node-20, node-22, node-24, node-26, @deno/linux-x64-glibc, @oven/bun-linux-x64
import { createServer } from 'node:http'
import { attachLifecycle } from 'quiesce'

const server = createServer((_, response) => setTimeout(() => response.end('done'), 1000))
server.listen(0, '127.0.0.1', () => console.log(`PORT ${server.address().port}`))
await attachLifecycle(server, { deadline: '8s', health: true, inspector: true }).run()
