// @ts-check
import { request as httpRequest } from 'node:http'
import { connect, constants } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { WebSocket } from 'ws'
import { SendAgain } from './http2-client.mjs'
import { dial, isEncrypted, isHttp2, schemeOf } from './protocols.mjs'

/**
 * @typedef {{ port: number, linkMs: number, protocol: import('./protocols.mjs').Protocol }} Where
 * @typedef {object} Outcome of a response that streams
 * @property {number | undefined} status undefined when no head came
 * @property {boolean} isWhole whether it came to the end that its framing has
 * @property {unknown} [error] {@link SendAgain} when nothing was done about the request, and the client knows
 *
 * @typedef {object} Exchange
 * @property {import('./link.mjs').Link} link
 * @property {Promise<Outcome>} over
 * @property {() => void} leave
 */

/**
 * Asks for a response that streams, on a connection of its own.
 * @param {Where} where @param {string} path @param {Record<string, string>} headers @param {(text: string) => void} heard
 * @returns {Exchange}
 */
export const openStream = (where, path, headers, heard) =>
  isHttp2(where.protocol) ? openOverHttp2(where, path, headers, heard) : openOverHttp1(where, path, headers, heard)

/** @type {typeof openStream} */
function openOverHttp1(where, path, headers, heard) {
  const { link, stream } = dial(where)
  const ask = isEncrypted(where.protocol) ? httpsRequest : httpRequest
  const request = ask({ createConnection: () => /** @type {import('node:net').Socket} */ (stream), host: 'localhost', path, headers })
  const over = new Promise((/** @type {(outcome: Outcome) => void} */ resolve) => {
    /** @type {number | undefined} */
    let status
    request.on('error', (error) => resolve({ status, isWhole: false, error }))
    request.on('response', (response) => {
      status = response.statusCode
      response.setEncoding('utf8').on('data', heard)
      response.on('error', (error) => resolve({ status, isWhole: false, error }))
      response.on('close', () => resolve({ status, isWhole: response.complete }))
    })
    request.end()
  })
  return { link, over, leave: () => request.destroy() }
}

/** @type {typeof openStream} */
function openOverHttp2(where, path, headers, heard) {
  const { link, stream } = dial(where)
  const session = connect(`${schemeOf(where.protocol)}//localhost`, { createConnection: () => stream })
  /** @type {number | undefined} */
  let lastStream
  session.on('error', () => {})
  session.on('goaway', (_code, last) => (lastStream = Math.min(last, lastStream ?? last)))
  session.on('close', () => stream.destroy())
  const request = session.request({ ':path': path, ...headers })
  const over = new Promise((/** @type {(outcome: Outcome) => void} */ resolve) => {
    /** @type {number | undefined} */
    let status
    let hasEnded = false
    /** @type {unknown} */
    let error
    request.on('response', (given) => (status = Number(given[':status'])))
    request.setEncoding('utf8').on('data', heard)
    request.on('end', () => (hasEnded = true))
    request.on('error', (given) => (error = given))
    request.on('close', () => {
      const { id, rstCode } = request
      const isUntouched =
        rstCode === constants.NGHTTP2_REFUSED_STREAM || (lastStream !== undefined && (id === undefined || id > lastStream))
      const isWhole = hasEnded && rstCode === constants.NGHTTP2_NO_ERROR && status !== undefined
      resolve({ status, isWhole, error: isUntouched ? new SendAgain(String(error ?? rstCode)) : error })
      session.close()
    })
  })
  return { link, over, leave: () => session.destroy() }
}

/** @param {Where} where */
export function openWebSocket(where) {
  const { link, stream } = dial(where)
  const socket = new WebSocket(`${isEncrypted(where.protocol) ? 'wss' : 'ws'}://localhost/ws`, {
    createConnection: () => /** @type {import('node:net').Socket} */ (stream),
    // Its own frames are what is looked at.
    perMessageDeflate: false,
  })
  socket.on('error', () => {})
  return { link, socket }
}
