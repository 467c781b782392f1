// @ts-check
// Other ways to end an HTTP server, each as its own documentation says: what the loss ledger and
// the benchmarks compare with. Only what is used is loaded.
import { createServer } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How long each of them may take from the close of its listener to the end of what is in flight,
 * unless it is told otherwise.
 */
const GRACE_MS = 4000

/**
 * @typedef {(request: import('node:http').IncomingMessage) => string | Readable | Promise<string | Readable>} Answer what streams is an event stream
 * @typedef {import('node:http').Server} Server
 * @typedef {object} PeerOptions
 * @property {number} delayMs from SIGTERM to the close of the listener
 * @property {number} [graceMs]
 * @property {number} [port] instead of one of its own choice
 * @property {Pair} [tls] HTTPS, or HTTP/2 with `isHttp2`, instead of HTTP/1.1 without encryption
 * @property {boolean} [isHttp2]
 * @property {(server: Server) => void} [made] called with the server before it listens, by an application that has WebSockets
 *
 * @typedef {{ readonly key: string, readonly cert: string }} Pair
 * @typedef {import('node:net').AddressInfo} AddressInfo
 */

export const EVENT_STREAM = { 'content-type': 'text/event-stream' }

/** @param {import('node:http').ServerResponse} response @param {string | Readable} answer */
function respond(response, answer) {
  if (typeof answer === 'string') return void response.end(answer)
  response.writeHead(200, EVENT_STREAM)
  // A client that leaves, or a server that breaks it off, ends the stream.
  pipeline(answer, response, () => {})
}

/**
 * A listener that answers. A request whose connection is gone before all of it came has no answer,
 * and must not take the process with it: frameworks see to that, too.
 * @param {Answer} answer @returns {import('node:http').RequestListener}
 */
export const listenerOf = (answer) => (request, response) =>
  void Promise.resolve(answer(request)).then(
    (answered) => respond(response, answered),
    () => response.destroy(),
  )

/** What makes its server. @param {PeerOptions} options @returns {Promise<(settings: object, listener: import('node:http').RequestListener) => Server>} */
async function creatorOf({ tls, isHttp2, made }) {
  const create = /** @type {any} */ (
    tls === undefined ? createServer : isHttp2 ? (await import('node:http2')).createSecureServer : (await import('node:https')).createServer
  )
  return (settings, listener) => {
    const server = create({ ...settings, ...tls }, listener)
    made?.(server)
    return server
  }
}

/**
 * A listening server.
 * @param {Answer} answer @param {PeerOptions} options
 */
async function listen(answer, options) {
  const create = await creatorOf(options)
  const server = create({}, listenerOf(answer))
  await new Promise((resolve) => server.listen(options.port ?? 0, '127.0.0.1', () => resolve(undefined)))
  return { server, port: /** @type {AddressInfo} */ (server.address()).port }
}

/** Without a delay the close comes in the very step of the signal, as it does where there is none. @param {number} ms */
const pause = (ms) => (ms > 0 ? sleep(ms) : undefined)

/** @satisfies {Record<string, (answer: Answer, options: PeerOptions) => Promise<number>>} each resolves with the port when it listens */
export const PEERS = {
  /** What most servers in use do, and what node's documentation suggests. */
  async 'server.close()'(answer, options) {
    const { delayMs } = options
    const { server, port } = await listen(answer, options)
    process.once('SIGTERM', async () => {
      await pause(delayMs)
      server.close(() => process.exit(0))
    })
    return port
  },

  async 'http-terminator'(answer, options) {
    const { delayMs, graceMs = GRACE_MS } = options
    const { createHttpTerminator } = await import('http-terminator')
    const { server, port } = await listen(answer, options)
    const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: graceMs })
    process.once('SIGTERM', async () => {
      await pause(delayMs)
      await terminator.terminate()
      process.exit(0)
    })
    return port
  },

  async '@godaddy/terminus'(answer, options) {
    const { delayMs, graceMs = GRACE_MS } = options
    const { createTerminus } = await import('@godaddy/terminus')
    const { server, port } = await listen(answer, options)
    createTerminus(server, { signal: 'SIGTERM', timeout: graceMs, useExit0: true, beforeShutdown: async () => pause(delayMs) })
    return port
  },

  /**
   * It runs what is registered and ends no server by itself; http-terminator, of the same author,
   * does.
   */
  async lightship(answer, options) {
    const { delayMs, graceMs = GRACE_MS } = options
    const [{ createLightship }, { createHttpTerminator }] = await Promise.all([import('lightship'), import('http-terminator')])
    const { server, port } = await listen(answer, options)
    const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: graceMs })
    const lightship = await createLightship({ detectKubernetes: false, port: 0, shutdownDelay: delayMs, terminate: () => process.exit(0) })
    lightship.registerShutdownHandler(() => terminator.terminate())
    lightship.signalReady()
    return port
  },

  async stoppable(answer, options) {
    const { delayMs, graceMs = GRACE_MS } = options
    const { default: stoppable } = await import('stoppable')
    const { server, port } = await listen(answer, options)
    const stopped = stoppable(server, graceMs)
    process.once('SIGTERM', async () => {
      await pause(delayMs)
      stopped.stop(() => process.exit(0))
    })
    return port
  },

  async 'http-graceful-shutdown'(answer, options) {
    const { delayMs, graceMs = GRACE_MS } = options
    const { default: gracefulShutdown } = await import('http-graceful-shutdown')
    const { server, port } = await listen(answer, options)
    gracefulShutdown(server, { signals: 'SIGTERM', timeout: delayMs + graceMs, preShutdown: async () => pause(delayMs) })
    return port
  },

  async 'fastify, close-with-grace'(answer, options) {
    const { delayMs, graceMs = GRACE_MS } = options
    const [{ default: fastify }, { default: closeWithGrace }] = await Promise.all([import('fastify'), import('close-with-grace')])
    // Over HTTP/2 it ends the sessions itself, if it knows.
    const { tls, isHttp2, made } = options
    const app = fastify(/** @type {object} */ ({ ...(tls && { https: tls }), ...(isHttp2 && { http2: true }) }))
    // Bodies are read by `answer`, as they are with the others.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/*', async (request, reply) => {
      const answered = await answer(request.raw)
      return typeof answered === 'string' ? answered : reply.headers(EVENT_STREAM).send(answered)
    })
    made?.(app.server)
    await app.listen({ port: options.port ?? 0, host: '127.0.0.1' })
    closeWithGrace({ delay: delayMs + graceMs }, async () => {
      await pause(delayMs)
      await app.close()
    })
    return /** @type {AddressInfo} */ (app.server.address()).port
  },

  async 'hono, serve'(answer, options) {
    const { delayMs } = options
    const [{ Hono }, { serve }] = await Promise.all([import('hono'), import('@hono/node-server')])
    /** @type {import('hono').Hono<{ Bindings: import('@hono/node-server').HttpBindings }>} */
    const app = new Hono()
    app.all('*', async (context) => {
      const answered = await answer(context.env.incoming)
      if (typeof answered === 'string') return context.text(answered)
      return new Response(/** @type {ReadableStream} */ (Readable.toWeb(answered)), { headers: EVENT_STREAM })
    })
    const create = /** @type {any} */ (await creatorOf(options))
    /** @type {import('@hono/node-server').ServerType} */
    let server
    const port = await new Promise((/** @type {(port: number) => void} */ resolve) => {
      server = serve({ fetch: app.fetch, createServer: create, port: options.port ?? 0, hostname: '127.0.0.1' }, (address) =>
        resolve(address.port),
      )
    })
    process.once('SIGTERM', async () => {
      await pause(delayMs)
      server.close(() => process.exit(0))
    })
    return port
  },
}

/** @typedef {keyof typeof PEERS} Peer */

/** Those whose documentation, or that of the server they are made for, says that they end servers of HTTP/2. @type {readonly Peer[]} */
export const PEERS_OF_HTTP2 = ['server.close()', 'http-graceful-shutdown', 'fastify, close-with-grace', 'hono, serve']
