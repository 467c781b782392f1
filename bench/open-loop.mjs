// @ts-check
// Load in an open loop: when each request is due is known before the first is sent, and its latency
// counts from then, whether or not a connection was free. So a server that stalls is charged for
// all that it kept waiting. A process of its own, which is asked to open connections, to send, and
// to close.
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

const BODY = Buffer.alloc(2 ** 20, 'x')
const head = (/** @type {string} */ line, more = '') =>
  Buffer.from(`${line} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n${more}\r\n`)
/** What is asked, as it is written. @type {Record<string, Buffer>} */
const REQUESTS = {
  trivial: head('GET /'),
  stream: head('GET /stream'),
  upload: Buffer.concat([head('POST /upload', `Content-Length: ${BODY.length}\r\n`), BODY]),
}
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** One connection, with one request on its way at most. */
class Connection {
  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.socket = socket
    this.received = 0
    /** Of an answer with a length, which are all alike. */
    this.answerBytes = 0
    this.isChunked = false
    /** @type {() => void} */
    this.answered = () => {}
    socket.on('data', (bytes) => this.read(bytes))
  }

  /** @param {Buffer} bytes */
  read(bytes) {
    if (this.received === 0) {
      const start = bytes.toString('latin1', 0, 500)
      if (!start.startsWith('HTTP/1.1 200 ')) throw new Error(`not the answer that was asked for:\n${start}`)
      const [whole = '', length] = /^.*?content-length: (\d+).*?\r\n\r\n/is.exec(start) ?? []
      this.isChunked = length === undefined
      this.answerBytes = whole.length + Number(length)
    }
    this.received += bytes.length
    const isOver = this.isChunked
      ? this.received > BODY.length && bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
      : this.received === this.answerBytes
    if (!isOver) return
    this.received = 0
    this.answered()
  }
}

/** @type {Connection[]} */
let connections = []

/** @param {{ port: number, isEncrypted: boolean, count: number }} plan */
async function open({ port, isEncrypted, count }) {
  connections = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise((/** @type {(connection: Connection) => void} */ resolve, reject) => {
          const socket = isEncrypted
            ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
            : connect({ port, host: '127.0.0.1' })
          socket.setNoDelay().on('error', reject)
          socket.once(isEncrypted ? 'secureConnect' : 'connect', () => resolve(new Connection(socket)))
        }),
    ),
  )
  return {}
}

/** The same numbers between 0 and 1 for the same seed. @param {number} seed */
function random(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 1) / 2 ** 32
  }
}

/**
 * Milliseconds from the start, with gaps as of clients that do not know of each other; without a
 * rate all of them are due at once, and connections send one after the other.
 * @param {number} count @param {number} rate in a second @param {number} seed
 */
function schedule(count, rate, seed) {
  const draw = random(seed)
  let at = 0
  return Float64Array.from({ length: count }, () => (at += rate === 0 ? 0 : (-Math.log(draw()) / rate) * 1000))
}

/** @param {{ kind: string, count: number, rate: number, seed: number }} plan */
function send({ kind, count, rate, seed }) {
  const due = schedule(count, rate, seed)
  const request = REQUESTS[kind]
  if (!request) throw new Error(`kind: got ${kind}, allowed: ${Object.keys(REQUESTS).join(', ')}`)
  /** @type {number[]} */
  const latencies = []
  /** How late requests left although a connection was free: this process's own fault. */
  let latestMs = 0
  const free = [...connections]
  return new Promise((/** @type {(result: { latencies: number[], latestMs: number, seconds: number }) => void} */ resolve) => {
    const begun = performance.now()
    let freeSince = begun
    let next = 0
    const dispatch = () => {
      const now = performance.now()
      while (next < count && free.length > 0 && begun + (due[next] ?? 0) <= now) {
        const dueAt = begun + (due[next++] ?? 0)
        if (rate > 0) latestMs = Math.max(latestMs, now - Math.max(dueAt, freeSince))
        const connection = /** @type {Connection} */ (free.pop())
        connection.answered = () => {
          const answeredAt = performance.now()
          latencies.push(answeredAt - dueAt)
          if (free.length === 0) freeSince = answeredAt
          free.push(connection)
          if (latencies.length === count) resolve({ latencies, latestMs, seconds: (answeredAt - begun) / 1000 })
          else dispatch()
        }
        connection.socket.write(request)
      }
    }
    // A timer is too coarse for what is due in less than a millisecond.
    const turn = () => {
      dispatch()
      if (next < count) setImmediate(turn)
    }
    turn()
  })
}

function close() {
  for (const { socket } of connections) socket.destroy()
  connections = []
  return {}
}

process.on('message', (/** @type {any} */ plan) => {
  const done = plan.what === 'open' ? open(plan) : plan.what === 'send' ? send(plan) : Promise.resolve(close())
  void done.then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit())
