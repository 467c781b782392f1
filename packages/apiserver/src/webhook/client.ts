import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { createSecureContext } from 'node:tls'
import { type Clock, QuiesceError, toError } from '../engine.ts'
import { formatGoDuration } from '../go-duration.ts'
import { remoteOfCluster } from './in-cluster.ts'
import { remoteOfKubeconfig } from './kubeconfig.ts'
import { type LoadedRemote, loadRemote, type Remote, type RemotePlace } from './remote.ts'

/** What a server has answered. */
export interface RemoteAnswer {
  readonly status: number
  /** `Retry-After`, when there is one. */
  readonly retryAfter: string | undefined
  /** Undefined when it is longer than any that is asked for: the rest of it was not read. */
  readonly body: string | undefined
}

/**
 * Whether a server has taken what it was posted. The other statuses of success say that it has done
 * so in part, or something else; what is redirected is taken nowhere.
 * @see kubernetes/client-go rest/request.go transformResponse
 */
export const isTaken = (status: number): boolean => status >= 200 && status <= 206

/** Posts JSON to one server. */
export interface Poster {
  /**
   * Opens the client before the first post. @throws QuiesceError ERR_OPTION_INVALID for files of no
   * use
   */
  open(clock: Clock): Promise<void>
  /** Rejects when there was no whole answer; aborted, with the reason of the signal. */
  post(body: string, signal: AbortSignal): Promise<RemoteAnswer>
  /** Closes the client after the last post. */
  close(): void
}

/** Files are read again when they may be older; upstream's tokens are, too. */
const RELOAD_MS = 60_000
/** The most bytes of an answer. A server that sends more is not the one that was meant. */
export const BYTES_MAX = 1024 * 1024

/**
 * A client of the server that a kubeconfig file names, or that is given. Connections are kept. What
 * stands in files is read again about once a minute, when it is needed: tokens and certificates
 * that are renewed are taken, and one that cannot be read any more leaves what there was.
 */
export class RemoteClient implements Poster {
  readonly #remote: RemotePlace
  readonly #timeout: string
  readonly #path: string
  #clock: Clock | undefined
  #loaded: LoadedRemote | undefined
  #url: URL | undefined
  #loadedAt = 0
  #agent: HttpAgent | HttpsAgent | undefined

  /**
   * @param timeoutMs how long each post is waited for by its caller; the server is told that,
   * unless its URL says another time
   * @param path of an API server; none: the URL is the whole
   * @see kubernetes/client-go rest/request.go Request.URL
   */
  constructor(remote: RemotePlace, timeoutMs: number, path = '') {
    this.#remote = remote
    this.#path = path
    this.#timeout = formatGoDuration(timeoutMs)
  }

  async open(clock: Clock): Promise<void> {
    this.#clock = clock
    await this.#load()
  }

  post(body: string, signal: AbortSignal): Promise<RemoteAnswer> {
    return this.#ask(body, signal)
  }

  /** Asks for what is there; as {@link post}. */
  get(signal: AbortSignal): Promise<RemoteAnswer> {
    return this.#ask(undefined, signal)
  }

  async #ask(body: string | undefined, signal: AbortSignal): Promise<RemoteAnswer> {
    if (this.#clock && this.#clock.now() - this.#loadedAt >= RELOAD_MS) {
      // What there was may still do; if not, its server says so.
      await this.#load().catch(() => {})
    }
    signal.throwIfAborted()
    const sent = this.#send(body, signal)
    try {
      return await sent.answer
    } catch (thrown) {
      // It was closed while the request was on its way to it.
      if (!sent.request.reusedSocket || (thrown as NodeJS.ErrnoException).code !== 'ECONNRESET' || signal.aborted) throw thrown
      return this.#send(body, signal).answer
    }
  }

  close(): void {
    this.#agent?.destroy()
  }

  async #load(): Promise<void> {
    // Asked for again after the same time, also when it fails.
    this.#loadedAt = this.#clock?.now() ?? 0
    const remote = await foundAt(this.#remote)
    const loaded = await loadRemote(remote)
    if (JSON.stringify(loaded) === JSON.stringify(this.#loaded)) return
    const url = withTimeout(below(loaded.url, this.#path), this.#timeout)
    const agent = agentFor(url, loaded.tls, 'kubeconfig' in this.#remote ? this.#remote.kubeconfig : loaded.url)
    if (this.#agent) retire(this.#agent)
    this.#agent = agent
    this.#loaded = loaded
    this.#url = url
  }

  #send(body: string | undefined, signal: AbortSignal): { readonly request: ClientRequest; readonly answer: Promise<RemoteAnswer> } {
    const { headers } = this.#loaded as LoadedRemote
    const url = this.#url as URL
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const ofBody = body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }
    const request = send(url, {
      method: body === undefined ? 'GET' : 'POST',
      agent: this.#agent as HttpsAgent,
      signal,
      headers: { Accept: 'application/json, */*', ...ofBody, ...headers },
    })
    return { request, answer: answerOf(request, body, signal) }
  }
}

/** What a URL says behind its path stays there. */
function below(given: string, path: string): string {
  const url = new URL(given)
  if (path !== '') url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`
  return url.href
}

function foundAt(place: RemotePlace): Remote | Promise<Remote> {
  if ('inCluster' in place) return remoteOfCluster()
  return 'kubeconfig' in place ? remoteOfKubeconfig(place.kubeconfig) : place
}

/**
 * The URL with the timeout in its query, which otherwise stays as it is written, another timeout
 * too.
 */
function withTimeout(given: string, timeout: string): URL {
  const url = new URL(given)
  if (!url.searchParams.has('timeout')) url.search += `${url.search === '' ? '?' : '&'}timeout=${timeout}`
  return url
}

function agentFor({ protocol }: URL, tls: LoadedRemote['tls'], from: string): HttpAgent | HttpsAgent {
  if (protocol !== 'https:') return new HttpAgent({ keepAlive: true })
  const { ca, cert, key, ...rest } = tls
  try {
    const secureContext = createSecureContext({ ca, cert, key })
    return new HttpsAgent({ keepAlive: true, secureContext, ...rest })
  } catch (thrown) {
    const why = toError(thrown).message
    const allowed = 'certificates and the matching key'
    throw new QuiesceError('ERR_OPTION_INVALID', `${from}: ${why}`, { field: from, given: why, allowed }, thrown)
  }
}

/** What is under way goes on, and is the last on its connection. */
function retire(agent: HttpAgent): void {
  agent.maxFreeSockets = 0
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}

function answerOf(request: ClientRequest, body: string | undefined, signal: AbortSignal): Promise<RemoteAnswer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(signal.aborted ? (signal.reason as Error) : error)
    request.on('error', fail)
    // Without a listener node destroys the socket, and says nothing of it but that it has closed.
    request.on('upgrade', ({ statusCode: status = 0 }, socket) => {
      socket.destroy()
      resolve({ status, retryAfter: undefined, body: undefined })
    })
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response
      const retryAfter = headers['retry-after']
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes <= BYTES_MAX) return
        resolve({ status, retryAfter, body: undefined })
        response.destroy()
      })
      response.on('error', fail)
      response.on('end', () => resolve({ status, retryAfter, body: Buffer.concat(chunks).toString() }))
    })
    request.end(body)
  })
}
