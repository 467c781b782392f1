import * as http from 'node:http'
import * as https from 'node:https'

/** Asks the example server, over real connections, as its clients do. */
export class Asker {
  readonly #url: string
  readonly #agent: http.Agent
  readonly #get: typeof http.get

  constructor(url: string) {
    const isSecure = url.startsWith('https:')
    this.#url = url
    this.#get = isSecure ? https.get : http.get
    // The certificate of the example is for development, and its client is the server itself.
    this.#agent = isSecure ? new https.Agent({ keepAlive: true, rejectUnauthorized: false }) : new http.Agent({ keepAlive: true })
  }

  /**
   * Resolves when the response is over with whether the server takes more from this client: it was
   * an answer, and none that tells it to leave.
   * @param begun called when an answer begins
   */
  ask(path: string, begun: () => void = () => {}): Promise<boolean> {
    return new Promise((resolve) => {
      this.#get(`${this.#url}${path}`, { agent: this.#agent }, (response) => {
        const { statusCode = 0, headers } = response
        const isAnswer = statusCode < 400
        if (isAnswer) begun()
        response.resume()
        response.once('close', () => resolve(isAnswer && headers.connection !== 'close'))
      }).once('error', () => resolve(false))
    })
  }

  /** Closes the connections that wait for a further request. */
  close(): void {
    this.#agent.destroy()
  }
}
