import type { Socket } from 'node:net'

/** A WebSocket of the package `ws`, as far as it is of use here. */
export interface WebSocketHolder {
  /** @see https://websockets.spec.whatwg.org/#dom-websocket-readystate */
  readonly readyState: number
  close(code: number, reason: string): void
  emit(event: string | symbol, ...args: unknown[]): boolean
}

/** The value of `readyState` while it is open. */
export const OPEN = 1

/**
 * The WebSocket that the package `ws` has made of a socket; undefined when it was not `ws`.
 *
 * It keeps it under a symbol of its own, in every copy and version of it, also where others bring
 * it along: socket.io, @hono/node-server, @fastify/websocket, NestJS, graphql-ws. Closed by it, a
 * WebSocket sends first what waits for its compression, and its owner hears of the end. A test
 * notices when the symbol changes: then sockets are closed by frames of our own.
 */
export function holderOf(socket: Socket): WebSocketHolder | undefined {
  for (const key of Object.getOwnPropertySymbols(socket)) {
    if (key.description !== 'websocket') continue
    const held: unknown = (socket as unknown as Record<symbol, unknown>)[key]
    if (isHolder(held)) return held
  }
  return undefined
}

const isHolder = (held: unknown): held is WebSocketHolder =>
  typeof held === 'object' &&
  held !== null &&
  typeof (held as Partial<WebSocketHolder>).readyState === 'number' &&
  typeof (held as Partial<WebSocketHolder>).close === 'function'
