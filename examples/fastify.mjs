// Fastify: the plugin runs the life once the app listens, and closes the app at its end.
//   node fastify.mjs & curl -N localhost:3000/export & sleep 1; kill -TERM %1; wait
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import fastify from 'fastify'
import quiesce from 'quiesce/fastify'

async function* rows() {
  yield 'first row\n'
  await sleep(2_000)
  yield 'last row\n'
}

const app = fastify()
app.get('/', async () => 'hello\n')
app.get('/export', (_request, reply) => reply.send(Readable.from(rows())))
app.addHook('onClose', async () => {}) // runs after the drain, as it does with app.close()

await app.register(quiesce)
app.life.addPreShutdownHook('leave', async () => {}) // takes the server out of a registry, say
await app.listen({ port: Number(process.env.PORT ?? 3000) })
