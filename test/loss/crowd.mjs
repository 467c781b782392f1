// @ts-check
import { generator } from '../support/random.mjs'
import { GivenUp, lanesOf, newClient } from './clients.mjs'
import { Connections } from './connections.mjs'
import { requestForObject } from './echoes.mjs'
import { SendAgain } from './http2-client.mjs'
import { wallTime } from './link.mjs'
import { UPLOAD } from './works.mjs'

/**
 * What the clients know, and no other record: what each of them asked, and what came back. A request is **lost** when a client has written it on a
 * connection that the kernel had accepted (its connect succeeded) and no complete and correct response came, or when it was refused (503) on a
 * connection that had never been told to close. Connections that are reset in the accept queue count: their client had connected and written.
 * A connection that is refused at connect is no loss: nothing was written, and the client goes to the other replica. A 429 with `Retry-After` is
 * the answer of retry-after mode, and counted apart; in refuse mode it is a loss.
 *
 * Over HTTP/2 a client is told by a GOAWAY frame, at any time. It asks nothing more on that connection and goes to the other replica; what it has on its
 * way up to the frame's number it is owed, like an answer on a connection that was told by the answer before. What is above the number, was
 * refused with REFUSED_STREAM, or was never sent because of the frame, is **to be sent again**: nothing was done about it, and the client knows so,
 * as it does when a connection is refused. These clients do not send it again; they count it.
 * @typedef {object} Ledger
 * @property {number} asked requests that a client wanted to send
 * @property {number} answered by a complete response with the right body
 * @property {number} rejected by a complete 429 that says when to come back, in the mode that promises it
 * @property {Loss[]} lost
 * @property {number} refused connections that could not be made
 * @property {number} again requests over HTTP/2 that are to be sent again
 * @property {number} givenUp requests that their client's own library gave up when it was told, although the server answers them
 * @property {number} told clients that moved because a response said that its connection closes, or because of a GOAWAY
 * @property {readonly string[]} auditIds under which the first replica has answered, where it says so
 * @property {number} [broken] event streams that did not come to their end, of which the client resumed the rest elsewhere
 * @property {number} [crossed] of the lost, messages of a WebSocket that was closed as going away while they were on their way
 * @property {number} closedIdle clients that moved because their connection was closed while they had nothing to ask
 */

/**
 * @typedef {object} Loss
 * @property {number} client
 * @property {string} request
 * @property {'unanswered' | 'refused untold' | 'wrong answer'} kind
 * @property {string} why
 * @property {number} port of the client, as the server saw it
 * @property {boolean} isFromSecond whether it was the replica that stays
 * @property {boolean} [neverAccepted] the server never had the connection; known when the server has ended
 * @property {readonly string[]} history of its connection
 */

/**
 * @typedef {object} CrowdOptions
 * @property {import('./protocols.mjs').Protocol} protocol
 * @property {import('./clients.mjs').ClientKind} client
 * @property {'GET' | 'POST' | 'upload'} method
 * @property {boolean} forObjects whether they ask for objects of a resource
 * @property {number} linkMs delay of the link, each way
 * @property {boolean} mayReject whether 429 with `Retry-After` is an answer
 * @property {number} fresh clients that make a new connection for each request; the others keep theirs
 * @property {number} kept
 * @property {number} seed
 * @property {readonly [first: number, second: number]} ports Clients send to the first until they are told to leave it or find it closed, then
 *   to the second, for good.
 */

/**
 * Longest pause between an answer and the next request; the other one while nothing is expected to
 * happen.
 */
const GAP_MS = 60
export const CALM_GAP_MS = 600
/** Between uploads, of which half are under way at a time then. */
const UPLOAD_GAP_MS = 3000

/**
 * Where a client is.
 * @typedef {object} Stand
 * @property {number} index
 * @property {boolean} isFresh
 * @property {number} port
 * @property {import('./clients.mjs').Client} client
 */

/** @typedef {Omit<Ledger, 'auditIds'> & { auditIds: string[] }} OpenLedger */

/** Clients that never retry, and go on until they are told to stop. */
export class Crowd {
  /** @type {OpenLedger} */
  ledger = { asked: 0, answered: 0, rejected: 0, lost: [], refused: 0, again: 0, givenUp: 0, told: 0, closedIdle: 0, auditIds: [] }
  /** Requests on their way, or with the server. */
  waiting = 0
  /** Whether they ask ten times less often. */
  isCalm = false
  #options
  #done
  #isOver = false
  #unserved
  #connections = new Connections()
  /** @type {() => void} */
  #allServed = () => {}

  /** Resolves when every client has had an answer. @type {Promise<void>} */
  allServed = new Promise((resolve) => (this.#allServed = resolve))

  /** @param {CrowdOptions} options */
  constructor(options) {
    this.#options = options
    const clients = Array.from({ length: options.fresh + options.kept }, (_, client) => client)
    this.#unserved = new Set(clients)
    this.#done = Promise.all(clients.map((client) => this.#run(client)))
  }

  /**
   * Closes the books, when the first replica has ended and so has said which connections it had.
   * @param {readonly number[] | undefined} accepted the clients' ports
   */
  settle(accepted) {
    this.#connections.mark(this.ledger.lost, accepted)
    return this.ledger
  }

  /** Resolves when every client has finished what it has begun. */
  async stop() {
    this.#isOver = true
    await this.#done
  }

  /** @param {number} index */
  async #run(index) {
    const { client: kind, fresh, method, ports } = this.#options
    const isFresh = index < fresh
    const stand = { index, isFresh, port: ports[0], client: this.#newClient(ports[0], isFresh) }
    const lanes = isFresh || method === 'upload' ? 1 : lanesOf(kind)
    await Promise.all(Array.from({ length: lanes }, (_, lane) => this.#ride(stand, lane, lanes)))
    stand.client.leave()
  }

  /** @param {number} port @param {boolean} isFresh */
  #newClient(port, isFresh) {
    const { client, protocol, linkMs } = this.#options
    return newClient(client, { protocol, port, linkMs, isFresh })
  }

  /**
   * Asks one request after the other, beside the client's other lanes.
   * @param {Stand} stand @param {number} lane @param {number} lanes
   */
  async #ride(stand, lane, lanes) {
    const { forObjects, mayReject, method, ports, seed } = this.#options
    const { ledger } = this
    const { index, isFresh } = stand
    const random = generator(seed + index + lane * 1000)
    /** @param {import('./clients.mjs').Client} from another lane may have moved from it before */
    const move = (from) => {
      if (stand.client !== from) return false
      from.leave()
      stand.port = ports[1]
      stand.client = this.#newClient(ports[1], isFresh)
      return true
    }
    const moveIfTold = () => {
      if (!isFresh && stand.client.isTold && move(stand.client)) ledger.told++
    }

    for (let count = lane; !this.#isOver; count += lanes) {
      await pause(random() * (method === 'upload' ? UPLOAD_GAP_MS : this.isCalm ? CALM_GAP_MS : GAP_MS))
      moveIfTold()
      if (stand.client.link?.isOver && !isFresh && move(stand.client)) ledger.closedIdle++
      const { client, port } = stand
      const { request, answer, isAnswer } = method === 'upload' ? newUpload(count) : newRequest(method, count, random, forObjects)
      ledger.asked++
      const outcome = await this.#ask(client, request)
      const { link } = client
      if (link && port === ports[0]) this.#connections.note(link)
      const lose = (/** @type {Loss['kind']} */ kind, /** @type {string} */ why) =>
        ledger.lost.push({
          client: index,
          request: `${method} ${request.path}`,
          kind,
          why: `${wallTime()} ${why}`,
          port: link?.localPort ?? 0,
          isFromSecond: port === ports[1],
          history: link?.history ?? [],
        })

      if ('error' in outcome) {
        const { error } = outcome
        if (!link?.isConnected) ledger.refused++
        else if (error instanceof SendAgain) ledger.again++
        else if (error instanceof GivenUp) ledger.givenUp++
        else lose('unanswered', String(error))
        moveIfTold()
        move(client)
        continue
      }
      const { response } = outcome
      if (isAnswer(response)) {
        ledger.answered++
        // Over HTTP/2 undici has lists of values.
        const { 'audit-id': id } = response.headers
        if (id !== undefined) ledger.auditIds.push(String(id))
        this.#unserved.delete(index)
        if (this.#unserved.size === 0) this.#allServed()
        moveIfTold()
        continue
      }
      if (mayReject && response.status === 429 && 'retry-after' in response.headers) ledger.rejected++
      else if (response.status === 503 || response.status === 429) lose('refused untold', String(response.status))
      else lose('wrong answer', `${response.status} ${response.body.slice(0, 80)} instead of ${answer}`)
      move(client)
    }
  }

  /**
   * @param {import('./clients.mjs').Client} client @param {import('./clients.mjs').Request} request
   * @returns {Promise<{ response: import('./clients.mjs').Response } | { error: unknown }>}
   */
  async #ask(client, request) {
    this.waiting++
    try {
      return { response: await client.ask(request) }
    } catch (error) {
      return { error }
    } finally {
      this.waiting--
    }
  }
}

const BODY_BYTES_MAX = 20_000
/**
 * An object comes back whole. An answer of 16 KiB or more makes node pause its parser while it is
 * being written; a body that comes then destroys the connection (HPE_PAUSED): decision 104.
 */
const OBJECT_BYTES_MAX = 15_000

/**
 * Mostly quick, some that take a while.
 * @param {'GET' | 'POST'} method @param {number} count @param {() => number} random @param {boolean} forObjects
 * @returns {ReturnType<typeof requestForObject>}
 */
function newRequest(method, count, random, forObjects) {
  const ms = random() < 0.25 ? Math.trunc(random() * 30) : 0
  const bytes = method === 'POST' ? Math.trunc(random() * (forObjects ? OBJECT_BYTES_MAX : BODY_BYTES_MAX)) : 0
  if (forObjects) return requestForObject(method, count, ms, bytes)
  const answer = `${count} ${bytes}`
  return {
    request: { method, path: `/echo?n=${count}&ms=${ms}`, body: 'x'.repeat(bytes) },
    answer,
    isAnswer: ({ status, body }) => status === 200 && body === answer,
  }
}

const uploaded = 'x'.repeat(UPLOAD.bytes)

/** A body that is sent in pieces, over two seconds. @param {number} count @returns {ReturnType<typeof requestForObject>} */
function newUpload(count) {
  const answer = `${count} ${UPLOAD.bytes}`
  return {
    request: { method: 'POST', path: `/echo?n=${count}`, body: uploaded, pace: UPLOAD },
    answer,
    isAnswer: ({ status, body }) => status === 200 && body === answer,
  }
}

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))
