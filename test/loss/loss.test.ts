import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generator } from '../support/random.mjs'
import { seed } from '../support/seed.ts'
import { type Cell, DIMENSIONS, nameOf } from './cells.mjs'
import { CLIENTS_OF } from './clients.mjs'
import { PROTOCOLS, type Protocol } from './protocols.mjs'
import { API_SERVER, LIVES, livesOf, RESOURCES, Replica, type ServerKind } from './replicas.mjs'
import { freshOf, type Part, type Round, runRound } from './round.mjs'

/**
 * Forty clients that never retry send through a termination, over a link with a delay; told clients
 * go on at a second replica. Nothing that they wrote may be lost, by their own ledger. A sample of
 * what `npm run test:loss` plays in full, many times: the seed decides gaps, requests, which
 * connections are told early, and here also what a sample leaves open; which of them meet is the
 * machine's business.
 *
 * There is an instant between the last look at the accept queue and the close of the listener, and
 * a busy machine can make it as long as it likes (docs/decisions/0018). So of a few rounds one has
 * to be without any connection that was reset in the queue, and none may lose half of the new ones;
 * without a last call nearly all of them are lost in every round. All else is lost in none.
 */
const random = generator(seed)
/**
 * The default last call has room for clients that are late three times by so much: with an answer,
 * with the end of their pause, with the next request. Where they are later, because the machine is,
 * a longer one is judged.
 */
const LATE_MS = 40
const LONGER_LAST_CALL = '2s'
const ROUNDS_MAX = 4
const anyOf = <T>(values: readonly T[]): T => values[Math.trunc(random() * values.length)] as T
const sample = (cell: Partial<Cell>): Cell => ({
  protocol: 'HTTP/1.1',
  delay: anyOf([0, 500]),
  mode: anyOf(DIMENSIONS.mode),
  link: anyOf(DIMENSIONS.link),
  client: anyOf(CLIENTS_OF[cell.protocol ?? 'HTTP/1.1']),
  method: anyOf(DIMENSIONS.method),
  load: anyOf(['quiet', 'busy']),
  ...cell,
})

const OTHERS = PROTOCOLS.filter((protocol) => protocol !== 'HTTP/1.1')

let seconds: ReadonlyMap<Protocol, Replica>
beforeAll(async () => {
  seconds = new Map(await Promise.all(PROTOCOLS.map(async (protocol) => [protocol, await Replica.startSecond(protocol)] as const)))
})
afterAll(async () => {
  await Promise.all([...seconds.values()].map((second) => second.dispose()))
})

async function play(server: ServerKind, cell: Cell, lastCall?: string): Promise<Omit<Round, 'parts'> & Pick<Part, 'ledger'>> {
  const second = seconds.get(cell.protocol) as Replica
  const { parts, ...round } = await runRound({
    cells: [cell],
    server,
    seed: Math.trunc(random() * 2 ** 31),
    second,
    lastCall,
    patienceMs: 1000,
  })
  const [{ ledger }] = parts
  const { lost, auditIds, ...counts } = ledger
  const list = Object.entries({ lost: lost.length, ...counts }).map(([name, count]) => `${count} ${name}`)
  console.log(`${server}, ${nameOf(cell)}, seed ${seed}: ${list.join(', ')}`)
  // The ledger closes: nothing was asked that is not accounted for.
  const { again, answered, asked, givenUp, refused, rejected } = counts
  expect(answered + rejected + refused + again + givenUp + lost.length).toBe(asked)
  // What a client was answered is in the audit log, once with its beginning and once with its end.
  expect(round.misaudited).toEqual([])
  if (server === API_SERVER || server === RESOURCES) expect(auditIds.length).toBeGreaterThan(0)
  return { ...round, ledger }
}

describe.each(LIVES)('a termination loses nothing: %s', (server) => {
  test.each([
    ['the defaults', { delay: 0, mode: 'refuse', link: 15, load: 'quiet' }],
    ['a full accept queue when the listener closes', { load: 'blocked' }],
    ['a delay, in either mode', { delay: 500 }],
  ] satisfies [string, Partial<Cell>][])('%s', (_, partial) => losesNothing(server, sample(partial)))
})

// Of HTTP/2 and TLS a sample each: what they share with HTTP/1.1 is above.
test.each(OTHERS)('a termination loses nothing: over %s', (protocol) => losesNothing(anyOf(livesOf(protocol)), sample({ protocol })))

test('a termination loses nothing: an API server with every filter on, and its audit log is complete', () =>
  losesNothing(API_SERVER, sample({ protocol: anyOf(PROTOCOLS) })))

test.each(DIMENSIONS.method)('a termination loses no %s of an object', (method) =>
  losesNothing(RESOURCES, sample({ protocol: anyOf(PROTOCOLS), method })),
)

async function losesNothing(server: ServerKind, cell: Cell): Promise<void> {
  let neverAccepted = Number.POSITIVE_INFINITY
  let lastCall: string | undefined
  for (let count = 1; neverAccepted > 0; count++) {
    const { ledger, exit, lagMs, report } = await play(server, cell, lastCall)
    const isLate = lagMs > LATE_MS && lastCall === undefined
    if (isLate) lastCall = LONGER_LAST_CALL
    else expect(ledger.lost.filter((loss) => !loss.neverAccepted)).toEqual([])
    expect(exit).toBe(0)
    expect(report).toMatchObject({ exitCode: 0, reason: { kind: 'os-signal' }, connections: { forced: 0 } })
    if (isLate) continue
    neverAccepted = ledger.lost.filter((loss) => loss.neverAccepted).length
    expect(neverAccepted).toBeLessThanOrEqual(freshOf(cell) / 2)
    if (count >= ROUNDS_MAX) expect(neverAccepted).toBe(0)
  }
}

test('the ledger finds the losses of a server that closes without telling', async () => {
  const { ledger } = await play('server.close()', sample({ delay: 0, link: 15, load: 'quiet' }))
  // A quarter of the clients or so has a request on the wire at any instant; that none of forty has
  // is no chance.
  expect(ledger.lost.length).toBeGreaterThan(0)
})

test.each(OTHERS)('the ledger finds the losses of a server that ends at once: over %s', async (protocol) => {
  const { ledger } = await play('bare', sample({ protocol, delay: 0, link: 15, load: 'quiet' }))
  expect(ledger.lost.length).toBeGreaterThan(0)
})

test('connections that are reset in the accept queue are losses, and known as never accepted', async () => {
  const { ledger } = await play('server.close()', sample({ delay: 0, link: 1, load: 'blocked' }))
  expect(ledger.lost.filter(({ neverAccepted }) => neverAccepted).length).toBeGreaterThan(0)
})
