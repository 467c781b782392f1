import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'

/** A complete response as its client got it. A request that gets none rejects with the error of node's client. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Whether it came on a connection that had served a request before. */
  readonly isReused: boolean
}

export interface Ask {
  readonly method?: string
  readonly headers?: Record<string, string>
}

/** A client that keeps its connections, as Go's and node's own do; it never retries. Closed with the test. */
export class KeepAliveClient {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #port: number

  constructor(port: number) {
    this.#port = port
    onTestFinished(() => this.#agent.destroy())
  }

  get(path: string, request?: Ask): Promise<Answer> {
    return ask(this.#agent, this.#port, path, request)
  }
}

/** One request on a connection of its own; the server is not asked to close it. */
export async function fresh(port: number, path: string, request?: Ask): Promise<Answer> {
  const agent = new Agent({ keepAlive: true })
  try {
    return await ask(agent, port, path, request)
  } finally {
    agent.destroy()
  }
}

function ask(agent: Agent, port: number, path: string, { method = 'GET', headers = {} }: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent }, (response) => {
      const { statusCode = 0, headers } = response
      text(response).then((body) => resolve({ status: statusCode, headers, body, isReused: asked.reusedSocket }), reject)
    })
    asked.on('error', reject)
    asked.end()
  })
}

/** How a connection ended, as its client saw it: an orderly end, or the code of an error, such as `ECONNRESET`. */
export type End = 'end' | string

/** One connection, byte by byte. It closes its own side when the server has. Closed with the test. */
export class Wire {
  readonly socket: Socket
  readonly ended: Promise<End>
  #received = ''
  #end: End | undefined

  private constructor(socket: Socket) {
    this.socket = socket
    this.ended = new Promise((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        this.#received += chunk.toString('latin1')
      })
      const end = (how: End): void => {
        this.#end ??= how
        resolve(this.#end)
      }
      socket.once('end', () => end('end'))
      socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
      socket.once('close', () => end('closed'))
    })
  }

  /** Rejects as node's socket does, with `ECONNREFUSED` where nobody listens. */
  static open(port: number): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      onTestFinished(() => void socket.destroy())
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Wire(socket))
      })
    })
  }

  get isOpen(): boolean {
    return this.#end === undefined
  }

  /** Everything that has come, as it came. */
  get received(): string {
    return this.#received
  }

  /** The responses so far, each from its status line on; the last may be incomplete. */
  get responses(): string[] {
    return this.#received === '' ? [] : this.#received.split(/(?=HTTP\/1\.1 \d{3} )/)
  }

  /** A request without a body. */
  send(path: string, headers: Record<string, string> = {}): void {
    const lines = Object.entries({ Host: 'upstream.test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
    this.socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  }

  /** Waits until `part` has come. */
  async has(part: string): Promise<void> {
    await expect.poll(() => this.#received, POLL).toContain(part)
  }
}

/** For conditions that nobody announces. The time-out only reports a hang. */
export const POLL = { interval: 5, timeout: 20_000 }

/** What refuses a connection when nobody listens. */
export const REFUSED = expect.objectContaining({ code: 'ECONNREFUSED' })
