// @ts-check
import { connect, constants } from 'node:http2'
import { sendBody } from './pace.mjs'
import { dial, schemeOf } from './protocols.mjs'

/** @typedef {import('./clients.mjs').Client} Client @typedef {import('./clients.mjs').ClientOptions} ClientOptions */

/**
 * Of a request about which the server has done nothing, and of which the client knows so.
 * @see RFC 9113 sections 6.8 and 8.7
 */
export class SendAgain extends Error {}

/** By node's client of HTTP/2: as many requests at a time as are asked. @implements {Client} */
export class Http2Client {
  /** @type {import('./link.mjs').Link | undefined} */
  link
  #options
  /** @type {Session | undefined} */
  #session

  /** @param {ClientOptions} options */
  constructor(options) {
    this.#options = options
  }

  get isTold() {
    return this.#session?.lastStream !== undefined
  }

  /** @param {import('./clients.mjs').Request} request @returns {Promise<import('./clients.mjs').Response>} */
  async ask(request) {
    const { isFresh } = this.#options
    const session = isFresh || !this.#session ? this.#dial() : this.#session
    try {
      return await session.ask(request)
    } finally {
      if (isFresh) session.leave()
    }
  }

  leave() {
    this.#session?.leave()
  }

  #dial() {
    const { link, stream } = dial(this.#options)
    this.link = link
    this.#session = new Session(stream, schemeOf(this.#options.protocol))
    return this.#session
  }
}

/** One connection. */
class Session {
  /** The number in the GOAWAY frame that the server has sent; undefined while it has not. @type {number | undefined} */
  lastStream
  #session

  /** @param {import('node:stream').Duplex} stream @param {string} scheme */
  constructor(stream, scheme) {
    this.#session = connect(`${scheme}//localhost`, { createConnection: () => stream })
    // Each of its streams has the error, too.
    this.#session.on('error', () => {})
    this.#session.on('goaway', (_code, lastStream) => {
      this.lastStream = Math.min(lastStream, this.lastStream ?? lastStream)
    })
    this.#session.on('close', () => stream.destroy())
  }

  /** @param {import('./clients.mjs').Request} request @returns {Promise<import('./clients.mjs').Response>} */
  ask(request) {
    const { method, path } = request
    return new Promise((resolve, reject) => {
      // Throws when the session is over, which its client has not noticed.
      const stream = this.#session.request({ ':method': method, ':path': path }, { endStream: method === 'GET' })
      /** @type {import('node:http2').IncomingHttpHeaders} */
      let headers = {}
      let received = ''
      let hasEnded = false
      /** @type {unknown} */
      let error
      stream.setEncoding('utf8')
      stream.on('response', (given) => (headers = given))
      stream.on('data', (text) => (received += text))
      stream.on('end', () => (hasEnded = true))
      stream.on('error', (given) => (error = given))
      stream.on('close', () => {
        const { rstCode } = stream
        if (this.#isUntouched(stream)) reject(new SendAgain(String(error ?? rstCode)))
        // An answer that came before all of its request was read is ended with NO_ERROR.
        else if (hasEnded && rstCode === constants.NGHTTP2_NO_ERROR)
          resolve({ status: Number(headers[':status']), headers, body: received })
        else reject(error ?? new Error(`stream ${stream.id} ended with ${rstCode} after ${received.length} characters`))
      })
      if (method === 'POST') sendBody(stream, request, () => stream.end())
    })
  }

  /** Ends when nothing is owed any more. */
  leave() {
    this.#session.close()
  }

  /**
   * Refused as such, or not among those that the server has said it would answer; or never sent, because it had said so before.
   * @param {import('node:http2').ClientHttp2Stream} stream
   */
  #isUntouched({ id, rstCode }) {
    if (rstCode === constants.NGHTTP2_REFUSED_STREAM) return true
    return this.lastStream !== undefined && (id === undefined || id > this.lastStream)
  }
}
