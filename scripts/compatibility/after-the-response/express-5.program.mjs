// Express 5, waitUntil(request, work)
// packages: express
import express from 'express'
import { attachLifecycle, waitUntil } from 'quiesce'

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let isPoolOpen = true
let seen

const app = express()
app.get('/', async (request, response) => {
  await sleep(1000)
  response.send('done')
  waitUntil(
    request,
    sleep(1500).then(() => {
      seen = isPoolOpen
    }),
  )
})
const server = app.listen(0, '127.0.0.1', () => console.log(`PORT ${server.address().port}`))
const life = attachLifecycle(server)
life.addDestroy('pool', () => {
  isPoolOpen = false
})
await life.run()
if (!seen) process.exitCode = 9
