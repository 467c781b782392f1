// Express: a download that is under way when SIGTERM comes is sent to its end.
//   node express.mjs & curl -N localhost:3000/export & sleep 1; kill -TERM %1; wait
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import { attachLifecycle } from 'quiesce'

async function* rows() {
  yield 'first row\n'
  await sleep(2_000)
  yield 'last row\n'
}

const app = express()
app.get('/', (_request, response) => response.send('hello\n'))
app.get('/export', (_request, response) => Readable.from(rows()).pipe(response))

const life = attachLifecycle(app.listen(process.env.PORT ?? 3000), { health: true })
life.addReadyzCheck('database', async () => {}) // an await of yours that throws when it is not there
life.addDestroy('database', async () => {}) // runs when no request needs it any more
await life.run()
