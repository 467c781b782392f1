// Fastify 5, a handler that goes on after reply.send()
// packages: fastify
import fastify from 'fastify'
import { quiesce } from 'quiesce/fastify'

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let isPoolOpen = true
let seen

const app = fastify()
await app.register(quiesce)
app.life.addDestroy('pool', () => {
  isPoolOpen = false
})
app.get('/', async (_request, reply) => {
  await sleep(1000)
  reply.send('done')
  await sleep(1500)
  seen = isPoolOpen
})
await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`PORT ${app.server.address().port}`)
await app.life.run()
if (!seen) process.exitCode = 9
