// @ts-check
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { generator } from '../support/random.mjs'
import { Connections } from './connections.mjs'
import { SendAgain } from './http2-client.mjs'
import { wallTime } from './link.mjs'
import { openStream, openWebSocket } from './stream-client.mjs'
import { GOING_AWAY, LAST_TOKEN, TOKENS } from './works.mjs'

/**
 * Clients of what lasts, in the place of a crowd of {@link import('./crowd.mjs').Crowd}. What is
 * lost, by their own record:
 *
 * - `events`: an event that never came, or that came twice, although the client went on elsewhere
 *   with `Last-Event-ID`. A stream that was broken off and whose events all came is `broken` and
 *   not lost: that is what the id is for.
 * - `stream`: the answer of a model that was asked for on an accepted connection and did not come
 *   whole, with every token and the last one.
 * - `websocket`: a message that was sent before the client had heard of a close as going away, and
 *   that has no echo; and an upgrade that was asked for on an accepted connection and not answered.
 *   Messages that crossed such a close on their way are lost as well, and counted apart as
 *   `crossed`: after its close frame a server may send nothing more.
 *
 * A connection that is refused is no loss, and a request over HTTP/2 about which nothing was done
 * is to be sent again.
 */

/** Longest pause between an echo and the next message; the shortest and the longest life of a connection that its client leaves. */
const GAP_MS = 60
const LIFE_MS = { least: 300, most: 900 }
/** In so long all clients of models have asked. */
const SPREAD_MS = 1000
/** 1012 is for a server that starts again. */
const GOODBYES = [GOING_AWAY, 1012]

/** @typedef {Omit<import('./crowd.mjs').CrowdOptions, 'client' | 'method' | 'forObjects' | 'mayReject'> & { method: 'events' | 'stream' | 'websocket' }} StreamsOptions */

/** @typedef {{ index: number, isFresh: boolean, port: number, random: () => number }} Stand */

export class Streams {
  isCalm = false
  /** @type {Omit<import('./crowd.mjs').Ledger, 'auditIds'> & { auditIds: string[], broken: number, crossed: number }} */
  ledger = {
    asked: 0,
    answered: 0,
    rejected: 0,
    lost: [],
    refused: 0,
    again: 0,
    givenUp: 0,
    told: 0,
    closedIdle: 0,
    auditIds: [],
    broken: 0,
    crossed: 0,
  }
  #options
  #connections = new Connections()
  #over = new AbortController()
  #unserved
  #done
  /** @type {() => void} */
  #allServed = () => {}
  /** Resolves when every client has had something of an answer. @type {Promise<void>} */
  allServed = new Promise((resolve) => (this.#allServed = resolve))

  /** @param {StreamsOptions} options */
  constructor(options) {
    this.#options = options
    // Each client has one.
    setMaxListeners(0, this.#over.signal)
    const { fresh, kept, method, ports, seed } = options
    const clients = Array.from({ length: fresh + kept }, (_, index) => index)
    this.#unserved = new Set(clients)
    const run = { events: this.#events, stream: this.#models, websocket: this.#echoes }[method].bind(this)
    this.#done = Promise.all(
      clients.map((index) => run({ index, isFresh: index < fresh, port: ports[0], random: generator(seed + index) })),
    )
  }

  /** @param {readonly number[] | undefined} accepted */
  settle(accepted) {
    this.#connections.mark(this.ledger.lost, accepted)
    return this.ledger
  }

  async stop() {
    this.#over.abort()
    await this.#done
  }

  get #isOver() {
    return this.#over.signal.aborted
  }

  /** @param {Stand} stand */
  async #events(stand) {
    /** @type {number | undefined} */
    let last
    while (!this.#isOver) {
      /** @type {import('./link.mjs').Link | undefined} */
      let link
      const heard = (/** @type {number} */ id) => {
        this.#served(stand)
        if (last !== undefined && id > last + 1) this.#lose(stand, link, 'unanswered', `events ${last + 1} to ${id - 1} never came`)
        if (last !== undefined && id <= last) this.#lose(stand, link, 'wrong answer', `event ${id} came after ${last}`)
        last = id
      }
      /** @type {Record<string, string>} */
      const headers = last === undefined ? {} : { 'last-event-id': String(last) }
      const exchange = this.#open(
        stand,
        '/events',
        headers,
        eventsOf(({ id }) => id !== undefined && heard(Number(id))),
      )
      link = exchange.link
      let hasLeft = false
      const leave = () => {
        hasLeft = true
        exchange.leave()
      }
      const timer = stand.isFresh ? setTimeout(leave, lifeOf(stand)) : undefined
      this.#over.signal.addEventListener('abort', leave)
      const { status, isWhole, error } = await exchange.over
      clearTimeout(timer)
      this.#over.signal.removeEventListener('abort', leave)
      this.#note(stand, link)
      if (status === 200 && (isWhole || hasLeft)) this.ledger.answered++
      if (hasLeft) continue
      if (!link.isConnected) this.ledger.refused++
      else if (error instanceof SendAgain) this.ledger.again++
      else if (status === 200 && isWhole) this.ledger.told++
      else this.ledger.broken++
      await this.#move(stand)
    }
  }

  /** @param {Stand} stand */
  async #models(stand) {
    for (await sleep(stand.random() * SPREAD_MS); !this.#isOver; ) {
      const [first] = this.#options.ports
      const isAtFirst = stand.port === first
      /** @type {string[]} */
      const tokens = []
      const exchange = this.#open(
        stand,
        '/stream',
        {},
        eventsOf(({ data }) => {
          if (data !== undefined) tokens.push(data)
          this.#served(stand)
        }),
      )
      // What was begun at the server that ends is waited for, and nothing else.
      const leave = () => isAtFirst || exchange.leave()
      this.#over.signal.addEventListener('abort', leave)
      const { status, isWhole, error } = await exchange.over
      this.#over.signal.removeEventListener('abort', leave)
      const { link } = exchange
      this.#note(stand, link)
      if (!isAtFirst && this.#isOver) return
      const isAll = tokens.length === TOKENS + 1 && tokens.every((token, at) => token === (at < TOKENS ? String(at + 1) : LAST_TOKEN))
      if (status === 200 && isWhole && isAll) {
        this.ledger.answered++
        await sleep(stand.random() * GAP_MS)
        continue
      }
      if (!link.isConnected) this.ledger.refused++
      else if (error instanceof SendAgain) this.ledger.again++
      else this.#lose(stand, link, 'unanswered', `${status ?? 'no answer'}, ${tokens.length} tokens, ${isWhole ? 'ended' : 'broken off'}`)
      await this.#move(stand)
    }
  }

  /** @param {Stand} stand */
  async #echoes(stand) {
    for (let count = 0; !this.#isOver; ) {
      this.ledger.asked++
      const { link, socket } = openWebSocket(this.#where(stand))
      const closed = new Promise((/** @type {(code: number) => void} */ resolve) => socket.once('close', resolve))
      let answered = 'no answer'
      socket.once('unexpected-response', (_request, { statusCode }) => {
        answered = String(statusCode)
        socket.terminate()
      })
      const opened = await Promise.race([
        new Promise((/** @type {(isOpen: true) => void} */ resolve) => socket.once('open', () => resolve(true))),
        closed.then(() => false),
      ])
      this.#note(stand, link)
      if (!opened) {
        if (link.isConnected) this.#lose(stand, link, answered === '503' ? 'refused untold' : 'unanswered', `an upgrade: ${answered}`)
        else this.ledger.refused++
        await this.#move(stand)
        continue
      }
      this.ledger.answered++
      const until = stand.isFresh ? performance.now() + lifeOf(stand) : Number.POSITIVE_INFINITY
      const isOpen = () => socket.readyState === socket.OPEN
      while (isOpen() && !this.#isOver && performance.now() < until) {
        const text = `${stand.index} ${count++}`
        this.ledger.asked++
        const echoed = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))))
        socket.send(text)
        const echo = await Promise.race([echoed, closed])
        if (echo === text) {
          this.ledger.answered++
          this.#served(stand)
        } else {
          const isGoodbye = typeof echo === 'number' && GOODBYES.includes(echo)
          if (isGoodbye) this.ledger.crossed++
          this.#lose(stand, link, 'unanswered', `a message without its echo: ${echo}`)
        }
        await Promise.race([sleep(stand.random() * GAP_MS), closed])
      }
      const isLeaving = isOpen()
      // A client that leaves waits for what its server says to that.
      if (isLeaving) socket.close(1000)
      const code = await closed
      if (isLeaving) continue
      if (GOODBYES.includes(code)) this.ledger.told++
      else this.ledger.closedIdle++
      await this.#move(stand)
    }
  }

  /** @param {Stand} stand @param {string} path @param {Record<string, string>} headers @param {(text: string) => void} heard */
  #open(stand, path, headers, heard) {
    this.ledger.asked++
    return openStream(this.#where(stand), path, headers, heard)
  }

  /** @param {Stand} stand */
  #where({ port }) {
    const { linkMs, protocol } = this.#options
    return { port, linkMs, protocol }
  }

  /** @param {Stand} stand */
  #served({ index }) {
    if (this.#unserved.delete(index) && this.#unserved.size === 0) this.#allServed()
  }

  /** @param {Stand} stand @param {import('./link.mjs').Link} link */
  #note({ port }, link) {
    if (port === this.#options.ports[0]) this.#connections.note(link)
  }

  /** To the second server, for good. @param {Stand} stand */
  async #move(stand) {
    stand.port = this.#options.ports[1]
    await sleep(stand.random() * GAP_MS)
  }

  /** @param {Stand} stand @param {import('./link.mjs').Link | undefined} link @param {import('./crowd.mjs').Loss['kind']} kind @param {string} why */
  #lose({ index, port }, link, kind, why) {
    const { method, ports } = this.#options
    this.ledger.lost.push({
      client: index,
      request: method,
      kind,
      why: `${wallTime()} ${why}`,
      port: link?.localPort ?? 0,
      isFromSecond: port !== ports[0],
      history: link?.history ?? [],
    })
  }
}

const lifeOf = (/** @type {Stand} */ { random }) => LIFE_MS.least + random() * (LIFE_MS.most - LIFE_MS.least)

/** Reads an event stream: one event for each empty line. @param {(event: Record<string, string>) => void} heard @returns {(text: string) => void} */
function eventsOf(heard) {
  let rest = ''
  return (text) => {
    const parts = (rest + text).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts)
      heard(
        Object.fromEntries(
          part.split('\n').flatMap((line) => {
            const [, name, value] = /^(\w+): (.*)$/.exec(line) ?? []
            return name === undefined ? [] : [[name, value ?? '']]
          }),
        ),
      )
  }
}
