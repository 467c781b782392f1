// @ts-check
// Other ways to end an HTTP server, each as its own documentation says: what the loss ledger and
// the benchmarks compare with. Only what is used is loaded.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How long each of them may take from the close of its listener to the end of what is in flight.
 */
const GRACE_MS = 4000

/**
 * @typedef {(request: import('node:http').IncomingMessage) => string | Promise<string>} Answer
 * @typedef {object} PeerOptions
 * @property {number} delayMs from SIGTERM to the close of the listener
 * @typedef {import('node:net').AddressInfo} AddressInfo
 */

/**
 * A listening server on a port of its own choice.
 * @param {Answer} answer
 */
async function listen(answer) {
  const server = createServer(async (request, response) => void response.end(await answer(request)))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  return { server, port: /** @type {AddressInfo} */ (server.address()).port }
}

/** Without a delay the close comes in the very step of the signal, as it does where there is none. @param {number} ms */
const pause = (ms) => (ms > 0 ? sleep(ms) : undefined)

/** @satisfies {Record<string, (answer: Answer, options: PeerOptions) => Promise<number>>} each resolves with the port when it listens */
export const PEERS = {
  /** What most servers in use do, and what node's documentation suggests. */
  async 'server.close()'(answer, { delayMs }) {
    const { server, port } = await listen(answer)
    process.once('SIGTERM', async () => {
      await pause(delayMs)
      server.close(() => process.exit(0))
    })
    return port
  },

  async 'http-terminator'(answer, { delayMs }) {
    const { createHttpTerminator } = await import('http-terminator')
    const { server, port } = await listen(answer)
    const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: GRACE_MS })
    process.once('SIGTERM', async () => {
      await pause(delayMs)
      await terminator.terminate()
      process.exit(0)
    })
    return port
  },

  async '@godaddy/terminus'(answer, { delayMs }) {
    const { createTerminus } = await import('@godaddy/terminus')
    const { server, port } = await listen(answer)
    createTerminus(server, { signal: 'SIGTERM', timeout: GRACE_MS, useExit0: true, beforeShutdown: async () => pause(delayMs) })
    return port
  },

  /**
   * It runs what is registered and ends no server by itself; http-terminator, of the same author,
   * does.
   */
  async lightship(answer, { delayMs }) {
    const [{ createLightship }, { createHttpTerminator }] = await Promise.all([import('lightship'), import('http-terminator')])
    const { server, port } = await listen(answer)
    const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: GRACE_MS })
    const lightship = await createLightship({ detectKubernetes: false, port: 0, shutdownDelay: delayMs, terminate: () => process.exit(0) })
    lightship.registerShutdownHandler(() => terminator.terminate())
    lightship.signalReady()
    return port
  },

  async stoppable(answer, { delayMs }) {
    const { default: stoppable } = await import('stoppable')
    const { server, port } = await listen(answer)
    const stopped = stoppable(server, GRACE_MS)
    process.once('SIGTERM', async () => {
      await pause(delayMs)
      stopped.stop(() => process.exit(0))
    })
    return port
  },

  async 'http-graceful-shutdown'(answer, { delayMs }) {
    const { default: gracefulShutdown } = await import('http-graceful-shutdown')
    const { server, port } = await listen(answer)
    gracefulShutdown(server, { signals: 'SIGTERM', timeout: delayMs + GRACE_MS, preShutdown: async () => pause(delayMs) })
    return port
  },

  async 'fastify, close-with-grace'(answer, { delayMs }) {
    const [{ default: fastify }, { default: closeWithGrace }] = await Promise.all([import('fastify'), import('close-with-grace')])
    const app = fastify()
    // Bodies are read by `answer`, as they are with the others.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/*', (request) => answer(request.raw))
    await app.listen({ port: 0, host: '127.0.0.1' })
    closeWithGrace({ delay: delayMs + GRACE_MS }, async () => {
      await pause(delayMs)
      await app.close()
    })
    return /** @type {AddressInfo} */ (app.server.address()).port
  },

  async 'hono, serve'(answer, { delayMs }) {
    const [{ Hono }, { serve }] = await Promise.all([import('hono'), import('@hono/node-server')])
    /** @type {import('hono').Hono<{ Bindings: import('@hono/node-server').HttpBindings }>} */
    const app = new Hono()
    app.all('*', async (context) => context.text(await answer(context.env.incoming)))
    /** @type {import('@hono/node-server').ServerType} */
    let server
    const port = await new Promise((/** @type {(port: number) => void} */ resolve) => {
      server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, (address) => resolve(address.port))
    })
    process.once('SIGTERM', async () => {
      await pause(delayMs)
      server.close(() => process.exit(0))
    })
    return port
  },
}

/** @typedef {keyof typeof PEERS} Peer */
