import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startServer } from '../support/process.ts'
import { RawClient } from '../support/raw-client.ts'

/** How often a kubelet of this test asks; how long the drain lasts is the server's business. */
const PROBE_MS = 50
const DELAY = '800ms'
/** Under load a probe may take several times as long as the pause between two. */
const PROBES_MIN = 3

test.each(['refuse', 'retry-after'] as const)(
  'a process that drains (%s) stays alive and is not ready, by fresh connections',
  async (whileDraining) => {
    const program = startServer({ options: { shutdownDelay: DELAY, whileDraining, deadline: '20s' } })
    const port = await program.serving()
    /** The status, or undefined once nobody answers new connections. */
    const probe = async (path: string): Promise<number | undefined> => {
      const client = await RawClient.open({ port }).catch(() => undefined)
      if (!client) return undefined
      const answer = await client.ask('GET', path).catch(() => undefined)
      client.abort()
      return answer?.status
    }
    expect([await probe('/livez'), await probe('/readyz')]).toEqual([200, 200])

    program.signal('SIGTERM')
    while ((await probe('/readyz')) === 200) await sleep(PROBE_MS)
    const seen: (number | undefined)[][] = []
    for (;;) {
      const pair = [await probe('/livez'), await probe('/readyz')]
      if (pair.includes(undefined)) break
      seen.push(pair)
      await sleep(PROBE_MS)
    }
    expect(seen.length).toBeGreaterThanOrEqual(PROBES_MIN)
    expect(seen).toEqual(seen.map(() => [200, 500]))
    expect((await program.ended()).code).toBe(0)
  },
)
