// @ts-check
// What several servers cost per request, measured in turns, so that each is compared with what ran
// in the same minute.
import { Child } from './child.mjs'

const CONNECTIONS = 16
export const ROUNDS = 16
/** Of one round. */
export const REQUESTS = 5000
/**
 * V8 compiles and recompiles parts of node during the first 30 000 requests. So servers are measured after a minute of the same load, in turns.
 * Without load in that minute some processes are slower by a tenth from then on, bare or not.
 */
const WARM_UP_MS = 60_000

/**
 * Of one server, by round.
 * @typedef {object} Rounds
 * @property {number[]} cpu microseconds of processor time per request
 * @property {number[]} perSecond requests per second
 */

/**
 * @param {readonly object[]} settings of the servers (server.mjs): one process each
 * @param {{ readonly protocol?: import('./load.mjs').Protocol | undefined, readonly token?: string }} asking how requests are sent
 * @param {{ readonly warmUpMs?: number, readonly rounds?: number }} [how]
 * @returns {Promise<readonly Rounds[]>}
 */
export async function measureInTurns(settings, asking, { warmUpMs = WARM_UP_MS, rounds = ROUNDS } = {}) {
  const load = new Child('load.mjs', {}, 1)
  const servers = settings.map((setting) => new Child('server.mjs', setting, 0))
  const ports = await Promise.all(servers.map(async (server) => (await server.ask({ what: 'port' })).port))
  const send = (/** @type {number} */ index) => load.ask({ ...asking, port: ports[index], connections: CONNECTIONS, requests: REQUESTS })
  const warmAt = performance.now() + warmUpMs
  while (performance.now() < warmAt) for (const index of servers.keys()) await send(index)
  const measured = settings.map(() => /** @type {Rounds} */ ({ cpu: [], perSecond: [] }))
  for (let round = 0; round < rounds; round++) {
    for (const [index, server] of shuffled([...servers.entries()])) {
      await server.ask({ what: 'begin' })
      const { seconds } = await send(index)
      const { cpuMicroseconds } = await server.ask({ what: 'end' })
      measured[index]?.cpu.push(cpuMicroseconds / REQUESTS)
      measured[index]?.perSecond.push(REQUESTS / seconds)
    }
  }
  for (const child of [...servers, load]) child.end()
  return measured
}

/** @template T @param {readonly T[]} items @returns {T[]} in another order each time */
export const shuffled = (items) =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
