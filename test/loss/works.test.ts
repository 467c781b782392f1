import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Cell } from './cells.mjs'
import { DEFAULTS, Replica, type ServerKind } from './replicas.mjs'
import { type Part, runRound } from './round.mjs'
import { WORKS, type Work } from './works.mjs'

/**
 * What lasts, in the loss ledger: an upload, an event stream that is resumed, the answer of a
 * model, a WebSocket. A server with every default loses none of it, but for messages of a WebSocket
 * that cross its close; and the ledger sees what a server loses that ends at once.
 */
const LASTING = WORKS.filter((work) => work !== 'GET' && work !== 'POST')

let second: Replica
beforeAll(async () => {
  second = await Replica.startSecond('HTTP/1.1')
})
afterAll(() => second.dispose())

async function play(server: ServerKind, works: readonly Work[] = LASTING): Promise<ReadonlyMap<Work, Part['ledger']>> {
  const cells = works.map(
    (method): Cell => ({ protocol: 'HTTP/1.1', delay: 0, mode: 'refuse', link: 15, client: 'raw', method, load: 'quiet' }),
  )
  const { parts } = await runRound({ cells: cells as [Cell, ...Cell[]], clients: 6, server, seed: 1, second, patienceMs: 10_000 })
  return new Map(parts.map(({ cell, ledger }) => [cell.method, ledger]))
}

// A soak draws them for all of these.
test.each(['attached Express', 'created Hono'] as const)('the application of %s has all that lasts', async (server) => {
  const ledgers = await play(server, ['upload', 'events', 'stream'])
  for (const [work, { answered, lost }] of ledgers) expect([work, answered > 0, lost.length]).toEqual([work, true, 0])
  // One that is known as an event stream is told to end, and waits for no deadline.
  expect(ledgers.get('events')?.broken).toBe(0)
})

test('a server with every default loses no upload, no event and no answer of a model', async () => {
  const ledgers = await play(DEFAULTS)
  expect([...ledgers.keys()]).toEqual(LASTING)
  for (const work of ['upload', 'events', 'stream'] as const) {
    const ledger = ledgers.get(work)
    expect(ledger?.lost).toEqual([])
    expect(ledger?.answered).toBeGreaterThan(0)
  }
  // Every WebSocket is closed as going away; none is broken off in the middle. A client that was
  // about to open another one then finds that nothing listens.
  const { told = 0, refused = 0, closedIdle } = ledgers.get('websocket') ?? {}
  expect({ left: told + refused, closedIdle }).toEqual({ left: 6, closedIdle: 0 })
})

test('the ledger sees uploads, answers and messages that are cut, and events that are resumed', async () => {
  const ledgers = await play('bare')
  expect(ledgers.get('stream')?.lost.length).toBe(6)
  expect(ledgers.get('upload')?.lost.length).toBeGreaterThan(0)
  expect(ledgers.get('events')).toMatchObject({ lost: [], told: 0 })
  expect(ledgers.get('events')?.broken).toBeGreaterThan(0)
  expect(ledgers.get('websocket')).toMatchObject({ told: 0, crossed: 0 })
})
