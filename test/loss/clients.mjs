// @ts-check
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { Pool } from 'undici'
import { parseResponse } from '../support/http1.mjs'
import { Http2Client } from './http2-client.mjs'
import { sendBody } from './pace.mjs'
import { dial, isEncrypted, isHttp2, schemeOf } from './protocols.mjs'

/**
 * One client of one server, by one library or none. It has at most one connection, and never sends a request twice.
 * @typedef {object} Client
 * @property {import('./link.mjs').Link | undefined} link its newest connection
 * @property {boolean} isTold whether it knows that the connection it keeps is to be left
 * @property {(request: Request) => Promise<Response>} ask rejects when no complete response came: with {@link SendAgain} when it knows that nothing
 *   was done about the request, with {@link GivenUp} when it has given the answer up by itself
 * @property {() => void} leave breaks its connection off; what it is still owed on one that carries several requests, it waits for
 *
 * @typedef {import('./pace.mjs').Request} Request
 * @typedef {{ readonly status: number, readonly headers: Readonly<Record<string, unknown>>, readonly body: string }} Response
 *
 * @typedef {object} ClientOptions
 * @property {import('./protocols.mjs').Protocol} protocol
 * @property {number} port
 * @property {number} linkMs delay of the link, each way
 * @property {boolean} isFresh a new connection for each request instead of a kept one
 */

/** Writes HTTP/1.1 by itself. @implements {Client} */
class RawClient {
  /** @type {import('./link.mjs').Link | undefined} */
  link
  isTold = false
  /** @type {import('node:stream').Duplex | undefined} */
  #stream
  #options

  /** @param {ClientOptions} options */
  constructor(options) {
    this.#options = options
  }

  /** @param {Request} request @returns {Promise<Response>} */
  ask(request) {
    const { method, path, body } = request
    const { isFresh } = this.#options
    const stream = isFresh || !this.#stream ? this.#dial() : this.#stream
    const length = method === 'POST' ? `Content-Length: ${body.length}\r\n` : ''
    stream.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${length}${isFresh ? 'Connection: close\r\n' : ''}\r\n`)
    sendBody(stream, request)
    return new Promise((resolve, reject) => {
      let received = Buffer.alloc(0)
      const settle = (/** @type {() => void} */ how) => {
        stream.off('data', onData).off('end', onEnd).off('close', onClose)
        if (isFresh) stream.destroy()
        how()
      }
      const look = (/** @type {boolean} */ hasEnded) => {
        try {
          const parsed = parseResponse(received, { method, hasEnded })
          if (!parsed) return
          this.isTold = isClosing(parsed.response)
          settle(() => resolve(parsed.response))
        } catch (error) {
          settle(() => reject(error))
        }
      }
      const onData = (/** @type {Buffer} */ bytes) => {
        received = Buffer.concat([received, bytes])
        look(false)
      }
      const onEnd = () => look(true)
      const onClose = () =>
        settle(() => reject(stream.errored ?? this.link?.errored ?? new Error(`closed after ${received.length} bytes of answer`)))
      stream.on('data', onData).on('end', onEnd).on('close', onClose)
      stream.resume()
    })
  }

  leave() {
    this.#stream?.destroy()
  }

  #dial() {
    const { link, stream } = dial(this.#options)
    this.link = link
    this.#stream = stream
    return stream
  }
}

/** By node's own agent. @implements {Client} */
class AgentClient {
  /** @type {import('./link.mjs').Link | undefined} */
  link
  isTold = false
  #port
  #agent
  #request

  /** @param {ClientOptions} options */
  constructor({ protocol, port, linkMs, isFresh }) {
    this.#port = port
    this.#request = isEncrypted(protocol) ? httpsRequest : httpRequest
    this.#agent = new (isEncrypted(protocol) ? HttpsAgent : HttpAgent)({ keepAlive: !isFresh, maxSockets: 1 })
    Object.assign(this.#agent, {
      createConnection: () => {
        const { link, stream } = dial({ protocol, port, linkMs })
        this.link = link
        return stream
      },
    })
  }

  /** @param {Request} asked @returns {Promise<Response>} */
  ask(asked) {
    const { method, path, body } = asked
    const headers = method === 'POST' ? { 'Content-Length': body.length } : {}
    return new Promise((resolve, reject) => {
      const request = this.#request({ agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path, headers })
      request.on('error', reject)
      request.on('response', (response) => {
        let received = ''
        response.setEncoding('utf8')
        response.on('data', (text) => (received += text))
        response.on('error', reject)
        response.on('end', () => {
          this.isTold = isClosing(response)
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received })
        })
      })
      sendBody(request, asked, () => request.end())
    })
  }

  leave() {
    this.#agent.destroy()
    this.link?.destroy()
  }
}

/** @implements {Client} */
class UndiciClient {
  /** @type {import('./link.mjs').Link | undefined} */
  link
  isTold = false
  #options
  #isHttp2
  /** Whether a connection may be made for the request that is under way. */
  #mayDial = true
  #pool

  /** @param {ClientOptions} options */
  constructor(options) {
    this.#options = options
    this.#isHttp2 = isHttp2(options.protocol)
    this.#pool = this.#newPool()
  }

  /** @param {Request} request @returns {Promise<Response>} */
  async ask({ method, path, body, pace }) {
    const { isFresh } = this.#options
    if (pace) throw new Error('undici: uploads in pieces are of the other clients')
    // Over HTTP/2 it would send a request again, by itself, whose connection breaks.
    this.#mayDial = isFresh || this.link === undefined || this.link.destroyed
    try {
      const response = await this.#pool.request({ method, path, body: method === 'POST' ? body : null, reset: isFresh })
      const answer = { status: response.statusCode, headers: response.headers, body: await response.body.text() }
      if (isClosing(answer)) this.isTold = true
      return answer
    } catch (error) {
      // It takes GOAWAY for the end of the connection, and destroys it with what it is owed on it.
      throw isGoaway(error) ? new GivenUp(String(error)) : error
    } finally {
      // There, `reset` does nothing.
      if (isFresh && this.#isHttp2) {
        void this.#pool.destroy()
        this.#pool = this.#newPool()
      }
    }
  }

  leave() {
    void this.#pool.destroy()
    if (!this.#isHttp2) this.link?.destroy()
  }

  #newPool() {
    const { protocol, port, linkMs } = this.#options
    /** @type {import('undici').buildConnector.connector} */
    const connector = (_options, connected) => {
      if (this.#isHttp2 && !this.#mayDial) return connected(new Error('closed, and not sent again on another connection'), null)
      this.#mayDial = false
      const { link, stream } = dial({ protocol, port, linkMs })
      this.link = link
      // What it chooses the protocol by.
      if (protocol === 'h2c') Object.assign(stream, { alpnProtocol: 'h2' })
      const failed = (/** @type {Error} */ error) => connected(error, null)
      stream.once('error', failed)
      stream.once(isEncrypted(protocol) ? 'secureConnect' : 'connect', () => {
        stream.off('error', failed)
        connected(null, /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (stream)))
      })
    }
    const pool = new Pool(`${schemeOf(protocol)}//127.0.0.1:${port}`, {
      connections: 1,
      pipelining: 1,
      connect: connector,
      allowH2: this.#isHttp2,
    })
    pool.on('disconnect', (_origin, _targets, error) => {
      if (isGoaway(error)) this.isTold = true
    })
    return pool
  }
}

/** A client that gives an answer up that the server would have sent. */
export class GivenUp extends Error {}

/** @param {{ headers: Readonly<Record<string, unknown>> }} response of HTTP/1.1 */
const isClosing = ({ headers }) => headers['connection'] === 'close'

/** @param {unknown} error of undici */
const isGoaway = (error) => /"GOAWAY" frame received/.test(String(error))

const KINDS = { raw: RawClient, 'http.Agent': AgentClient, 'https.Agent': AgentClient, undici: UndiciClient, http2: Http2Client }

/** @typedef {keyof typeof KINDS} ClientKind */

/** Who speaks what. @type {Record<import('./protocols.mjs').Protocol, readonly [ClientKind, ...ClientKind[]]>} */
export const CLIENTS_OF = {
  'HTTP/1.1': ['raw', 'http.Agent', 'undici'],
  HTTPS: ['raw', 'https.Agent', 'undici'],
  h2: ['http2', 'undici'],
  h2c: ['http2', 'undici'],
}

/** The client that adds least of its own. @param {import('./protocols.mjs').Protocol} protocol */
export const plainestOf = (protocol) => CLIENTS_OF[protocol][0]

/**
 * How many requests a client has on its way at a time, on one connection that it keeps. undici sends one at a time also over HTTP/2: at a GOAWAY it
 * gives the oldest one up and sends the others again, by itself, on another connection.
 * @param {ClientKind} kind
 */
export const lanesOf = (kind) => (kind === 'http2' ? 3 : 1)

/** @param {ClientKind} kind @param {ClientOptions} options @returns {Client} */
export const newClient = (kind, options) => new KINDS[kind](options)
