import type { WatchKind, Wire } from './clients.ts'

/** A program as its users write it, with a lifecycle in it. */
export interface Recipe {
  readonly name: string
  /** In the folder `programs`. */
  readonly program: string
  readonly env: Readonly<Record<string, string>>
  readonly wire: Wire
  /** Of each kind one is open when it stops. */
  readonly watches: readonly WatchKind[]
}

const recipe = (
  name: string,
  program: string,
  { env = {}, wire = 'HTTP/1.1', watches = ['events'] }: Partial<Omit<Recipe, 'name' | 'program'>> = {},
): Recipe => ({ name, program, env, wire, watches })

const WITH_WEB_SOCKETS = { watches: ['events', 'WebSocket'] } as const
const HTTP2 = { wire: 'HTTP/2' } as const

/** Where `npm run test:next` has installed it. */
const { NEXT_FOLDER } = process.env

/** Those that are run one beside the other, under what they have in common. */
export const RECIPES: Readonly<Record<string, readonly Recipe[]>> = {
  'a server of node': [
    recipe('node:http and the package ws', 'node', WITH_WEB_SOCKETS),
    recipe('node:https', 'tls'),
    recipe('node:http2, a client of HTTP/2', 'tls', { env: { HTTP2: '1' }, ...HTTP2 }),
    recipe('node:http2, a client of HTTP/1.1', 'tls', { env: { HTTP2: '1' } }),
    recipe('node:http2 without TLS', 'tls', { env: { H2C: '1' }, ...HTTP2 }),
  ],
  'a created server': [
    recipe('Hono and its upgradeWebSocket', 'hono', WITH_WEB_SOCKETS),
    recipe('Hono over HTTP/2', 'hono', { env: { TLS: '1' }, ...HTTP2 }),
    recipe('a request listener and the package ws', 'listener', WITH_WEB_SOCKETS),
  ],
  'a framework': [
    recipe('Express 5', 'express'),
    recipe('Koa and the package ws', 'koa', WITH_WEB_SOCKETS),
    recipe('NestJS 11 and a gateway', 'nest', WITH_WEB_SOCKETS),
    recipe("Hono on the adapter's own server", 'hono', { env: { ATTACHED: '1' }, ...WITH_WEB_SOCKETS }),
  ],
  'Fastify 5': [
    recipe('the plugin and @fastify/websocket', 'fastify', WITH_WEB_SOCKETS),
    recipe('with a serverFactory', 'fastify', { env: { FACTORY: '1' }, ...WITH_WEB_SOCKETS }),
    recipe('over HTTP/2', 'fastify', { env: { HTTP2: '1' }, ...HTTP2 }),
  ],
  'a library of watches': [
    recipe('socket.io', 'socket-io', { watches: ['socket.io'] }),
    recipe('tRPC over an event stream', 'trpc', { watches: ['tRPC'] }),
  ],
  ...(NEXT_FOLDER !== undefined && { 'Next.js': [recipe('a custom server', 'next', { env: { NEXT_FOLDER } })] }),
}
