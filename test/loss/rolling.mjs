// @ts-check

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/free-port.mjs'
import { haproxy } from './proxies.mjs'
import { Replica } from './replicas.mjs'
import { crowdOf, freshOf } from './round.mjs'

const REPLICAS = 3
/** Traffic before the first and after the last is replaced. */
const AROUND_MS = 300

/**
 * Three replicas behind a real HAProxy are replaced one after the other. Clients know the proxy
 * alone, never retry, and come back to it when their connection has ended.
 * @param {object} options
 * @param {readonly [import('./cells.mjs').Cell, ...import('./cells.mjs').Cell[]]} options.cells over HTTP/1.1
 * @param {number} options.clients for each of them
 * @param {import('./replicas.mjs').ServerKind} options.server
 * @param {number} options.seed
 * @param {number} options.graceMs
 */
export async function roll({ cells, clients, server, seed, graceMs }) {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-rolling-'))
  const [port, http2Port, ...ports] = /** @type {[number, number, ...number[]]} */ (
    await Promise.all(Array.from({ length: REPLICAS + 2 }, freePort))
  )
  const [{ delay, mode, protocol }] = cells
  const start = (/** @type {number} */ at) => Replica.start({ server, protocol, seed, delay, mode, busy: false, graceMs, port: at })
  /** @type {Replica[]} */
  const replicas = []
  /** @type {import('./proxies.mjs').Proxy | undefined} */
  let proxy
  try {
    for (const at of ports) replicas.push(await start(at))
    proxy = await haproxy({ folder, port, http2Port, replicas: ports })
    for (const at of ports.keys()) await proxy.putBack(at)
    const crowds = cells.map((cell, index) => {
      const fresh = freshOf(cell, clients)
      return crowdOf(cell, { forObjects: false, fresh, kept: clients - fresh, seed: seed + index * 10_000, ports: [port, port] })
    })
    await Promise.all(crowds.map(({ allServed }) => allServed))
    const lag = monitorEventLoopDelay({ resolution: 5 })
    lag.enable()
    await sleep(AROUND_MS)
    /** @type {(number | string)[]} */
    const exits = []
    for (const [at, replicaPort] of ports.entries()) {
      const leaving = /** @type {Replica} */ (replicas[at])
      leaving.kill('SIGTERM')
      // What would go on for as long as it is used, a platform ends.
      const forced = setTimeout(() => leaving.kill('SIGKILL'), delay + graceMs + 2000)
      await leaving.ended
      clearTimeout(forced)
      exits.push(leaving.exit ?? 'killed')
      await leaving.dispose()
      replicas[at] = await start(replicaPort)
      await proxy.putBack(at)
    }
    await sleep(AROUND_MS)
    lag.disable()
    await Promise.all(crowds.map((crowd) => crowd.stop()))
    const parts = crowds.map((crowd, index) => ({
      cell: /** @type {import('./cells.mjs').Cell} */ (cells[index]),
      clients,
      ledger: crowd.settle(undefined),
    }))
    return { parts, exits, lagMs: Math.round(lag.max / 1e6), proxy: proxy.name }
  } finally {
    await proxy?.end()
    await Promise.all(replicas.map((replica) => replica.dispose()))
    await rm(folder, { recursive: true })
  }
}
