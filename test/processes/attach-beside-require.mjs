// A life around a server whose program requires `node:http`, as one in CommonJS does: prints the
// parts of node that quiesce could load without need.
import { createRequire } from 'node:module'
import { attachLifecycle } from '../../dist/index.js'

const { createServer, get } = createRequire(import.meta.url)('node:http')
const server = createServer((_request, response) => response.end('hello\n'))
const life = attachLifecycle(server, { health: true, shutdownDelay: 0 })
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
await life.start()
const { port } = server.address()
await new Promise((answered) => get({ port, path: '/readyz', agent: false }, (response) => response.resume().once('end', answered)))
await life.stop('done')
console.log(JSON.stringify(process.moduleLoadList.filter((name) => /undici|http2|\btls\b|\bhttps\b/.test(name))))
