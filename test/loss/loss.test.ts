import { describe, expect, onTestFinished, test } from 'vitest'
import { seed } from '../support/seed.ts'
import { Crowd, type Ledger } from './ledger.ts'
import { Replica, type ReplicaOptions, type ServerKind } from './replica.ts'

/**
 * Forty keep-alive clients that never retry send through a termination, over a link with a delay; told clients go on at a
 * second replica. Nothing that they wrote may be lost, by their own ledger.
 *
 * `npm run test:loss` for many runs; LOSS_RUNS says how many here. The seed decides gaps, requests, and which connections
 * are told early; which of them meet is the machine's business.
 */
const RUNS = Number(process.env['LOSS_RUNS'] ?? 3)
const CLIENTS = 40
const GAP_MS = 60
const LINK_MS = 15
const DELAY_MS = 1500
/** Traffic before SIGTERM, and after the first replica is gone. */
const AROUND_MS = 250
const SERVERS: readonly ServerKind[] = ['attached to node:http', 'created for Hono', 'attached to Express']

async function runThroughTermination(options: ReplicaOptions) {
  const start = async (): Promise<Replica> => {
    const replica = await Replica.start(options)
    onTestFinished(() => replica.dispose())
    return replica
  }
  const [first, second] = await Promise.all([start(), start()])
  const crowd = new Crowd({ clients: CLIENTS, gapMs: GAP_MS, linkMs: LINK_MS, seed: options.seed, targets: [first, second] })
  await crowd.allServed
  await pause(AROUND_MS)
  const exited = first.terminate()
  // A bare server goes on serving the connections that were in use when it closed, for as long as they are.
  await Promise.race([exited, pause(2 * DELAY_MS)])
  await pause(AROUND_MS)
  await crowd.stop()
  const exitCode = await exited
  return { ledger: crowd.settle(), exitCode, first }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function print(title: string, { lost, wrong: _, ...counts }: Ledger): void {
  const list = Object.entries({ lost: lost.length, ...counts }).map(([name, count]) => `${count} ${name}`)
  console.log(`${title}, seed ${seed}: ${list.join(', ')}`)
}

describe.each(['refuse', 'retry-after'] as const)('a termination loses nothing: %s', (whileDraining) => {
  test.each(Array.from({ length: RUNS }, (_, run) => [run + 1, SERVERS[run % SERVERS.length] as ServerKind] as const))(
    'run %i, %s',
    async (run, server) => {
      const { ledger, exitCode, first } = await runThroughTermination({
        server,
        seed: seed + run * CLIENTS,
        delayMs: DELAY_MS,
        whileDraining,
      })
      print(`${whileDraining}, run ${run}, ${server}`, ledger)
      expect(ledger.lost).toEqual([])
      expect(ledger.wrong).toEqual([])
      // The ledger closes: nothing was sent that is not accounted for, and everybody was told to move.
      expect(ledger.answered + ledger.rejected + ledger.neverAccepted).toBe(ledger.sent)
      expect(ledger.told + ledger.closedIdle).toBe(CLIENTS)
      expect(exitCode).toBe(0)
      expect(await first.report()).toMatchObject({ exitCode: 0, reason: { kind: 'os-signal' }, connections: { forced: 0 } })
    },
  )
})

test('the ledger finds the losses of a server that closes without telling', async () => {
  const { ledger } = await runThroughTermination({ server: 'bare', seed, delayMs: DELAY_MS, whileDraining: 'refuse' })
  print('bare node:http', ledger)
  // A quarter of the clients or so has a request on the wire at any instant; that none of forty has is no chance.
  expect(ledger.lost.length).toBeGreaterThan(0)
  expect(ledger.answered + ledger.rejected + ledger.neverAccepted + ledger.lost.length).toBe(ledger.sent)
})
