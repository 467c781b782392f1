// @ts-check

/** Which connections to the first replica stood, by the client's port: the same one comes again in a long run. */
export class Connections {
  /** @type {Map<number, number>} */
  #connected = new Map()
  /** Which links are among these. @type {WeakSet<import('./link.mjs').Link>} */
  #noted = new WeakSet()

  /** @param {import('./link.mjs').Link} link to the first replica */
  note(link) {
    if (!link.isConnected || this.#noted.has(link)) return
    this.#noted.add(link)
    this.#connected.set(link.localPort, (this.#connected.get(link.localPort) ?? 0) + 1)
  }

  /**
   * Says of each loss whether the server never had its connection.
   * @param {readonly import('./crowd.mjs').Loss[]} lost @param {readonly number[] | undefined} accepted the clients' ports; undefined when the server does not say
   */
  mark(lost, accepted) {
    if (accepted === undefined) return
    const missing = new Map(this.#connected)
    for (const port of accepted) missing.set(port, (missing.get(port) ?? 0) - 1)
    for (const loss of lost) {
      const count = missing.get(loss.port) ?? 0
      loss.neverAccepted = !loss.isFromSecond && count > 0
      if (loss.neverAccepted) missing.set(loss.port, count - 1)
    }
  }
}
