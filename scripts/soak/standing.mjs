// @ts-check
import { plainestOf } from '../../test/loss/clients.mjs'
import { API_SERVER, DEFAULTS, Replica } from '../../test/loss/replicas.mjs'
import { crowdOf } from '../../test/loss/round.mjs'

/**
 * @typedef {import('../../test/loss/cells.mjs').Cell} Cell
 * @typedef {import('../../test/loss/replicas.mjs').Weight} Weight
 */

const FRESH = 2
const KEPT = 6
/** What a heap may hold more in the end than when it was first warm. */
const GROWTH = { ratio: 1.1, bytes: 2_000_000 }
/** The part of the waves after which a heap is warm: code is compiled, caches have their size. */
const WARM = 1 / 3

/** A server that stays for the whole time, and is weighed whenever all clients have left it. */
export class Standing {
  /** @type {Weight[]} */
  weights = []
  /** @type {string[]} */
  lost = []
  answered = 0
  #replica

  /** @param {import('../../test/loss/replicas.mjs').ServerKind} server @param {Cell['protocol']} protocol @param {readonly Cell['method'][]} methods */
  static async start(server, protocol, methods) {
    const replica = await Replica.start({ server, protocol, seed: 1, delay: 0, mode: 'refuse', busy: false })
    return new Standing(`${server}, ${protocol}`, replica, protocol, methods)
  }

  /** @param {string} name @param {Replica} replica @param {Cell['protocol']} protocol @param {readonly Cell['method'][]} methods */
  constructor(name, replica, protocol, methods) {
    this.name = name
    this.#replica = replica
    this.protocol = protocol
    this.methods = methods
  }

  /** Clients come, stay for a while, and leave. @param {number} ms @param {number} seed */
  async wave(ms, seed) {
    const { port } = this.#replica
    const crowds = this.methods.map((method, index) =>
      crowdOf(
        { protocol: this.protocol, delay: 0, mode: 'refuse', load: 'quiet', link: 1, client: plainestOf(this.protocol), method },
        { forObjects: false, fresh: FRESH, kept: KEPT, seed: seed + index * 1000, ports: [port, port] },
      ),
    )
    await new Promise((resolve) => setTimeout(resolve, ms))
    await Promise.all(crowds.map((crowd) => crowd.stop()))
    for (const { ledger } of crowds) {
      this.answered += ledger.answered
      this.lost.push(...ledger.lost.map(({ request, kind, why }) => `${request}: ${kind}, ${why}`))
    }
    this.weights.push(await this.#replica.weigh())
  }

  /** What it held when it was warm, and what it held last; both undefined before the first wave is over. */
  get #compared() {
    return { warm: this.weights[Math.floor(this.weights.length * WARM)], last: this.weights.at(-1) }
  }

  /** What it holds that it should not. @returns {string[]} */
  leaks() {
    const { warm, last } = this.#compared
    if (!warm || !last) return []
    const allowed = Math.max(warm.heapBytes * GROWTH.ratio, warm.heapBytes + GROWTH.bytes)
    return [
      ...(last.heapBytes > allowed ? [`${megabytes(last.heapBytes)} MB of heap, ${megabytes(warm.heapBytes)} when it was warm`] : []),
      ...Object.entries(last.resources)
        .filter(([what, count]) => count > (warm.resources[what] ?? 0))
        .map(([what, count]) => `${count} of ${what}, ${warm.resources[what] ?? 0} when it was warm`),
    ]
  }

  /** Ends it as any other. @returns {Promise<number | string | undefined>} its exit code */
  async end() {
    this.#replica.kill('SIGTERM')
    await this.#replica.ended
    const { exit } = this.#replica
    await this.#replica.dispose()
    return exit
  }

  get line() {
    const { warm, last } = this.#compared
    return `${this.name}, which stayed: it answered ${this.answered} requests of ${this.weights.length} waves of clients, which lost ${this.lost.length}; its heap was ${megabytes(warm?.heapBytes)} MB when it was warm, and ${megabytes(last?.heapBytes)} MB in the end, its resident memory ${megabytes(warm?.residentBytes)} and ${megabytes(last?.residentBytes)} MB`
  }
}

const megabytes = (/** @type {number | undefined} */ bytes) => ((bytes ?? 0) / 1e6).toFixed(1)

/** The protocols and works that servers stay for. @type {readonly (readonly [import('../../test/loss/replicas.mjs').ServerKind, Cell['protocol'], readonly Cell['method'][]])[]} */
export const STANDING = [
  [DEFAULTS, 'HTTP/1.1', ['GET', 'POST', 'stream', 'websocket']],
  ['created Hono', 'h2', ['GET', 'POST', 'stream']],
  [API_SERVER, 'HTTPS', ['GET', 'POST']],
]
