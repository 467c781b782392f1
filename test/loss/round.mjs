// @ts-check
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { newClient, plainestOf } from './clients.mjs'
import { CALM_GAP_MS, Crowd } from './crowd.mjs'
import { RESOURCES, Replica } from './replicas.mjs'
import { Streams } from './streams.mjs'

/** Of a round of one cell. */
export const CLIENTS = 40
/**
 * How many of so many clients make a new connection for each request.
 * @param {import('./cells.mjs').Cell} cell @param {number} [clients]
 */
export const freshOf = ({ load }, clients = CLIENTS) => (load === 'blocked' ? clients : Math.ceil(clients / 4))
/** Traffic before SIGTERM, and after the first replica is gone. */
const AROUND_MS = 150
/**
 * In the middle of a long delay nothing happens but that some clients are told: this far from both
 * its ends the crowd is calm.
 */
const EDGE_MS = 1000
/**
 * How long the event loop is blocked around the close of the listener, and how long before that it
 * begins.
 */
const BLOCK_MS = 300
const BLOCK_AHEAD_MS = 150
/**
 * From the close to when the clients leave a server that goes on for as long as its connections are
 * used, as most peers do: longer than their grace.
 */
const PATIENCE_MS = 6000
/** From there to when it is ended by force. */
const LAST_PATIENCE_MS = 25_000
/** In so long every client has had an answer, and has finished what it began, or the machine is too busy for the round. */
const SERVED_MS = 40_000
const STOPPED_MS = 40_000

/**
 * What the clients of one cell know.
 * @typedef {object} Part
 * @property {import('./cells.mjs').Cell} cell
 * @property {number} clients
 * @property {import('./crowd.mjs').Ledger} ledger
 *
 * @typedef {object} Round
 * @property {readonly [Part, ...Part[]]} parts one for each cell
 * @property {number | string | undefined} exit the first replica's exit code, or the signal that ended it; undefined when it did not end
 * @property {number} exitMs from SIGTERM
 * @property {import('../../src/index.ts').Report | undefined} report
 * @property {readonly string[]} misaudited of a server with an audit log, the ids of answers that are not in it, or not once with all that belongs to one, and what it says itself of lost events
 * @property {readonly string[]} trace
 * @property {number} lagMs the longest that the clients' own event loop was late, from a second before connections may close
 */

/**
 * Sends clients through one termination. They go on at a second replica, which only has to be there.
 * @param {object} options
 * @param {readonly [import('./cells.mjs').Cell, ...import('./cells.mjs').Cell[]]} options.cells which may differ in link, client and method alone
 * @param {number} [options.clients] for each of them
 * @param {import('./replicas.mjs').ServerKind} options.server
 * @param {number} options.seed
 * @param {Replica} options.second
 * @param {string | undefined} [options.lastCall] another one than the default
 * @param {number} [options.graceMs] how long servers that are not quiesce's wait for what is in flight
 * @param {number} [options.patienceMs]
 * @param {() => void} [options.serving] called when every client has had an answer
 * @returns {Promise<Round>}
 */
export async function runRound({ cells, clients = CLIENTS, server, seed, second, lastCall, graceMs, patienceMs = PATIENCE_MS, serving }) {
  const [{ delay, load, mode, protocol }] = cells
  const first = await Replica.start({ server, protocol, seed, delay, mode, busy: load === 'busy', lastCall, ...(graceMs && { graceMs }) })
  try {
    const crowds = cells.map((cell, index) => {
      const fresh = freshOf(cell, clients)
      return crowdOf(cell, {
        forObjects: server === RESOURCES,
        fresh,
        kept: clients - fresh,
        seed: seed + index * 10_000,
        ports: [first.port, second.port],
      })
    })
    const isServed = await within(SERVED_MS, Promise.all(crowds.map((crowd) => crowd.allServed)))
    serving?.()
    const lag = monitorEventLoopDelay({ resolution: 5 })
    await pause(AROUND_MS)

    if (load === 'blocked' && delay === 0) {
      block(first, protocol)
      await first.blocked
      await pause(BLOCK_AHEAD_MS)
    }
    const signalledAt = performance.now()
    const end = first.ended.then(() => performance.now())
    first.kill('SIGTERM')
    setTimeout(() => lag.enable(), Math.max(0, delay - EDGE_MS))
    if (delay > 2 * EDGE_MS + CALM_GAP_MS) {
      const calm = (/** @type {boolean} */ isCalm) => {
        for (const crowd of crowds) crowd.isCalm = isCalm
      }
      setTimeout(() => calm(true), EDGE_MS)
      setTimeout(() => calm(false), delay - EDGE_MS - CALM_GAP_MS)
    }
    if (load === 'blocked' && delay > 0) setTimeout(() => block(first, protocol), delay - BLOCK_AHEAD_MS)

    await Promise.race([end, pause(delay + patienceMs)])
    await pause(AROUND_MS + 2 * Math.max(...cells.map(({ link }) => link)))
    lag.disable()
    const stopping = Promise.all(crowds.map((crowd) => crowd.stop()))
    const hasStopped = await within(STOPPED_MS, stopping)
    await Promise.race([end, pause(LAST_PATIENCE_MS)])
    const { exit } = first
    if (exit === undefined) first.kill('SIGKILL')
    const parts = crowds.map((crowd, index) => ({
      cell: /** @type {import('./cells.mjs').Cell} */ (cells[index]),
      clients,
      ledger: crowd.settle(first.accepted),
    }))
    const auditIds = parts.flatMap(({ ledger }) => ledger.auditIds)
    const report = await first.report()
    return {
      parts: /** @type {[Part, ...Part[]]} */ (/** @type {unknown} */ (parts)),
      exit,
      exitMs: Math.round((await end) - signalledAt),
      report,
      misaudited: auditIds.length === 0 ? [] : misauditedIn(auditIds, await first.audited(), report),
      trace: first.trace,
      // Of clients that are not over the machine has not been fair to all.
      lagMs: isServed && hasStopped ? Math.round(lag.max / 1e6) : Number.MAX_SAFE_INTEGER,
    }
  } finally {
    await first.dispose()
  }
}

/**
 * The clients of a cell.
 * @param {import('./cells.mjs').Cell} cell @param {Pick<import('./crowd.mjs').CrowdOptions, 'forObjects' | 'fresh' | 'kept' | 'seed' | 'ports'>} options
 */
export function crowdOf({ protocol, client, method, link, mode }, options) {
  const common = { ...options, protocol, linkMs: link }
  return method === 'events' || method === 'stream' || method === 'websocket'
    ? new Streams({ ...common, method })
    : new Crowd({ ...common, client, method, mayReject: mode === 'retry-after' })
}

/**
 * What the clients know against what was written down.
 * @param {readonly string[]} answered @param {readonly import('../../packages/apiserver/src/index.ts').AuditEvent[]} events @param {Round['report']} report
 */
function misauditedIn(answered, events, report) {
  /** @type {Map<string, string[]>} */
  const stages = new Map()
  for (const { auditID, stage, responseStatus } of events)
    stages.set(auditID, [...(stages.get(auditID) ?? []), `${stage} ${responseStatus?.code ?? ''}`])
  const wrong = answered.filter((id) => !/^RequestReceived ,ResponseComplete 20[01]$/.test(stages.get(id)?.join() ?? ''))
  const { delivered, lost } = report?.audit ?? {}
  return [
    ...wrong.map((id) => `${id}: ${stages.get(id)?.join() ?? 'nothing'}`),
    ...(new Set(answered).size === answered.length ? [] : ['an id was given twice']),
    ...(lost === 0 && delivered === events.length
      ? []
      : [`the report says ${delivered} stored and ${lost} lost; the log has ${events.length}`]),
  ]
}

/** Asks a replica to block its event loop; what becomes of that request is not of interest. @param {Replica} replica @param {import('./protocols.mjs').Protocol} protocol */
function block({ port }, protocol) {
  const client = newClient(plainestOf(protocol), { protocol, port, linkMs: 0, isFresh: true })
  client.ask({ method: 'GET', path: `/block?ms=${BLOCK_MS}`, body: '' }).catch(() => {})
}

/** @param {number} ms @param {Promise<unknown>} what @returns {Promise<boolean>} whether it was over by then */
function within(ms, what) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const late = new Promise((/** @type {(isOver: false) => void} */ resolve) => (timer = setTimeout(() => resolve(false), ms)))
  return Promise.race([what.then(() => true), late]).finally(() => clearTimeout(timer))
}

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))
