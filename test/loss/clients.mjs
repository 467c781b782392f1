// @ts-check
import { Agent, request as httpRequest } from 'node:http'
import { Pool } from 'undici'
import { parseResponse } from '../support/http1.mjs'
import { Link } from './link.mjs'

/**
 * One client of one server, by one library or none. It has at most one connection, and never sends a request twice.
 * @typedef {object} Client
 * @property {Link | undefined} link its newest connection
 * @property {(request: Request) => Promise<Response>} ask rejects when no complete response came
 * @property {() => void} leave breaks its connection off
 *
 * @typedef {{ readonly method: 'GET' | 'POST', readonly path: string, readonly body: string }} Request
 * @typedef {{ readonly status: number, readonly headers: Readonly<Record<string, unknown>>, readonly body: string }} Response
 *
 * @typedef {object} ClientOptions
 * @property {number} port
 * @property {number} linkMs delay of the link, each way
 * @property {boolean} isFresh a new connection for each request instead of a kept one
 */

/** Writes HTTP/1.1 by itself. @implements {Client} */
class RawClient {
  /** @type {Link | undefined} */
  link
  #options

  /** @param {ClientOptions} options */
  constructor(options) {
    this.#options = options
  }

  /** @param {Request} request @returns {Promise<Response>} */
  ask({ method, path, body }) {
    const { port, linkMs, isFresh } = this.#options
    const link = isFresh || !this.link ? new Link({ port, delayMs: linkMs }) : this.link
    this.link = link
    const length = method === 'POST' ? `Content-Length: ${body.length}\r\n` : ''
    link.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${length}${isFresh ? 'Connection: close\r\n' : ''}\r\n`)
    if (body !== '') link.write(body)
    return new Promise((resolve, reject) => {
      let received = Buffer.alloc(0)
      const settle = (/** @type {() => void} */ how) => {
        link.off('data', onData).off('end', onEnd).off('close', onClose)
        if (isFresh) link.destroy()
        how()
      }
      const look = (/** @type {boolean} */ hasEnded) => {
        try {
          const parsed = parseResponse(received, { method, hasEnded })
          if (parsed) settle(() => resolve(parsed.response))
        } catch (error) {
          settle(() => reject(error))
        }
      }
      const onData = (/** @type {Buffer} */ bytes) => {
        received = Buffer.concat([received, bytes])
        look(false)
      }
      const onEnd = () => look(true)
      const onClose = () => settle(() => reject(link.errored ?? new Error(`closed after ${received.length} bytes of answer`)))
      link.on('data', onData).on('end', onEnd).on('close', onClose)
      link.resume()
    })
  }

  leave() {
    this.link?.destroy()
  }
}

/** By node's own agent. @implements {Client} */
class AgentClient {
  /** @type {Link | undefined} */
  link
  #port
  #agent

  /** @param {ClientOptions} options */
  constructor({ port, linkMs, isFresh }) {
    this.#port = port
    this.#agent = new Agent({ keepAlive: !isFresh, maxSockets: 1 })
    Object.assign(this.#agent, {
      createConnection: () => {
        this.link = new Link({ port, delayMs: linkMs })
        return this.link
      },
    })
  }

  /** @param {Request} request @returns {Promise<Response>} */
  ask({ method, path, body }) {
    const headers = method === 'POST' ? { 'Content-Length': body.length } : {}
    return new Promise((resolve, reject) => {
      const request = httpRequest({ agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path, headers })
      request.on('error', reject)
      request.on('response', (response) => {
        let received = ''
        response.setEncoding('utf8')
        response.on('data', (text) => (received += text))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received }))
      })
      request.end(body)
    })
  }

  leave() {
    this.#agent.destroy()
    this.link?.destroy()
  }
}

/** @implements {Client} */
class UndiciClient {
  /** @type {Link | undefined} */
  link
  #pool
  #isFresh

  /** @param {ClientOptions} options */
  constructor({ port, linkMs, isFresh }) {
    this.#isFresh = isFresh
    /** @type {import('undici').buildConnector.connector} */
    const connector = (_options, connected) => {
      const link = new Link({ port, delayMs: linkMs })
      this.link = link
      const failed = (/** @type {Error} */ error) => connected(error, null)
      link.once('error', failed)
      link.once('connect', () => {
        link.off('error', failed)
        connected(null, /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (link)))
      })
    }
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1, pipelining: 1, connect: connector })
  }

  /** @param {Request} request @returns {Promise<Response>} */
  async ask({ method, path, body }) {
    const response = await this.#pool.request({ method, path, body: method === 'POST' ? body : null, reset: this.#isFresh })
    return { status: response.statusCode, headers: response.headers, body: await response.body.text() }
  }

  leave() {
    void this.#pool.destroy()
    this.link?.destroy()
  }
}

const KINDS = { raw: RawClient, 'http.Agent': AgentClient, undici: UndiciClient }

/** @typedef {keyof typeof KINDS} ClientKind */

/** @param {ClientKind} kind @param {ClientOptions} options @returns {Client} */
export const newClient = (kind, options) => new KINDS[kind](options)
