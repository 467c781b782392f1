import { expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type Gauges, inFlightOf } from '#src/report/gauges.ts'
import { Latch } from '../sockets/rig.ts'
import { newLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'

/** Names without their ages, which depend on the machine. */
const names = ({ blocking }: Gauges): Record<string, string[]> =>
  Object.fromEntries(Object.entries(blocking).map(([kind, stragglers]) => [kind, stragglers.map(({ name }) => name)]))

test('what goes on is counted and named: oldest first, each connection once, hooks while they run', async () => {
  const work = new Latch()
  const hook = new Latch()
  const made = newLife({
    clock: new VirtualClock(),
    // Keeps its response open until the work is over, and its handler running after a client has
    // left.
    listener: async (request, response) => {
      if (request.url === '/quick') return void response.end('hello')
      response.write('part')
      await work.promise
      response.end()
    },
    options: { lastCall: 0, longRunning: ({ url }) => url === '/watch' },
  })
  const { life } = made
  life.addPreShutdownHook('leave', () => hook.promise)
  await life.start()
  const open = async (path: string): Promise<RawClient> => {
    const client = await RawClient.open({ port: made.port })
    client.request('GET', path)
    await client.until('an answer', () => client.received !== '')
    return client
  }
  const quick = await open('/quick')
  const clients = [quick, await open('/first?token=secret'), await open('/watch')]
  const leaver = await open('/left')
  leaver.abort()
  const hold = life.hold('job 7')
  await expect.poll(() => life.status.gauges().handlers).toBe(1)
  clients.push(await open('/second'))

  expect(life.status.gauges()).toMatchObject({ requests: 2, watches: 1, holds: 1, connections: { active: 3, idle: 1, notified: 0 } })
  expect(names(life.status.gauges())).toEqual({
    requests: ['GET /first', 'GET /second'],
    watches: ['GET /watch'],
    holds: ['job 7'],
    handlers: ['GET /left'],
    connections: [],
    hooks: [],
  })

  const report = life.stop('the test asks')
  await made.clock.advance(0)
  await expect.poll(() => names(life.status.gauges())['hooks']).toEqual(['pre-shutdown hook "leave"'])
  // Nobody is told by a response that has begun already; an idle connection holds up nobody yet.
  expect(life.status.gauges().connections).toMatchObject({ active: 3, idle: 1, notified: 0 })
  // A connection with half of its first request is given a second, and nothing here lets time pass.
  const half = await RawClient.open({ port: made.port })
  half.send('GET /half')
  clients.push(half)
  await expect.poll(() => life.status.gauges().connections.idle).toBe(2)
  hook.resolve()
  await made.clock.advance(0)
  await expect
    .poll(() => names(life.status.gauges()))
    .toMatchObject({ hooks: [], connections: [expect.stringMatching(/^127\.0\.0\.1:\d+ half-sent request$/)] })

  work.resolve()
  hold[Symbol.dispose]()
  for (const client of clients) client.abort()
  await made.end(report)
  expect(life.status.gauges()).toMatchObject({
    requests: 0,
    watches: 0,
    holds: 0,
    handlers: 0,
    connections: { active: 0, idle: 0, notified: 0 },
  })
  expect(Object.values(names(life.status.gauges())).flat()).toEqual([])
})

test('of many, the oldest are named and all are counted', async () => {
  const made = newLife()
  await made.life.start()
  const holds = Array.from({ length: 60 }, (_, index) => made.life.hold(`job ${index}`))
  const { holds: count, blocking } = made.life.status.gauges()
  expect(count).toBe(60)
  expect(blocking.holds.map(({ name }) => name)).toEqual(Array.from({ length: 50 }, (_, index) => `job ${index}`))
  for (const hold of holds) hold[Symbol.dispose]()
})

test('what an end may wait for is one number, in which all of it is', () => {
  const connections = { active: 16, idle: 32, notified: 64 }
  expect(inFlightOf({ requests: 1, watches: 2, holds: 4, handlers: 8, connections, rejected: { late: 128 } })).toBe(127)
})
