// Next.js with a custom server. `npm run test:next` installs and builds what is in NEXT_FOLDER.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { attachLifecycle, shutdownSignalOf } from '../../../dist/index.js'
import { options } from './options.mjs'

const dir = process.env.NEXT_FOLDER
const next = createRequire(join(dir, 'package.json'))('next')
const app = next({ dir })
await app.prepare()
const handle = app.getRequestHandler()
const server = createServer((request, response) => {
  // Routes are bundled: what they need of quiesce they are given.
  request.shutdownSignal = () => shutdownSignalOf(request)
  return handle(request, response)
})
server.listen(0, '127.0.0.1')
await attachLifecycle(server, { health: true, ...options }).run()
