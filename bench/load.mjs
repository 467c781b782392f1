// @ts-check
// The load of the overhead benchmark: kept connections, each of which sends its next request when it
// has its answer. Spends as little as it can: the answers are all alike, so that their length tells
// where one ends.
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n'
/** How many requests one connection of HTTP/2 has on its way at a time. */
const STREAMS = 4

/**
 * @typedef {'HTTP/1.1' | 'HTTPS' | 'h2' | 'h2c'} Protocol
 * @typedef {object} Plan
 * @property {number} port
 * @property {Protocol} [protocol] default: HTTP/1.1
 * @property {number} connections requests on their way at a time; over HTTP/2 with several on one connection
 * @property {number} requests
 * @property {string} [token] of all requests over HTTP/1.1; default: none has one
 * @property {boolean} [timed] whether the time of each request is taken, which costs a little
 * @param {Plan} plan @returns {Promise<{ seconds: number, p99Ms: number }>}
 */
async function load({ port, protocol = 'HTTP/1.1', connections, requests, token, timed = false }) {
  /** @type {number[]} */
  const times = []
  const begun = performance.now()
  let left = requests
  /** @type {Work} */
  const work = {
    port,
    protocol,
    request: `${REQUEST}${token === undefined ? '' : `Authorization: Bearer ${token}\r\n`}\r\n`,
    isMore: () => left-- > 0,
    took: (ms) => {
      if (timed) times.push(ms)
    },
  }
  const isHttp2 = protocol === 'h2' || protocol === 'h2c'
  await Promise.all(
    isHttp2
      ? Array.from({ length: connections / STREAMS }, () => overHttp2(work))
      : Array.from({ length: connections }, () => overHttp1(work)),
  )
  const seconds = (performance.now() - begun) / 1000
  return { seconds, p99Ms: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN }
}

/**
 * @typedef {object} Work
 * @property {number} port
 * @property {Protocol} protocol
 * @property {string} request as it is written over HTTP/1.1
 * @property {() => boolean} isMore whether there is one more request to be sent; takes it
 * @property {(ms: number) => void} took
 */

/** One connection of HTTP/1.1. @param {Work} work */
function overHttp1({ port, protocol, request, isMore, took }) {
  return new Promise((resolve, reject) => {
    let answerBytes = 0
    let received = 0
    let isOver = false
    const isEncrypted = protocol === 'HTTPS'
    const socket = isEncrypted
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
      : connect({ port, host: '127.0.0.1' })
    socket.setNoDelay()
    let sentAt = 0
    const next = () => {
      sentAt = performance.now()
      if (isMore()) socket.write(request)
      else {
        isOver = true
        socket.end()
      }
    }
    socket.on(isEncrypted ? 'secureConnect' : 'connect', next)
    socket.on('data', (bytes) => {
      if (answerBytes === 0) answerBytes = lengthOfAnswer(bytes)
      received += bytes.length
      if (received > answerBytes) reject(new Error(`answers differ:\n${bytes}`))
      if (received < answerBytes) return
      received = 0
      took(performance.now() - sentAt)
      next()
    })
    socket.on('error', reject)
    socket.on('close', () => (isOver ? resolve(undefined) : reject(new Error('the server has closed a connection'))))
  })
}

/** One connection of HTTP/2. @param {Work} work */
async function overHttp2({ port, protocol, isMore, took }) {
  const scheme = protocol === 'h2' ? 'https' : 'http'
  const session = connectHttp2(`${scheme}://127.0.0.1:${port}`, { rejectUnauthorized: false })
  /** @type {Promise<never>} */
  const failed = new Promise((_, reject) => {
    session.on('error', reject)
    session.on('goaway', () => reject(new Error('the server has sent a client away')))
  })
  const one = () =>
    new Promise((resolve, reject) => {
      let received = 0
      const stream = session.request({ ':path': '/', 'user-agent': 'bench', accept: '*/*' })
      stream.on('data', (bytes) => (received += bytes.length))
      stream.on('error', reject)
      stream.on('close', () => (received === ANSWER_BYTES ? resolve(undefined) : reject(new Error(`an answer of ${received} bytes`))))
    })
  const lane = async () => {
    while (isMore()) {
      const sentAt = performance.now()
      await one()
      took(performance.now() - sentAt)
    }
  }
  await Promise.race([failed, Promise.all(Array.from({ length: STREAMS }, lane))])
  session.close()
}
const ANSWER_BYTES = 'hello\n'.length

/** @param {Buffer} answer */
function lengthOfAnswer(answer) {
  const text = answer.toString('latin1')
  const [head, length] = /^HTTP\/1\.1 200 .*?content-length: (\d+).*?\r\n\r\n/is.exec(text) ?? []
  if (head === undefined) throw new Error(`not an answer with a length:\n${text}`)
  return head.length + Number(length)
}

process.on('message', (plan) => {
  void load(/** @type {Parameters<typeof load>[0]} */ (plan)).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit())
