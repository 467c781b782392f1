import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { shutdownSignalOf } from '../../http/shutdown-signal.ts'

/**
 * The server that scripts have when they bring none: what a path does stands in its name. `/slow…`
 * and `/watch…` are answered by the script's `answer`; a watch sends its head at once and ends when
 * it is told to; `/ignores…` is a watch that is not listening; everything else is answered at once.
 */
export class ScriptApp {
  readonly #waiting: { readonly port: number | undefined; readonly response: ServerResponse }[] = []

  readonly listener: RequestListener = (request, response) => {
    const { url = '/' } = request
    if (url.startsWith('/slow')) this.#wait(request, response)
    else if (isWatch(request)) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
      this.#wait(request, response)
      if (url.startsWith('/watch')) shutdownSignalOf(request).addEventListener('abort', () => response.end('bye'), { once: true })
    } else response.end('ok')
  }

  /** Answers the oldest request of a client's port that waits for it; false when none does. */
  answer(port: number, body: string): boolean {
    const index = this.#waiting.findIndex((waiting) => waiting.port === port)
    const [waiting] = index >= 0 ? this.#waiting.splice(index, 1) : []
    waiting?.response.end(body)
    return waiting !== undefined
  }

  #wait({ socket: { remotePort } }: IncomingMessage, response: ServerResponse): void {
    this.#waiting.push({ port: remotePort, response })
  }
}

/** Paths of watches are watches without any header of the client's. */
export const isWatch = ({ url = '/' }: IncomingMessage): boolean => /^\/(watch|ignores)/.test(url)
