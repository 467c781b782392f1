// @ts-check
import { CLIENTS_OF } from './clients.mjs'
import { PROTOCOLS } from './protocols.mjs'

/**
 * One square of the ledger: everything that a round's outcome may depend on.
 * @typedef {object} Cell
 * @property {import('./protocols.mjs').Protocol} protocol
 * @property {number} delay milliseconds from SIGTERM to the first connection that may be closed
 * @property {'refuse' | 'retry-after'} mode what comes meanwhile
 * @property {number} link milliseconds each way
 * @property {import('./clients.mjs').ClientKind} client
 * @property {import('./works.mjs').Work} method what is asked for; the whole cross has GET and POST
 * @property {'quiet' | 'busy' | 'blocked'} load What else the server's event loop has to do. `busy`: blocked for 20 to 60 ms again and again.
 *   `blocked`: once, for 300 ms around the close of the listener, while every client connects anew: its accept queue is full then.
 */

/** Every value of every property. */
export const DIMENSIONS = {
  protocol: PROTOCOLS,
  delay: [0, 500, 5000],
  mode: /** @type {const} */ (['refuse', 'retry-after']),
  link: [1, 15, 50],
  client: [...new Set(PROTOCOLS.flatMap((protocol) => CLIENTS_OF[protocol]))],
  method: /** @type {const} */ (['GET', 'POST']),
  load: /** @type {const} */ (['quiet', 'busy', 'blocked']),
}

/** @typedef {{ [K in keyof Cell]: readonly Cell[K][] }} Choice */

/** Every combination of the chosen values in which the client speaks the protocol. @param {Partial<Choice>} choice @returns {Cell[]} */
export function cellsOf(choice) {
  const { protocol, delay, mode, link, client, method, load } = { ...DIMENSIONS, ...choice }
  const pairs = protocol.flatMap((protocol) =>
    client.flatMap((client) => (CLIENTS_OF[protocol].includes(client) ? [{ protocol, client }] : [])),
  )
  return load.flatMap((load) =>
    delay.flatMap((delay) =>
      mode.flatMap((mode) =>
        link.flatMap((link) => pairs.flatMap((pair) => method.map((method) => ({ ...pair, delay, mode, link, method, load })))),
      ),
    ),
  )
}

/** @param {Cell} cell */
export const nameOf = ({ protocol, delay, mode, link, client, method, load }) =>
  `${protocol}, ${delay} ms, ${mode}, ${link} ms link, ${client}, ${method}, ${load}`
