// A life around a plain node server, from its first byte to its last, with nothing but
// `attachLifecycle`.
import { createServer } from 'node:http'
import { attachLifecycle } from '../../dist/index.js'

const server = createServer((_request, response) => response.end('hello\n'))
const life = attachLifecycle(server, { health: true, shutdownDelay: 0 })
server.listen(0, '127.0.0.1', async () => {
  await life.start()
  const { port } = server.address()
  await fetch(`http://127.0.0.1:${port}/`)
  await fetch(`http://127.0.0.1:${port}/readyz`)
  await life.stop('done')
})
