// @ts-check
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'

/** Kinds of watches, in turns. */
export const KINDS = /** @type {const} */ (['events', 'chunks', 'ws', 'frames'])
/** Those that are streams of HTTP/2. */
const STREAMED = /** @type {const} */ (['events', 'chunks'])
/** Streams on one connection of HTTP/2. */
const STREAMS = 100

/** @typedef {'HTTP/1.1' | 'HTTP/2'} Protocol */

/**
 * @typedef {object} Ended how one watch ended, by its client's own record
 * @property {string} kind
 * @property {number} at milliseconds since SIGTERM
 * @property {string} how `whole`, `1001`, or `broken off`
 *
 * @typedef {object} MixedRun
 * @property {readonly Ended[]} ends
 * @property {number} openMb memory of the server with all of them open
 * @property {number} mostMb the most that it took from then on
 * @property {{ exitCode: number, watches: { before: number, after: number }, connections: { forced: number, upgraded?: Record<string, number> } }} report
 */

/** Connections that are made at a time: more than the backlog of a listener would be refused. */
const AT_ONCE = 200
const CLOSE = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9])

/**
 * Opens so many watches of all kinds that the protocol has at a server of its own, ends it by SIGTERM once all of them have begun, and sees what each client gets.
 * @param {{ count: number, graceMs: number, protocol?: Protocol }} options
 * @returns {Promise<MixedRun>}
 */
export async function runMixed({ count, graceMs, protocol = 'HTTP/1.1' }) {
  const program = fileURLToPath(new URL('mixed-server.mjs', import.meta.url))
  const child = fork(program, [JSON.stringify({ graceMs, protocol })], { stdio: 'inherit' })
  const exited = once(child, 'exit')
  // After the last message, which the exit may come before.
  const disconnected = once(child, 'disconnect')
  /** What it says next; it may have ended instead. */
  const message = () =>
    Promise.race([
      once(child, 'message'),
      disconnected.then(() => {
        throw new Error('the server of watches has ended before it said what it should')
      }),
    ])
  try {
    const [{ port }] = await message()
    /** @type {Promise<Ended>[]} */
    const ends = []
    /** @type {(index: number) => ReturnType<typeof watch>} the next client */
    const open = protocol === 'HTTP/2' ? streamsOf(port) : (index) => watch(port, KINDS[index % KINDS.length] ?? 'events', addressOf(index))
    while (ends.length < count) {
      const batch = Array.from({ length: Math.min(AT_ONCE, count - ends.length) }, (_, index) => open(ends.length + index))
      await Promise.all(batch.map(({ begun }) => begun))
      ends.push(...batch.map(({ ended }) => ended))
    }
    child.send('measure')
    const [{ openMb }] = await message()
    const last = message()
    const stoppedAt = performance.now()
    child.kill('SIGTERM')
    const [{ mostMb, report }] = await last
    await exited
    const all = await Promise.all(ends)
    return { ends: all.map((one) => ({ ...one, at: one.at - stoppedAt })).sort((a, b) => a.at - b.at), openMb, mostMb, report }
  } finally {
    child.kill('SIGKILL')
  }
}

/** A client's address has ports for so many connections to one server. */
const PER_ADDRESS = 20_000

/** @param {number} index of the client */
const addressOf = (index) => `127.0.0.${1 + Math.floor(index / PER_ADDRESS)}`

/**
 * One client, byte by byte.
 * @param {number} port @param {string} kind @param {string} localAddress
 */
function watch(port, kind, localAddress) {
  const isWebSocket = kind === 'ws' || kind === 'frames'
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
  socket.write(`GET /${kind} HTTP/1.1\r\nHost: localhost\r\n${isWebSocket ? upgrade : ''}\r\n`)
  let tail = Buffer.alloc(0)
  let at = 0
  let how = 'broken off'
  /** @type {Promise<void>} */
  const begun = new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`${kind}: closed before it began`)))
    socket.on('data', (bytes) => {
      if (at > 0) return
      tail = Buffer.concat([tail, bytes]).subarray(-300)
      if (tail.includes('first')) resolve()
      if (isWebSocket ? closesWith1001(tail) : tail.subarray(-5).toString('latin1') === '0\r\n\r\n') {
        at = performance.now()
        how = isWebSocket ? '1001' : 'whole'
        if (isWebSocket) socket.write(CLOSE)
      }
    })
  })
  begun.catch(() => {})
  /** @type {Promise<Ended>} */
  const ended = new Promise((resolve) => socket.on('close', () => resolve({ kind, at: at || performance.now(), how })))
  return { begun, ended }
}

/**
 * Clients as streams, so many on each connection.
 * @param {number} port @returns {(index: number) => ReturnType<typeof watch>}
 */
function streamsOf(port) {
  /** @type {import('node:http2').ClientHttp2Session} */
  let session
  return (index) => {
    if (index % STREAMS === 0) {
      session = connectHttp2(`http://127.0.0.1:${port}`)
      // Its streams say it.
      session.on('error', () => {})
    }
    const kind = STREAMED[index % STREAMED.length] ?? 'events'
    const stream = session.request({ ':path': `/${kind}` })
    let tail = ''
    let at = 0
    /** @type {Promise<void>} */
    const begun = new Promise((resolve, reject) => {
      stream.on('error', reject)
      stream.on('close', () => reject(new Error(`${kind}: closed before it began`)))
      stream.on('data', (bytes) => {
        tail = (tail + bytes.toString('latin1')).slice(-40)
        if (tail.includes('first')) resolve()
      })
    })
    begun.catch(() => {})
    stream.on('end', () => {
      at = performance.now()
    })
    /** @type {Promise<Ended>} */
    const ended = new Promise((resolve) =>
      stream.on('close', () =>
        resolve({ kind, at: at || performance.now(), how: stream.rstCode === 0 && tail.includes('last') ? 'whole' : 'broken off' }),
      ),
    )
    return { begun, ended }
  }
}

/**
 * The Close frame is the last that a server sends.
 * @param {Buffer} tail
 */
function closesWith1001(tail) {
  const from = tail.lastIndexOf(Buffer.from([0x03, 0xe9]))
  return from >= 2 && tail[from - 2] === 0x88 && (tail[from - 1] ?? 0) === tail.length - from
}

/**
 * How many ended in each 100 ms from the first end on.
 * @param {readonly Ended[]} ends in order
 * @param {number} [binMs]
 */
export function endsPer(ends, binMs = 100) {
  const first = ends[0]?.at ?? 0
  const bins = Array.from({ length: Math.floor(((ends.at(-1)?.at ?? 0) - first) / binMs) + 1 }, () => 0)
  for (const { at } of ends) {
    const bin = Math.floor((at - first) / binMs)
    bins[bin] = (bins[bin] ?? 0) + 1
  }
  return bins
}
