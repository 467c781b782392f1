// @ts-check

/**
 * One square of the ledger: everything that a round's outcome may depend on.
 * @typedef {object} Cell
 * @property {number} delay milliseconds from SIGTERM to the first connection that may be closed
 * @property {'refuse' | 'retry-after'} mode what comes meanwhile
 * @property {number} link milliseconds each way
 * @property {import('./clients.mjs').ClientKind} client
 * @property {'GET' | 'POST'} method
 * @property {'quiet' | 'busy' | 'blocked'} load What else the server's event loop has to do. `busy`: blocked for 20 to 60 ms again and again.
 *   `blocked`: once, for 300 ms around the close of the listener, while every client connects anew: its accept queue is full then.
 */

/** Every value of every property. */
export const DIMENSIONS = {
  delay: [0, 500, 5000],
  mode: /** @type {const} */ (['refuse', 'retry-after']),
  link: [1, 15, 50],
  client: /** @type {const} */ (['raw', 'http.Agent', 'undici']),
  method: /** @type {const} */ (['GET', 'POST']),
  load: /** @type {const} */ (['quiet', 'busy', 'blocked']),
}

/** @typedef {{ [K in keyof Cell]: readonly Cell[K][] }} Choice */

/** Every combination of the chosen values. @param {Partial<Choice>} choice @returns {Cell[]} */
export function cellsOf(choice) {
  const { delay, mode, link, client, method, load } = { ...DIMENSIONS, ...choice }
  return load.flatMap((load) =>
    delay.flatMap((delay) =>
      mode.flatMap((mode) =>
        link.flatMap((link) => client.flatMap((client) => method.map((method) => ({ delay, mode, link, client, method, load })))),
      ),
    ),
  )
}

/** @param {Cell} cell */
export const nameOf = ({ delay, mode, link, client, method, load }) =>
  `${delay} ms, ${mode}, ${link} ms link, ${client}, ${method}, ${load}`
