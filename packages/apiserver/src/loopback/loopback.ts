import { randomUUID } from 'node:crypto'
import type { Server } from 'node:net'
import { type Clock, loadSelfSigned, loopbackHeaders, type OwnClient, type OwnPair, optionError, QuiesceError, show } from '../engine.ts'
import { askOverHttp1 } from './over-http1.ts'
import { askOverHttp2 } from './over-http2.ts'
import { type LoopbackRequest, loopbackTarget } from './target.ts'

/**
 * The name by which a server's own client knows its certificate, and by which it calls itself.
 * @see kubernetes/apiserver pkg/server/config_selfclient.go LoopbackClientServerNameOverride
 */
export const LOOPBACK_NAME = 'apiserver-loopback-client'

/** @see kubernetes/apiserver pkg/server/options/serving_with_loopback.go */
export const LOOPBACK_DAYS = 1_096

/** A client that speaks to nothing but the server that it belongs to. */
export interface LoopbackClient {
  /**
   * A client like `fetch`, with a path in place of a URL: over the server's own listener, with all
   * its filters, as the user `system:apiserver` of the group `system:masters` where the server
   * authenticates. The server answers it also while it refuses others. Redirects are not followed;
   * each request has a connection of its own, until the body of its answer is read or cancelled.
   * Rejects as `fetch` does with the reason of an aborted `signal`.
   * @param path from its slash on, with the query; what may not stand in a URL is escaped
   * @throws QuiesceError ERR_NOT_LISTENING before the server listens, and from the close of its
   * listeners on; ERR_OPTION_INVALID for a path without its slash
   * @example const answer = await server.loopback.fetch('/api/v1/namespaces')
   */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Where the server listens, as `HOST:PORT` or the path of a socket; empty before it does. */
  readonly addresses: readonly string[]
}

/**
 * The server's own client: what it is known by, and where it connects to.
 * @see kubernetes/apiserver pkg/server/config_selfclient.go NewLoopbackClientConfig
 */
export class Loopback implements LoopbackClient, OwnClient {
  /** New in every server, and never written anywhere. */
  readonly token = randomUUID()
  readonly #clock: Clock
  /** Whether the server takes the token: it is shown to no handler otherwise. */
  readonly #isKnown: boolean
  #pair: OwnPair | undefined
  #expiresAt: number | undefined
  #servers: readonly Server[] = []

  constructor(clock: Clock, isKnown: boolean) {
    this.#clock = clock
    this.#isKnown = isKnown
  }

  /** The pair, made for the first listener with TLS; the same one for the others. */
  readonly pair = async (): Promise<OwnPair> => {
    const { selfSigned } = await loadSelfSigned()
    const now = this.#clock.wall()
    this.#expiresAt ??= now + LOOPBACK_DAYS * 86_400_000
    this.#pair ??= { name: LOOPBACK_NAME, ...selfSigned([LOOPBACK_NAME], now, LOOPBACK_DAYS, true) }
    return this.#pair
  }

  opened(servers: readonly Server[]): void {
    this.#servers = servers
  }

  get addresses(): readonly string[] {
    return this.#servers.flatMap((server) => {
      const { socketPath, host, port } = loopbackTarget(server) ?? {}
      return socketPath ?? (host === undefined ? [] : `${host}:${port}`)
    })
  }

  /** The health check `loopback-serving-certificate`. */
  readonly check = (): void => {
    if (this.#expiresAt !== undefined && this.#clock.wall() > this.#expiresAt) throw new Error('loopback serving certificate is expired')
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    if (typeof path !== 'string' || !path.startsWith('/')) throw optionError('path', path, 'a path that begins with a slash')
    // Method, headers and body become what `fetch` makes of them; it is sent to another place.
    const { method, headers, body, signal } = new Request('http://localhost/', { duplex: 'half', ...init } as RequestInit)
    const target = this.#servers.map((server) => loopbackTarget(server)).find((each) => each !== undefined)
    if (target === undefined) throw notListening(path, this.#servers.length === 0 ? 'it does not listen yet' : 'it does not listen')
    const asked: LoopbackRequest = {
      path: escaped(path),
      method,
      headers: {
        'user-agent': LOOPBACK_NAME,
        ...(this.#isKnown && { authorization: `Bearer ${this.token}` }),
        ...Object.fromEntries(headers),
        ...loopbackHeaders(),
      },
      body,
      signal,
    }
    try {
      return await (target.isHttp2 ? askOverHttp2(target, asked) : askOverHttp1(target, asked, this.#pair))
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      // Its listener has closed in between.
      if (isRefused(thrown)) throw notListening(path, 'it does not listen', thrown)
      throw thrown
    }
  }
}

/** The path as a URL has it: without a fragment, and what may not stand in it escaped. */
const escaped = (path: string): string =>
  path.replace(/#.*$/s, '').replace(/[^!-~]+/g, (text) => Buffer.from(text).toString('hex').toUpperCase().replaceAll(/../g, '%$&'))

const isRefused = (thrown: unknown): boolean => ['ECONNREFUSED', 'ENOENT'].includes((thrown as NodeJS.ErrnoException | null)?.code ?? '')

export const notListening = (path: string, why: string, cause?: unknown): QuiesceError =>
  new QuiesceError('ERR_NOT_LISTENING', `loopback request for ${show(path)}: the server cannot be asked: ${why}`, { path }, cause)
