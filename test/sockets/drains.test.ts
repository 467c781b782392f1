import { describe, expect, test } from 'vitest'
import { Drains } from '#src/actors/reported-drains.ts'
import { Latch, type Rig, rig } from './rig.ts'

/** A life's traffic whose requests wait for `latch`, with its drains. */
async function draining(): Promise<Rig & { readonly drains: Drains; readonly latch: Latch; readonly drained: () => readonly object[] }> {
  const latch = new Latch()
  const made = await rig(async (request, response) => {
    response.write('head ')
    await latch.promise
    response.end(request.url)
  })
  const facts: { readonly type: string }[] = []
  const drains = new Drains({ traffic: made.traffic, record: (fact) => facts.push(fact) })
  return { ...made, drains, latch, drained: () => facts.filter(({ type }) => type === 'drained') }
}

async function asks(made: Rig, ...paths: readonly string[]): Promise<void> {
  const client = await made.connect()
  for (const path of paths) client.request('GET', path)
  await client.until('the head of the first', () => client.received.includes('head'))
}

describe.each(['name', 'force'] as const)('what is left when nothing is waited for any more (%s)', (how) => {
  test('is nothing: no drain is said to have ended', async () => {
    const { drains, drained } = await draining()
    drains[how]()
    expect(drained()).toEqual([])
  })

  test('is a request: it is named, and no watch is', async () => {
    const made = await draining()
    await asks(made, '/slow')
    made.drains[how]()
    expect(made.drained()).toMatchObject([{ what: 'requests', before: 1, after: 1, cut: [{ name: 'GET /slow' }] }])
  })

  test('is a watch: it is named, and no request is', async () => {
    const made = await draining()
    await asks(made, '/watch')
    made.drains[how]()
    expect(made.drained()).toMatchObject([{ what: 'watches', before: 1, after: 1, cut: [{ name: 'GET /watch' }] }])
  })

  test('is named once', async () => {
    const made = await draining()
    await asks(made, '/slow')
    await asks(made, '/watch')
    made.drains[how]()
    made.drains.name()
    made.drains.cutRequests()
    expect(made.drained()).toHaveLength(2)
  })
})

test('a drain of watches that was cut is said with those there were at its beginning, and the time they had', async () => {
  const made = await draining()
  await asks(made, '/watch')
  const client = await made.connect()
  client.request('GET', '/watch/too')
  await expect.poll(() => made.traffic.counts().watches).toBe(2)
  void made.drains.watches(5_000)
  client.abort()
  await expect.poll(() => made.traffic.counts().watches).toBe(1)
  made.drains.terminateWatches()
  expect(made.drained()).toMatchObject([{ what: 'watches', before: 2, after: 1, graceMs: 5_000, cut: [{ name: 'GET /watch' }] }])
})

test('a request that goes with the watch in front of it is named with those that are left', async () => {
  const made = await draining()
  await asks(made, '/watch', '/behind')
  await expect.poll(() => made.traffic.counts().requests).toBe(1)
  expect(made.drains.terminateWatches()).toEqual({ lost: 2 })
  made.drains.name()
  expect(made.drained()).toMatchObject([
    { what: 'watches', after: 1, cut: [{ name: 'GET /watch' }] },
    { what: 'requests', before: 1, after: 1, cut: [{ name: 'GET /behind' }] },
  ])
})
