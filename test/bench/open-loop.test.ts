// The load of the section "serving". Fails when: latency is counted from when a request was sent,
// so that a server that stalls is charged for the requests on its way only and not for those due.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'

const CONNECTIONS = 4
const RATE = 400
const STALL_MS = 400

let server: Server | undefined
afterEach(() => {
  server?.close()
  server = undefined
})

/** A server that answers nothing for a while from its first request on. */
async function stalling(): Promise<number> {
  let until = 0
  const made = createServer((_, response) => {
    until ||= performance.now() + STALL_MS
    const answer = () => void response.writeHead(200, { 'Content-Length': 6 }).end('hello\n')
    const left = until - performance.now()
    if (left > 0) setTimeout(answer, left)
    else answer()
  })
  server = made
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return (made.address() as AddressInfo).port
}

test('a stall is charged for all requests that were due in it, not only for those on their way', async () => {
  const port = await stalling()
  const load = fork('bench/open-loop.mjs')
  try {
    const ask = async (plan: object) => {
      const answered = once(load, 'message')
      load.send(plan)
      const [answer] = (await answered) as [{ latencies: number[] }]
      return answer
    }
    await ask({ what: 'open', port, isEncrypted: false, count: CONNECTIONS })
    const { latencies } = await ask({ what: 'send', kind: 'trivial', rate: RATE, count: RATE, seed: 1 })
    expect(latencies).toHaveLength(RATE)
    // So many were due while it stalled, half of them in its first half.
    const due = (RATE * STALL_MS) / 1000
    expect(latencies.filter((ms) => ms > STALL_MS / 2).length).toBeGreaterThan(due / 4)
    expect(latencies.filter((ms) => ms > STALL_MS / 2).length).toBeGreaterThan(5 * CONNECTIONS)
  } finally {
    load.kill()
  }
})
