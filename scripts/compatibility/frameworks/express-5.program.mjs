// Express 5
// packages: express
import express from 'express'
import { attachLifecycle } from 'quiesce'

const app = express()
app.get('/', async (_, response) => {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  response.send('done')
})
const server = app.listen(0, '127.0.0.1', () => console.log(`PORT ${server.address().port}`))
await attachLifecycle(server, { deadline: '8s' }).run()
