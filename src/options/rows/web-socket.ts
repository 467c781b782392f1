import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { isRecord } from '../kit/kinds.ts'

/** The part of a WebSocketServer of the package `ws` that is used. */
export interface WebSocketServerLike {
  readonly options: { readonly noServer?: boolean | undefined }
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, accepted: (webSocket: unknown) => void): void
  emit(event: 'connection', webSocket: unknown, request: IncomingMessage): boolean
}

export interface WebSocketOption {
  /** A server made with `noServer: true`. */
  readonly server: WebSocketServerLike
}

/**
 * Whether it can be used: a server that listens, or has a server already, would take the upgrades
 * twice.
 */
export function isWebSocketOption(given: unknown): boolean {
  if (!isRecord(given)) return false
  const { server } = given as { readonly server?: Partial<WebSocketServerLike> }
  return typeof server?.handleUpgrade === 'function' && server.options?.noServer === true
}
