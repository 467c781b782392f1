// Koa, a middleware that goes on after it has ended the response
// packages: koa
import Koa from 'koa'
import { attachLifecycle } from 'quiesce'

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let isPoolOpen = true
let seen

const app = new Koa()
app.use(async (ctx) => {
  await sleep(1000)
  ctx.res.statusCode = 200
  ctx.res.end('done')
  await sleep(1500)
  seen = isPoolOpen
})
const server = app.listen(0, '127.0.0.1', () => console.log(`PORT ${server.address().port}`))
const life = attachLifecycle(server)
life.addDestroy('pool', () => {
  isPoolOpen = false
})
await life.run()
if (!seen) process.exitCode = 9
