import { describe, expect, onTestFinished, test } from 'vitest'
import { seed } from '../support/seed.ts'
import { type Cell, nameOf } from './cells.mjs'
import type { Loss } from './crowd.mjs'
import { LIVES, Replica, type ServerKind } from './replicas.mjs'
import { type Round, runRound } from './round.mjs'

/**
 * Forty clients that never retry send through a termination, over a link with a delay; told clients go on at a second replica. Nothing that they
 * wrote may be lost, by their own ledger. `npm run test:loss` plays all of it, many times.
 */
const cell: Cell = { delay: 1500, mode: 'refuse', link: 15, client: 'raw', method: 'POST', load: 'quiet' }

async function play(server: ServerKind, over: Partial<Cell>, run = 0): Promise<Round> {
  const second = await Replica.start({ server: 'server.close()', seed, delay: 0, mode: 'refuse', busy: false })
  onTestFinished(() => second.dispose())
  const round = await runRound({ cell: { ...cell, ...over }, server, seed: seed + 100 * run, second })
  const { lost, ...counts } = round.ledger
  const list = Object.entries({ lost: lost.length, ...counts }).map(([name, count]) => `${count} ${name}`)
  console.log(`${server}, ${nameOf({ ...cell, ...over })}, seed ${seed}: ${list.join(', ')}`)
  return round
}

/** On a connection that the server had. */
const isServersOwn = ({ kind, neverAccepted }: Loss): boolean => kind !== 'refused untold' && !neverAccepted

describe.each(['refuse', 'retry-after'] as const)('a termination loses nothing: %s', (mode) => {
  test.each(LIVES.map((server, run) => [server, run] as const))('%s', async (server, run) => {
    const { ledger, exit, report } = await play(server, { mode }, run)
    expect(ledger.lost.filter(isServersOwn)).toEqual([])
    // The ledger closes: nothing was asked that is not accounted for.
    expect(ledger.answered + ledger.rejected + ledger.refused + ledger.lost.length).toBe(ledger.asked)
    expect(exit).toBe(0)
    expect(report).toMatchObject({ exitCode: 0, reason: { kind: 'os-signal' }, connections: { forced: 0 } })
  })
})

test('the ledger finds the losses of a server that closes without telling', async () => {
  const { ledger } = await play('server.close()', { delay: 0 })
  // A quarter of the clients or so has a request on the wire at any instant; that none of forty has is no chance.
  expect(ledger.lost.length).toBeGreaterThan(0)
  expect(ledger.answered + ledger.rejected + ledger.refused + ledger.lost.length).toBe(ledger.asked)
})
