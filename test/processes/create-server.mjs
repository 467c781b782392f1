// The same life from `createServer` and a fetch function, with the default logger.
import { createServer } from '../../dist/index.js'

const life = createServer({ fetch: () => new Response('hello\n') }, { port: 0, host: '127.0.0.1', shutdownDelay: 0 })
await life.start()
await life.stop('done')
