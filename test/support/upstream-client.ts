import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'

/**
 * A complete response as its client got it. A request that gets none rejects with the error of
 * node's client.
 */
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

/**
 * A client that keeps its connections, as Go's and node's own do; it never retries. Closed with the
 * test.
 */
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

/** For conditions that nobody announces. The time-out only reports a hang. */
export const POLL = { interval: 5, timeout: 20_000 }

/** What refuses a connection when nobody listens. */
export const REFUSED = expect.objectContaining({ code: 'ECONNREFUSED' })
