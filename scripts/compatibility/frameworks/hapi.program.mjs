// hapi
// packages: @hapi/hapi
import Hapi from '@hapi/hapi'
import { attachLifecycle } from 'quiesce'

const server = Hapi.server({ port: 0, host: '127.0.0.1' })
server.route({
  method: 'GET',
  path: '/',
  handler: async () => {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return 'done'
  },
})
const life = attachLifecycle(server.listener, { deadline: '8s' })
life.addDestroy('hapi', () => server.stop())
await server.start()
const ended = life.run()
console.log(`PORT ${server.info.port}`)
await ended
