// @ts-check
import { DIMENSIONS } from '../../test/loss/cells.mjs'
import { CLIENTS_OF, plainestOf } from '../../test/loss/clients.mjs'
import { isHttp2, PROTOCOLS } from '../../test/loss/protocols.mjs'
import { API_SERVER, DEFAULTS, livesOf, RESOURCES } from '../../test/loss/replicas.mjs'

/**
 * @typedef {import('../../test/loss/cells.mjs').Cell} Cell
 * @typedef {import('../loss/rounds.mjs').Task} Task
 */

/** Of each kind of client. */
const CLIENTS = 10
const DELAYS = [0, 500, 1500]
/** What ends by itself takes longer than a short request; its clients wait for it. */
const PATIENCE_MS = 9000

/**
 * One end by chance: of any server of ours, under any load, with clients of several kinds that share
 * it. A library that is known to give up what it is answered over HTTP/2 is not among them.
 * @param {() => number} random
 * @returns {Task}
 */
export function anyEnd(random) {
  /** @template T @param {readonly [T, ...T[]] | readonly T[]} from @returns {T} */
  const one = (from) => /** @type {T} */ (from[Math.trunc(random() * from.length)])
  const protocol = one(PROTOCOLS)
  const server = one([...livesOf(protocol), DEFAULTS, API_SERVER, RESOURCES])
  const mode = server === DEFAULTS ? 'refuse' : one(DIMENSIONS.mode)
  /** @type {Cell['method'][]} */
  const lasting = ['events', ...(isHttp2(protocol) ? [] : /** @type {const} */ (['websocket']))]
  // In a container the default deadline is 8 s. Over a slow link to a busy server these take longer,
  // and what the deadline cuts is no fault.
  if (server !== DEFAULTS) lasting.push('upload', 'stream')
  const isPlain = mode === 'retry-after' || server === API_SERVER || server === RESOURCES
  const methods = /** @type {Cell['method'][]} */ (isPlain ? ['GET', 'POST'] : ['GET', 'POST', one(lasting)])
  const load = one(DIMENSIONS.load)
  const delay = one(DELAYS)
  return {
    cells: /** @type {[Cell, ...Cell[]]} */ (
      methods.map((method) => ({
        protocol,
        delay,
        mode,
        load,
        method,
        link: one(DIMENSIONS.link),
        client: isHttp2(protocol) ? plainestOf(protocol) : one(CLIENTS_OF[protocol]),
      }))
    ),
    clients: CLIENTS,
    server,
    seed: Math.trunc(random() * 2 ** 31),
    patienceMs: PATIENCE_MS,
  }
}
