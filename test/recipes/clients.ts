import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { WebSocket } from 'undici'
import { onTestFinished } from 'vitest'
import { answerOf, H2Client } from '../support/h2-client.ts'
import { RawClient } from '../support/raw-client.ts'
import { socketIo, subscription } from './library-clients.mjs'

/** The clients of recipes: one connection each, over HTTP/1.1 or HTTP/2, and one watch each. */

export interface Connection {
  /** Resolves with the status and the body, or with why there is none. */
  ask(path: string): Promise<string>
  /** Whether the server has asked it to leave. */
  readonly isNotified: boolean
  /** How it ended, once it has. */
  readonly ended: Promise<string>
  /** A response as it comes. */
  stream(path: string): Stream
}

export interface Stream {
  readonly begun: Promise<unknown>
  /** `whole` and its text, or how it broke. */
  readonly ended: Promise<string>
}

/** A request that was not looked at: its client sends it to another server (RFC 9113, 8.7). */
export const ELSEWHERE = 'refused, to be sent elsewhere'

class Http1Connection implements Connection {
  readonly #client: RawClient
  isNotified = false

  constructor(socket: Socket) {
    this.#client = RawClient.on(socket)
    onTestFinished(() => this.#client.abort())
  }

  get ended(): Promise<string> {
    return this.#client.closed()
  }

  async ask(path: string): Promise<string> {
    try {
      const { status, body, headers } = await this.#client.ask('GET', path)
      this.isNotified ||= headers['connection'] === 'close'
      return `${status} ${body}`
    } catch (thrown) {
      return (thrown as Error).message
    }
  }

  stream(path: string): Stream {
    this.#client.request('GET', path)
    const begun = this.#client.until('the first event', () => this.#client.received.includes('first'))
    const ended = begun.then(() => this.#client.response()).then(({ body }) => `whole ${body}`)
    return { begun, ended: ended.catch((error: Error) => error.message) }
  }
}

class Http2Connection implements Connection {
  readonly #client: H2Client

  constructor(client: H2Client) {
    this.#client = client
  }

  get isNotified(): boolean {
    return this.#client.goaways.length > 0
  }

  get ended(): Promise<string> {
    return this.#client.closed.then(() => (this.isNotified ? 'ended' : 'reset'))
  }

  async ask(path: string): Promise<string> {
    const { status, body, code } = await this.#client.get(path)
    if (code === constants.NGHTTP2_REFUSED_STREAM && this.isNotified) return ELSEWHERE
    return code === 0 ? `${status} ${body}` : `broken off with ${code}`
  }

  stream(path: string): Stream {
    const stream = this.#client.stream({ ':path': path }, true)
    const ended = answerOf(stream).then(({ body, code }) => (code === 0 ? `whole ${body}` : `broken off with ${code}`))
    return { begun: once(stream, 'data'), ended }
  }
}

const socketTo = async (url: URL): Promise<Socket> => {
  const { hostname: host, port, protocol } = url
  const place = { host, port: Number(port), noDelay: true, allowHalfOpen: true }
  if (protocol === 'http:') {
    const socket = connectTcp(place)
    await once(socket, 'connect')
    return socket
  }
  const socket = connectTls({ ...place, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  return socket
}

export type Wire = 'HTTP/1.1' | 'HTTP/2'

/** Rejects with the system's error where no server listens. */
export const connectionTo = async (url: string, wire: Wire): Promise<Connection> =>
  wire === 'HTTP/1.1' ? new Http1Connection(await socketTo(new URL(url))) : new Http2Connection(await H2Client.open(url))

export interface Chat {
  readonly messages: string[]
  readonly closed: Promise<{ readonly code: number; readonly reason: string; readonly wasClean: boolean }>
}

/** A WebSocket; resolves when the first message is there. */
export async function chat(url: string): Promise<Chat> {
  const client = new WebSocket(url.replace('http', 'ws'))
  onTestFinished(() => client.close())
  const messages: string[] = []
  const closed = new Promise<Awaited<Chat['closed']>>((resolve) =>
    client.addEventListener('close', ({ code, reason, wasClean }) => resolve({ code, reason, wasClean })),
  )
  const first = new Promise<void>((resolve) =>
    client.addEventListener('message', ({ data }) => {
      messages.push(String(data))
      resolve()
    }),
  )
  const failed = closed.then(({ code }) => {
    throw new Error(`closed with ${code} before the first message`)
  })
  await Promise.race([first, failed])
  failed.catch(() => undefined)
  return { messages, closed }
}

/** A watch that has begun, and how it ended: what a recipe is to end it with. */
export interface Watched {
  readonly expected: unknown
  readonly ended: Promise<unknown>
}

const GOODBYE = /^whole .*data: first\n\n.*event: last\n(id: \d+\n)?data: bye\n\n$/s

export type WatchKind = 'events' | 'WebSocket' | 'socket.io' | 'tRPC'

export const watches: Readonly<Record<WatchKind, (url: string, wire: Wire) => Promise<Watched>>> = {
  events: async (url, wire) => {
    const { begun, ended } = (await connectionTo(url, wire)).stream('/events')
    await begun
    return { expected: 'whole, with its goodbye', ended: ended.then((text) => (GOODBYE.test(text) ? 'whole, with its goodbye' : text)) }
  },
  WebSocket: async (url) => {
    const { messages, closed } = await chat(`${url}/chat`)
    const expected = { code: 1001, reason: 'the server is shutting down', wasClean: true, messages: ['first'] }
    return { expected, ended: closed.then((how) => ({ ...how, messages })) }
  },
  'socket.io': async (url) => {
    const { first, disconnected, comesBack, leave } = socketIo(url, 'websocket')
    onTestFinished(leave)
    await first
    const ended = async (): Promise<string> => {
      const why = await disconnected
      await comesBack
      return why
    }
    return { expected: 'transport close', ended: ended() }
  },
  tRPC: async (url) => {
    const { values, begun, completed, leave } = subscription(url)
    onTestFinished(leave)
    await begun
    return { expected: ['first', 'last'], ended: completed.then(() => values) }
  },
}
