// @ts-check
import { Agent as HttpAgent, request as requestPlain } from 'node:http'
import { connect } from 'node:http2'
import { Agent as HttpsAgent, request as requestEncrypted } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent as UndiciAgent, WebSocket } from 'undici'
import { generator } from '../support/random.mjs'

/** Clients of each kind. */
const CLIENTS = 6
/** Longest pause between two requests of a client, ms. */
const GAP_MS = 30
/** Longest time that a handler takes, ms. */
const WORK_MS = 20
/** A stream that was answered by nothing for so long is lost. */
const SILENT_MS = 10_000
const BODY = 'x'.repeat(5_000)
const GOING_AWAY = 1001
/** Of certificates that were made for the run. */
const UNKNOWN = { rejectUnauthorized: false }
const DISPATCHER = new UndiciAgent({ connect: UNKNOWN })

/**
 * What clients that never retry have seen.
 * @typedef {object} Tally
 * @property {number} answered
 * @property {number} ended streams that ended as they should
 * @property {string[]} failed
 */

/**
 * Continuous load on a proxy, by clients that never send a request twice: kept-alive GET and POST,
 * a new connection for each GET, HTTP/2, event streams and WebSockets.
 */
export class Load {
  /** @type {Record<string, Tally>} */
  tallies = {}
  #isOver = false
  /** @type {Promise<void>[]} */
  #clients = []
  #port
  #http2Port
  #random
  #isEncrypted
  #hasWebSockets

  /** @param {{ port: number, http2Port: number, seed: number, isEncrypted?: boolean, hasWebSockets?: boolean }} options */
  constructor({ port, http2Port, seed, isEncrypted = false, hasWebSockets = true }) {
    this.#hasWebSockets = hasWebSockets
    this.#isEncrypted = isEncrypted
    this.#random = generator(seed)
    this.#port = port
    this.#http2Port = http2Port
  }

  begin() {
    const Agent = this.#isEncrypted ? HttpsAgent : HttpAgent
    /** @type {Record<string, () => (tally: Tally) => Promise<void>>} */
    const kinds = {
      'GET, kept alive': () => this.#http1('GET', new Agent({ keepAlive: true, maxSockets: 1, ...UNKNOWN })),
      'POST, kept alive': () => this.#http1('POST', new Agent({ keepAlive: true, maxSockets: 1, ...UNKNOWN })),
      'GET, fresh connections': () => this.#http1('GET', new Agent({ keepAlive: false, ...UNKNOWN })),
      'HTTP/2': () => this.#http2(),
      'event streams': () => (tally) => this.#events(tally),
      ...(this.#hasWebSockets && { WebSocket: () => (tally) => this.#webSocket(tally) }),
    }
    for (const [kind, make] of Object.entries(kinds)) {
      const tally = { answered: 0, ended: 0, failed: [] }
      this.tallies[kind] = tally
      for (let i = 0; i < CLIENTS; i++) this.#clients.push(this.#repeat(make(), tally))
    }
  }

  /** Resolves when every client has had its last answer. */
  async end() {
    this.#isOver = true
    await Promise.all(this.#clients)
  }

  /** @param {(tally: Tally) => Promise<void>} once @param {Tally} tally */
  async #repeat(once, tally) {
    while (!this.#isOver) {
      try {
        await once(tally)
      } catch (error) {
        tally.failed.push(error instanceof Error ? error.message : String(error))
      }
      await sleep(this.#random() * GAP_MS)
    }
  }

  /** @param {'GET' | 'POST'} method @param {HttpAgent} agent @returns {(tally: Tally) => Promise<void>} */
  #http1(method, agent) {
    let n = 0
    return async (tally) => {
      const path = `/echo?n=${++n}&ms=${this.#random() < 0.5 ? 0 : Math.round(this.#random() * WORK_MS)}`
      const body = await new Promise((/** @type {(body: string) => void} */ resolve, reject) => {
        const headers = method === 'POST' ? { 'Content-Length': BODY.length } : {}
        const request = this.#request({ agent, host: '127.0.0.1', port: this.#port, method, path, headers })
        request.on('error', (error) =>
          reject(new Error(`${request.reusedSocket ? 'on a kept connection' : 'on a new one'}: ${error.message}`)),
        )
        request.on('response', (response) => {
          let received = ''
          response.setEncoding('utf8').on('data', (text) => (received += text))
          response.on('error', reject)
          response.on('end', () => (response.statusCode === 200 ? resolve(received) : reject(new Error(`status ${response.statusCode}`))))
        })
        request.end(method === 'POST' ? BODY : undefined)
      })
      const expected = `${n} ${method === 'POST' ? BODY.length : 0}`
      if (body !== expected) throw new Error(`answered ${body}, expected ${expected}`)
      tally.answered++
    }
  }

  /** A session with streams at once; a new one when its server has told it to go. @returns {(tally: Tally) => Promise<void>} */
  #http2() {
    /** @type {import('node:http2').ClientHttp2Session | undefined} */
    let session
    let n = 0
    return async (tally) => {
      if (!session || session.closed || session.destroyed) {
        const made = connect(`${this.#isEncrypted ? 'https' : 'http'}://127.0.0.1:${this.#http2Port}`, UNKNOWN)
        made.on('goaway', () => made.close())
        made.on('error', () => undefined)
        session = made
      }
      const current = session
      const streams = [++n, ++n, ++n].map(
        (n) =>
          new Promise((/** @type {(body: string) => void} */ resolve, reject) => {
            const stream = current.request({ ':path': `/echo?n=${n}&ms=${Math.round(this.#random() * WORK_MS)}` })
            let status = 0
            let body = ''
            stream.on('response', (headers) => (status = Number(headers[':status'])))
            stream.setEncoding('utf8').on('data', (text) => (body += text))
            stream.on('error', reject)
            stream.on('close', () =>
              status === 200 && body === `${n} 0`
                ? resolve(body)
                : reject(new Error(`status ${status}, body ${body}, reset ${stream.rstCode}`)),
            )
          }),
      )
      for (const settled of await Promise.allSettled(streams)) {
        if (settled.status === 'fulfilled') tally.answered++
        else tally.failed.push(String(settled.reason?.message))
      }
      if (this.#isOver) current.close()
    }
  }

  /** One stream of events, to its end. @param {Tally} tally */
  #events(tally) {
    return new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
      const request = this.#request({ agent: false, host: '127.0.0.1', port: this.#port, path: '/events', ...UNKNOWN })
      const silent = this.#whenSilent(() => request.destroy(new Error('silent')))
      let received = ''
      const watch = setInterval(() => {
        // The load is over: the client leaves, which no server is to blame for.
        if (this.#isOver) finish(resolve)
      }, 100)
      const finish = (/** @type {() => void} */ how) => {
        clearInterval(watch)
        silent.stop()
        request.destroy()
        how()
      }
      request.on('error', (error) => finish(() => reject(error)))
      request.on('response', (response) => {
        if (response.statusCode !== 200) return finish(() => reject(new Error(`status ${response.statusCode}`)))
        response.setEncoding('utf8').on('data', (text) => {
          silent.heard()
          received = (received + text).slice(-200)
        })
        response.on('error', (error) => finish(() => reject(new Error(`broken off: ${error.message}`))))
        response.on('end', () => {
          const isWhole = response.complete && received.endsWith('event: end\ndata: bye\n\n')
          if (isWhole) tally.ended++
          finish(isWhole ? resolve : () => reject(new Error(`ended in the middle: ${JSON.stringify(received.slice(-40))}`)))
        })
      })
      request.end()
    })
  }

  /** One WebSocket, with an echo now and then, to its end. @param {Tally} tally */
  #webSocket(tally) {
    return new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
      const socket = new WebSocket(`${this.#isEncrypted ? 'wss' : 'ws'}://127.0.0.1:${this.#port}/ws`, { dispatcher: DISPATCHER })
      const silent = this.#whenSilent(() => finish(() => reject(new Error('silent'))))
      let sent = 0
      let received = 0
      const talk = setInterval(() => {
        if (this.#isOver) finish(resolve)
        else if (socket.readyState === WebSocket.OPEN) socket.send(String(sent++))
      }, 50)
      const finish = (/** @type {() => void} */ how) => {
        clearInterval(talk)
        silent.stop()
        socket.onclose = socket.onerror = null
        socket.close()
        how()
      }
      socket.onmessage = () => {
        received++
        silent.heard()
      }
      socket.onerror = () => finish(() => reject(new Error('could not connect')))
      socket.onclose = ({ code, reason }) => {
        if (code === GOING_AWAY) tally.ended++
        finish(code === GOING_AWAY ? resolve : () => reject(new Error(`closed with ${code} ${reason} after ${received} messages`)))
      }
    })
  }

  /** @param {import('node:https').RequestOptions} options */
  #request(options) {
    return this.#isEncrypted ? requestEncrypted(options) : requestPlain(options)
  }

  /** @param {() => void} isSilent */
  #whenSilent(isSilent) {
    let timer = setTimeout(isSilent, SILENT_MS)
    return {
      heard: () => {
        clearTimeout(timer)
        timer = setTimeout(isSilent, SILENT_MS)
      },
      stop: () => clearTimeout(timer),
    }
  }
}
