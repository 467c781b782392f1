// Fails when: handlers run while the accept queue is emptied, so that slow ones let it fill again;
// or a queue that never empties keeps the listener open.
import { expect, test } from 'vitest'
import { systemClock } from '#src/base/clock.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { emptyAcceptQueue } from '#src/http/traffic/accept-queue.ts'
import { rig, turns, UNBOUNDED } from './rig.ts'

test('what arrives while the queue is emptied is handled once the listener has closed, in its order', async () => {
  const order: string[] = []
  // On virtual time no machine is so busy that they wait no longer.
  const { traffic, connect } = await rig(
    (request, response) => {
      order.push(request.url ?? '')
      response.end('ok')
    },
    { clock: new VirtualClock() },
  )
  const clients = [await connect(), await connect()]
  await turns(3)
  traffic.completeNotifying()
  traffic.stopAccepting(300)
  // Before the first turn, so that both are read while the queue is looked at.
  for (const [index, client] of clients.entries()) client.request('GET', `/${index}`)
  await traffic.lastCall.acceptQueued(() => order.push('closed'), UNBOUNDED.signal)
  for (const client of clients) expect((await client.response()).status).toBe(200)
  expect(order).toEqual(['closed', '/0', '/1'])
})

test('a queue that never runs empty is given up after its bound', async () => {
  let connections = 0
  let closed = 0
  let turned = 0
  const busy = (): void => {
    turned++
    const until = performance.now() + 5
    while (performance.now() < until);
  }
  await emptyAcceptQueue({
    clock: systemClock,
    // Each turn brings one more, because each takes as long as a slow handler.
    accepted: () => ++connections,
    close: () => closed++,
    seal: undefined,
    turned: busy,
    ...UNBOUNDED,
  })
  expect(closed).toBe(1)
  // A thousand are its other bound, which turns that long do not come to.
  expect(turned).toBeLessThan(500)
})
