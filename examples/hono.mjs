// Hono: work that goes on after the response is part of the drain.
//   node hono.mjs & curl -X POST localhost:3000/orders; kill -TERM %1; wait
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { serve } from 'quiesce/hono'

async function sendMail(order) {
  await sleep(2_000)
  console.log(`mail sent for order ${order}`)
}

let orders = 0
const app = new Hono()
app.get('/', (c) => c.text('hello\n'))
app.post('/orders', (c) => {
  orders += 1
  c.executionCtx.waitUntil(sendMail(orders))
  return c.text(`order ${orders} taken\n`, 202)
})

const server = serve(app, { port: Number(process.env.PORT ?? 3000) })
server.addDestroy('mail', async () => {}) // runs when the last mail is sent
await server.run()
