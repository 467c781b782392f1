// polka
// packages: polka
import polka from 'polka'
import { attachLifecycle } from 'quiesce'

const app = polka().get('/', async (_, response) => {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  response.end('done')
})
app.listen(0, '127.0.0.1', () => console.log(`PORT ${app.server.address().port}`))
await attachLifecycle(app.server, { deadline: '8s' }).run()
