// Fastify 4, its plugin
// packages: fastify
// set: fastify-4
import fastify from 'fastify'
import quiesce from 'quiesce/fastify'

const app = fastify()
await app.register(quiesce, { deadline: '8s' })
app.get('/', async () => {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  return 'done'
})
await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`PORT ${app.server.address().port}`)
