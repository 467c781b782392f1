// @ts-check
import { connect } from 'node:net'
import { parseResponse } from '../support/http1.mjs'
import { generator } from '../support/random.mjs'
import { ATTACKS, diceOf, requestText } from './attacks.mjs'

/** Attacks that are under way at a time. */
const LANES = 12
/** Where no answer may be the right one: so long without a byte, and the client ends its side. */
const QUIET_MS = 150
/** Whatever is asked, it is answered or closed by then: a second of the server's own, and a busy machine. */
const HANG_MS = 15_000

/**
 * @typedef {{ kind: string, number: number, wrong: string, sent: string, received: string }} Failure
 * @typedef {import('./attacks.mjs').Attack} Attack
 */

/**
 * Attacks a server until the time is over, many at a time. Each attack is made by the seed and its number alone.
 * @param {object} options
 * @param {{ h1: number, h2: number }} options.ports
 * @param {number} options.seed
 * @param {number} options.ms
 * @param {number} [options.only] the number of one attack, to be seen again
 * @param {(failure: Failure) => void} options.failed
 * @returns {Promise<ReadonlyMap<string, number>>} how many there were of each kind
 */
export async function attackFor({ ports, seed, ms, only, failed }) {
  const until = performance.now() + ms
  const kinds = Object.keys(ATTACKS)
  /** @type {Map<string, number>} */
  const counts = new Map()
  let next = 0
  const lane = async () => {
    while (only === undefined ? performance.now() < until : next === 0) {
      const number = only ?? next
      next++
      // Each kind has its turn, so that a short run has all of them.
      const kind = /** @type {string} */ (kinds[number % kinds.length])
      const dice = diceOf(generator(seed + number * 7919))
      const secrets = [`secret-${hex(dice)}`, `secret-${hex(dice)}`]
      const attack = /** @type {(typeof ATTACKS)[string]} */ (ATTACKS[kind])(dice, /** @type {string} */ (secrets[0]))
      if (attack.leaks && NODE_MAJOR < 22) continue
      const sent = Buffer.concat(attack.chunks.map((chunk) => Buffer.from(/** @type {string} */ (chunk), 'latin1'))).toString('latin1')
      // Noise may make another one of its own.
      const own = [...secrets, ...(sent.match(SECRET) ?? [])]
      const { wrong, received } = await play(attack, ports[attack.on], own)
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      if (wrong !== undefined) {
        failed({ kind, number, wrong, sent: JSON.stringify(sent.slice(0, 600)), received: JSON.stringify(received.slice(0, 600)) })
      }
    }
  }
  await Promise.all(Array.from({ length: only === undefined ? LANES : 1 }, lane))
  return counts
}

const NODE_MAJOR = Number(process.versions.node.split('.')[0])
/** Node 20 does not always close a connection that it has told of an error (docs/http2.md). */
const LEAVES_ERRORS_OPEN = NODE_MAJOR < 22
const SECRET = /secret-[\da-f]{16}/g
/** @param {import('./attacks.mjs').Dice} dice */
const hex = (dice) => Array.from({ length: 16 }, () => dice.below(16).toString(16)).join('')

/**
 * Plays one attack on a connection of its own, and says what was wrong with what came back.
 * @param {Attack} attack @param {number} port
 * @param {readonly string[]} secrets that it may be told; the second is that of the request behind it
 * @returns {Promise<{ wrong: string | undefined, received: string }>}
 */
async function play({ chunks, allowed, method = 'GET', isOver, leaves, stalls, body, on }, port, secrets) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const client = new Client(socket)
  /** @param {string | undefined} wrong */
  const result = (wrong) => {
    socket.destroy()
    const received = client.bytes.toString('latin1')
    const foreign = received.match(SECRET)?.find((secret) => !secrets.includes(secret))
    return { wrong: foreign === undefined ? wrong : `it was told another's secret: ${foreign}`, received }
  }
  try {
    for (const chunk of chunks) {
      if (client.hasEnded) break
      socket.write(chunk, 'latin1')
      if (chunks.length > 1) await new Promise((resolve) => setImmediate(resolve))
    }
    if (leaves) {
      await new Promise((resolve) => socket.end(() => resolve(undefined)))
      return result(undefined)
    }
    const mayEnd = allowed.includes(0) && !stalls
    const answer = await client.answer(method, on === 'h2', mayEnd)
    if (answer === 'hangs') return result('it hangs: no answer, and no end')
    const status = answer?.status ?? 0
    if (!allowed.includes(status)) return result(`it was answered ${status}, allowed: ${allowed.join(', ')}`)
    if (answer && body && !body.test(answer.body)) return result(`its answer does not say ${body}`)
    if (isOver || client.hasLeft || answer === undefined || answer.headers['connection'] === 'close') return result(undefined)
    // What came before must not have changed where the next request begins.
    const [, secret = ''] = secrets
    socket.write(requestText(secret))
    const second = await client.answer('GET', false, false)
    if (second === 'hangs') return result('the request behind it hangs')
    if (second?.status !== 200) return result(`the request behind it was answered ${second?.status ?? 'nothing'}`)
    return result(JSON.parse(second.body).secret === secret ? undefined : 'the answer to the request behind it is not its own')
  } catch (error) {
    return result(`what came back is no answer: ${/** @type {Error} */ (error).message}`)
  }
}

/** Whether the frames of a server have a GOAWAY with an error code among them. @param {Buffer} bytes */
function hasErrorOfConnection(bytes) {
  const GOAWAY = 7
  for (let at = 0; at + 17 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] === GOAWAY && bytes.readUInt32BE(at + 13) !== 0) return true
  }
  return false
}

/** Reads what comes, and waits. */
class Client {
  bytes = Buffer.alloc(0)
  hasEnded = false
  /** It has ended its side. */
  hasLeft = false
  #socket
  #rest = Buffer.alloc(0)
  /** @type {Set<() => void>} */
  #waiting = new Set()

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.#socket = socket
    socket.on('data', (bytes) => {
      this.bytes = Buffer.concat([this.bytes, bytes])
      this.#rest = Buffer.concat([this.#rest, bytes])
      this.#wake()
    })
    const over = () => {
      this.hasEnded = true
      this.#wake()
    }
    socket.on('end', over).on('error', over).on('close', over)
  }

  /**
   * The next final answer; undefined when the connection ends without one.
   * @param {string} method @param {boolean} isBinary whether nothing that comes is an answer of HTTP/1.1 @param {boolean} mayEnd whether the client ends its side when nothing comes
   * @returns {Promise<import('../support/http1.mjs').RawResponse | undefined | 'hangs'>}
   */
  async answer(method, isBinary, mayEnd) {
    const hangsAt = performance.now() + HANG_MS
    for (;;) {
      const parsed = isBinary ? undefined : parseResponse(this.#rest, { method, hasEnded: this.hasEnded })
      if (parsed) {
        this.#rest = Buffer.from(parsed.rest)
        // One that was broken off is none.
        if (parsed.response.framing === 'close' && parsed.response.headers['connection'] !== 'close') return undefined
        if (parsed.response.status >= 200 || parsed.response.status === 101) return parsed.response
        continue
      }
      if (this.hasEnded || (isBinary && LEAVES_ERRORS_OPEN && hasErrorOfConnection(this.bytes))) return undefined
      const isAwake = await this.#woken(mayEnd ? QUIET_MS : HANG_MS)
      if (!isAwake && mayEnd) {
        this.hasLeft = true
        this.#socket.end()
      }
      if (performance.now() >= hangsAt) return 'hangs'
    }
  }

  #wake() {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** @param {number} ms @returns {Promise<boolean>} false when nothing has happened by then */
  #woken(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms)
      this.#waiting.add(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }
}
