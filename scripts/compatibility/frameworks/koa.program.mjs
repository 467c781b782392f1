// Koa
// packages: koa
import Koa from 'koa'
import { attachLifecycle } from 'quiesce'

const app = new Koa()
app.use(async (context) => {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  context.body = 'done'
})
const server = app.listen(0, '127.0.0.1', () => console.log(`PORT ${server.address().port}`))
await attachLifecycle(server, { deadline: '8s' }).run()
