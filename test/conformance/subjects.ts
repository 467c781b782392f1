import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createAdaptorServer } from '@hono/node-server'
import { onTestFinished } from 'vitest'
import { attachLifecycle, createServer, type Handler, type Life, type LifecycleOptions } from '#src/index.ts'
import {
  expressApplication,
  fastifyApplication,
  fetchApplication,
  honoApplication,
  koaApplication,
  listenerApplication,
} from './applications.ts'
import { Stage } from './stage.ts'

/** One way to have a life around an application. */
export interface Subject {
  readonly name: string
  /** Serves, with `options`, until the test ends. */
  serve(options?: LifecycleOptions): Promise<Served>
}

export interface Served {
  readonly port: number
  readonly life: Life
  readonly stage: Stage
}

/** What attaching adds: a server of the user's own. */
export interface AttachedSubject extends Subject {
  serve(options?: LifecycleOptions): Promise<Served & Owned>
  /** Listens without any life. */
  listen(): Promise<Owned & { readonly port: number; readonly stage: Stage }>
}

export interface Owned {
  readonly server: Server
  /** The way of its framework to end it, which resolves when it is closed. */
  readonly close: () => Promise<unknown>
}

/** A server that does not listen yet, and how to make it listen and end. */
interface Unbound extends Owned {
  readonly listen: () => Promise<unknown>
}

/**
 * The tests decide when things happen: no delay of the platform's, and nothing that ends before
 * they say so.
 */
const OPTIONS: LifecycleOptions = {
  platform: 'unknown',
  shutdownDelay: 0,
  lastCall: 0,
  deadline: '60s',
  hookTimeout: '20s',
  watchGrace: '10s',
  longRunning: ({ url }) => url === '/endless' || undefined,
}

function created(name: string, handler: (stage: Stage) => Handler): Subject {
  return {
    name: `createServer, ${name}`,
    async serve(options) {
      const stage = new Stage()
      const life = createServer(handler(stage), { ...OPTIONS, host: '127.0.0.1', port: 0, logger: false, ...options })
      onTestFinished(() => endLife(life, stage))
      await life.start()
      return { port: life.addresses[0]?.port as number, life, stage }
    },
  }
}

function attached(name: string, when: 'before listen' | 'after listen', unbound: (stage: Stage) => Unbound): AttachedSubject {
  return {
    name: `attachLifecycle, ${name}, ${when}`,
    async serve(options) {
      const stage = new Stage()
      const { server, listen, close } = unbound(stage)
      echoUpgrades(server)
      if (when === 'after listen') await listen()
      const life = attachLifecycle(server, { ...OPTIONS, ...options })
      onTestFinished(() => endLife(life, stage))
      const started = life.start()
      if (when === 'before listen') await listen()
      await started
      return { port: portOf(server), life, stage, server, close }
    },
    async listen() {
      const stage = new Stage()
      const { server, listen, close } = unbound(stage)
      await listen()
      onTestFinished(() => {
        server.close()
        server.closeAllConnections()
      })
      return { server, close, stage, port: portOf(server) }
    },
  }
}

/** A test that failed half-way must not leave the next one a server that waits for it. */
async function endLife(life: Life, stage: Stage): Promise<void> {
  stage.slow.open()
  stage.stream.open()
  await life.stop()
}

/** A server whose framework leaves listening to node. */
function ofNode(server: Server): Unbound {
  return {
    server,
    listen: () => once(server.listen(0, '127.0.0.1'), 'listening'),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

const fromListener = (listener: (stage: Stage) => RequestListener) => (stage: Stage) => ofNode(createHttpServer(listener(stage)))

function ofFastify(stage: Stage): Unbound {
  const app = fastifyApplication(stage)
  return { server: app.server, listen: () => app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
}

/** A server that its framework creates when it is told to listen cannot be attached to earlier. */
function ofListening(listen: (listening: () => void) => Server): Unbound {
  let ready: () => void = () => {}
  const listening = new Promise<void>((resolve) => (ready = resolve))
  const server = listen(() => ready())
  return { ...ofNode(server), listen: () => listening }
}

/** Answers an upgrade as a protocol that sends everything back. */
function echoUpgrades(server: Server): void {
  server.on('upgrade', (_request: IncomingMessage, socket: Duplex) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n')
    socket.pipe(socket)
  })
}

/** Resolves when a lifecycle signal has fired. */
export function fired(life: Life, name: string): Promise<unknown> {
  const signal = life.signal(name)
  return signal.aborted ? Promise.resolve() : once(signal, 'abort')
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

export const createdSubjects: readonly Subject[] = [
  created('Hono app', honoApplication),
  created('fetch function', fetchApplication),
  created('request listener', (stage) => ({ listener: listenerApplication(stage) })),
]

export const attachedSubjects: readonly AttachedSubject[] = [
  attached('node:http', 'before listen', fromListener(listenerApplication)),
  attached('node:http', 'after listen', fromListener(listenerApplication)),
  attached('Express', 'before listen', fromListener(expressApplication)),
  attached('Express', 'after listen', (stage) =>
    ofListening((listening) => expressApplication(stage).listen(0, '127.0.0.1', () => listening())),
  ),
  attached('Fastify', 'before listen', ofFastify),
  attached('Fastify', 'after listen', ofFastify),
  attached(
    'Koa',
    'before listen',
    fromListener((stage) => koaApplication(stage).callback()),
  ),
  attached('Koa', 'after listen', (stage) => ofListening((listening) => koaApplication(stage).listen(0, '127.0.0.1', listening))),
  attached('Hono on @hono/node-server', 'before listen', (stage) =>
    ofNode(createAdaptorServer({ fetch: honoApplication(stage).fetch }) as Server),
  ),
  attached('Hono on @hono/node-server', 'after listen', (stage) =>
    ofNode(createAdaptorServer({ fetch: honoApplication(stage).fetch }) as Server),
  ),
]

export const subjects: readonly Subject[] = [...createdSubjects, ...attachedSubjects]
