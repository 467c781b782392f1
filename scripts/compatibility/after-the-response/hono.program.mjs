// Hono, c.executionCtx.waitUntil(work)
// packages: hono
import { Hono } from 'hono'
import { createServer } from 'quiesce'

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let isPoolOpen = true
let seen

const app = new Hono()
app.get('/', async (c) => {
  await sleep(1000)
  c.executionCtx.waitUntil(
    sleep(1500).then(() => {
      seen = isPoolOpen
    }),
  )
  return c.text('done')
})
const life = createServer(app, { port: 0, host: '127.0.0.1', logger: false })
life.addDestroy('pool', () => {
  isPoolOpen = false
})
life.addPostStartHook('say', () => console.log(`PORT ${life.addresses[0].port}`))
await life.run()
if (!seen) process.exitCode = 9
