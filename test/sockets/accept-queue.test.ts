// Fails when: handlers run while the accept queue is emptied, so that slow ones let it fill again;
// or a queue that never empties keeps the listener open.
import { expect, test } from 'vitest'
import { type Clock, systemClock } from '#src/base/clock.ts'
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

/** A clock by which each turn of the loop takes so long. */
function turnsOf(ms: number): { readonly clock: Clock; readonly count: () => number } & Disposable {
  let count = 0
  let isOver = false
  const turn = async (): Promise<void> => {
    for (; !isOver; count++) await turns(1)
  }
  void turn()
  return {
    clock: { ...systemClock, now: () => count * ms },
    count: () => count,
    [Symbol.dispose]() {
      isOver = true
    },
  }
}

test('a queue that never runs empty is given up after its bound', async () => {
  let connections = 0
  let closed = 0
  using turned = turnsOf(5)
  await emptyAcceptQueue({
    clock: turned.clock,
    // Each turn brings one more, because each takes as long as a slow handler.
    accepted: () => ++connections,
    close: () => closed++,
    seal: undefined,
    goOn: () => undefined,
    ...UNBOUNDED,
  })
  expect(closed).toBe(1)
  // A thousand are its other bound, which turns that long do not come to.
  expect(turned.count()).toBeGreaterThan(195)
  expect(turned.count()).toBeLessThan(500)
})

test('on a loop with long turns, handlers wait for as many turns as a queue needs, or half of the time that there is', async () => {
  const turnsUntil = async (turnMs: number, closesInMs: number): Promise<{ goneOn: number[]; shut: number[] }> => {
    const found = { goneOn: [] as number[], shut: [] as number[] }
    let connections = 0
    using turned = turnsOf(turnMs)
    await emptyAcceptQueue({
      clock: turned.clock,
      accepted: () => ++connections,
      close: () => undefined,
      seal: { attempt: () => Promise.resolve('sealed'), shut: () => void found.shut.push(turned.count()) },
      goOn: () => void found.goneOn.push(turned.count()),
      signal: UNBOUNDED.signal,
      closesBy: closesInMs,
    })
    return found
  }
  const { goneOn, shut } = await turnsUntil(5, 60_000)
  expect(goneOn[0]).toBeGreaterThanOrEqual(99)
  expect(shut[0]).toBeGreaterThanOrEqual(99)
  const { goneOn: soon } = await turnsUntil(10, 400)
  expect(soon[0]).toBeGreaterThanOrEqual(18)
  expect(soon[0]).toBeLessThanOrEqual(22)
})
