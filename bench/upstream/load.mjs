// @ts-check
// The clients of bench/upstream.mjs, in a process of their own: kept connections, each of which sends its next request when it has its answer; and
// watches, whose events are counted.
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:tls'
import { TOKEN } from './setting.mjs'

/**
 * @typedef {'HTTP/1.1' | 'HTTP/2'} Protocol
 * @typedef {object} Requests
 * @property {'requests'} what
 * @property {number} port
 * @property {Protocol} protocol
 * @property {string} method
 * @property {string} path `{n}` stands for the number of the request, `{}` for one that begins again behind `of`
 * @property {string} [body] the same
 * @property {string} [type] of the body
 * @property {number} count
 * @property {number} [from] number of the first
 * @property {number} [of]
 * @property {number} status that each answer has
 * @typedef {{ what: 'watch', port: number, protocol: Protocol, path: string, version: string, count: number }} Watches
 * @typedef {{ what: 'heard', events: number }} Heard waits until all watches together have had so many events
 * @typedef {{ what: 'leave' }} Leave ends all watches
 */
const LANES = 16
/** Requests on their way at a time on one connection of HTTP/2. */
const STREAMS = 4
/** Watches on one connection of HTTP/2. */
const WATCHES = 50
const EVENT = Buffer.from('"type":"MODIFIED"')

const tlsTo = (/** @type {number} */ port) => ({ port, host: '127.0.0.1', rejectUnauthorized: false })

/** @param {Requests} plan @returns {(() => { path: string, body: string | undefined } | undefined)} */
function numbered({ path, body, count, from = 0, of = Number.POSITIVE_INFINITY }) {
  let at = 0
  return () => {
    if (at === count) return undefined
    const [number, again] = [String(from + at), String(at % of)]
    at++
    const filled = (/** @type {string} */ text) => text.replaceAll('{n}', number).replaceAll('{}', again)
    return { path: filled(path), body: body === undefined ? undefined : filled(body) }
  }
}

/** @param {Requests} plan */
async function requests(plan) {
  const next = numbered(plan)
  const begun = performance.now()
  // A connection that asks nothing would cost its server a handshake all the same.
  const lanes = Math.min(LANES, plan.count)
  if (plan.protocol === 'HTTP/1.1') await Promise.all(Array.from({ length: lanes }, () => overHttp1(plan, next)))
  else await Promise.all(Array.from({ length: Math.ceil(lanes / STREAMS) }, () => overHttp2(plan, next)))
  return { seconds: (performance.now() - begun) / 1000 }
}

/** @param {Requests} plan @param {ReturnType<typeof numbered>} next @returns {Promise<void>} */
function overHttp1({ port, method, type, status }, next) {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...tlsTo(port), ALPNProtocols: ['http/1.1'] })
    socket.setNoDelay()
    let isOver = false
    /** @type {Buffer[]} */
    let parts = []
    /** Bytes that the answer has in all; unknown: NaN, and it ends with an empty chunk. */
    let due = -1
    let received = 0
    const ask = () => {
      const asked = next()
      if (!asked) {
        isOver = true
        return void socket.end()
      }
      const head = `${method} ${asked.path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\nAuthorization: Bearer ${TOKEN}\r\n`
      socket.write(
        asked.body === undefined
          ? `${head}\r\n`
          : `${head}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(asked.body)}\r\n\r\n${asked.body}`,
      )
    }
    socket.on('secureConnect', ask)
    socket.on('data', (bytes) => {
      received += bytes.length
      if (due < 0 || Number.isNaN(due)) parts.push(bytes)
      if (due < 0) {
        const text = Buffer.concat(parts)
        const end = text.indexOf('\r\n\r\n')
        if (end < 0) return
        const head = text.toString('latin1', 0, end)
        if (!head.startsWith(`HTTP/1.1 ${status} `)) return reject(new Error(`expected ${status}:\n${text}`))
        due = end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN)
      }
      if (Number.isNaN(due)) {
        const last = parts.at(-1) ?? bytes
        const tail = last.length >= 7 ? last : Buffer.concat(parts.slice(-2))
        if (!tail.subarray(-7).equals(LAST_CHUNK)) return
      } else if (received < due) return
      parts = []
      due = -1
      received = 0
      ask()
    })
    socket.on('error', reject)
    socket.on('close', () => (isOver ? resolve() : reject(new Error('the server has closed a connection'))))
  })
}
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')

/** @param {number} port */
function sessionTo(port) {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  /** @type {Promise<never>} */
  const failed = new Promise((_, reject) => {
    session.on('error', reject)
    session.on('goaway', () => reject(new Error('the server has sent a client away')))
  })
  failed.catch(() => {})
  return { session, failed }
}

/** @param {Requests} plan @param {ReturnType<typeof numbered>} next */
async function overHttp2({ port, method, type, status }, next) {
  const { session, failed } = sessionTo(port)
  const one = (/** @type {{ path: string, body: string | undefined }} */ { path, body }) =>
    new Promise((resolve, reject) => {
      const stream = session.request(
        {
          ':method': method,
          ':path': path,
          'user-agent': 'bench',
          accept: 'application/json',
          authorization: `Bearer ${TOKEN}`,
          ...(body !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
        },
        { endStream: body === undefined },
      )
      if (body !== undefined) stream.end(body)
      stream.on('response', (headers) => {
        if (headers[':status'] !== status) reject(new Error(`expected ${status}: ${headers[':status']}`))
      })
      stream.on('data', () => {})
      stream.on('error', reject)
      stream.on('close', resolve)
    })
  const lane = async () => {
    for (let asked = next(); asked; asked = next()) await one(asked)
  }
  await Promise.race([failed, Promise.all(Array.from({ length: STREAMS }, lane))])
  session.close()
}

let events = 0
let look = () => {}
/** @type {(() => void)[]} */
let endings = []

/** Counts the events in what one watch receives. @returns {(bytes: Buffer) => void} */
function counter() {
  /** @type {Buffer} */
  let tail = Buffer.alloc(0)
  return (bytes) => {
    const text = tail.length > 0 ? Buffer.concat([tail, bytes]) : bytes
    let from = 0
    for (let at = text.indexOf(EVENT); at >= 0; at = text.indexOf(EVENT, from)) {
      events++
      from = at + EVENT.length
    }
    tail = text.subarray(Math.max(from, text.length - EVENT.length + 1))
    look()
  }
}

/** Resolves when all have their head. @param {Watches} plan */
async function watch({ port, protocol, path, version, count }) {
  const url = `${path}?watch=true&resourceVersion=${version}`
  if (protocol === 'HTTP/1.1')
    for (let at = 0; at < count; at++)
      await new Promise((resolve, reject) => {
        const socket = connect({ ...tlsTo(port), ALPNProtocols: ['http/1.1'] })
        const hear = counter()
        socket.on('error', reject)
        socket.on('secureConnect', () => socket.write(`GET ${url} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`))
        socket.once('data', resolve)
        socket.on('data', hear)
        endings.push(() => socket.destroy())
      })
  else
    for (let at = 0; at < count; at += WATCHES) {
      const { session } = sessionTo(port)
      for (let one = at; one < Math.min(at + WATCHES, count); one++)
        await new Promise((resolve, reject) => {
          const stream = session.request({ ':path': url, authorization: `Bearer ${TOKEN}` })
          const hear = counter()
          stream.on('response', resolve)
          stream.on('data', hear)
          stream.on('error', reject)
        })
      endings.push(() => session.destroy())
    }
  events = 0
}

/** @param {number} wanted @returns {Promise<void>} */
const heard = (wanted) =>
  new Promise((resolve) => {
    look = () => {
      if (events >= wanted) resolve()
    }
    look()
  })

/** @param {Requests | Watches | Heard | Leave} asked */
async function answer(asked) {
  if (asked.what === 'requests') return requests(asked)
  if (asked.what === 'watch') await watch(asked)
  else if (asked.what === 'heard') await heard(asked.events)
  else {
    for (const end of endings) end()
    endings = []
  }
  return {}
}

process.on('message', (asked) => {
  answer(/** @type {any} */ (asked)).then(
    (result) => process.send?.(result),
    (error) => process.send?.({ error: String(error?.stack ?? error) }),
  )
})
process.on('disconnect', () => process.exit())
