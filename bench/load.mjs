// @ts-check
// The load of the overhead benchmark: keep-alive connections, each of which sends its next request
// when it has its answer. Spends as little as it can: the answers are all alike, so that their
// length tells where one ends.
import { connect } from 'node:net'

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n'

/**
 * @typedef {object} Plan
 * @property {number} port
 * @property {number} connections
 * @property {number} requests
 * @property {boolean} [timed] whether the time of each request is taken, which costs a little
 * @param {Plan} plan @returns {Promise<{ seconds: number, p99Ms: number }>}
 */
async function load({ port, connections, requests, timed = false }) {
  /** @type {number[]} */
  const times = []
  const begun = performance.now()
  let left = requests
  const one = () =>
    new Promise((resolve, reject) => {
      let answerBytes = 0
      let received = 0
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let sentAt = 0
      const next = () => {
        if (timed) sentAt = performance.now()
        if (left-- > 0) socket.write(REQUEST)
        else socket.end()
      }
      socket.on('connect', next)
      socket.on('data', (bytes) => {
        if (answerBytes === 0) answerBytes = lengthOfAnswer(bytes)
        received += bytes.length
        if (received > answerBytes) reject(new Error(`answers differ:\n${bytes}`))
        if (received < answerBytes) return
        received = 0
        if (timed) times.push(performance.now() - sentAt)
        next()
      })
      socket.on('error', reject)
      socket.on('close', () => (left > 0 ? reject(new Error('the server has closed a connection')) : resolve(undefined)))
    })
  await Promise.all(Array.from({ length: connections }, one))
  const seconds = (performance.now() - begun) / 1000
  return { seconds, p99Ms: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN }
}

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
