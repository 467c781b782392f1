import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { Server, Socket } from 'node:net'
import type { SecureContext } from 'node:tls'

/**
 * Every member of node that is used and that node's documentation does not name: no other file uses
 * one. Each may be missing in a version of node. Its function says what it gives then, and the
 * caller goes another way; `test/base/node-internals.test.ts` names the members that a version has
 * moved.
 */

// The handle below a socket.

/** The handle of a listening socket: what libuv does with it. */
export interface ListeningHandle {
  readonly fd: number
  /** listen(2) once more, on the same socket. */
  listen(backlog: number): number
  onconnection(status: number, client?: ConnectionHandle): void
  close(...args: unknown[]): void
}

/** The handle of a connection. */
export interface ConnectionHandle {
  getsockname(address: { port?: number }): number
  getpeername(address: { port?: number }): number
  close(): void
  /** Bytes that the system has not taken yet. */
  readonly writeQueueSize?: number
  /** Has node read on where it has stopped. */
  readStart?(): number
}

interface WithHandle<Handle> {
  readonly _handle?: Partial<Handle> | null
}

const LISTENING = ['listen', 'onconnection', 'close'] as const

/** The handle of a server that listens; undefined where it is not one as described. */
export function listeningHandleOf(server: Server): ListeningHandle | undefined {
  const { _handle: handle } = server as WithHandle<ListeningHandle>
  const isAsDescribed = handle && LISTENING.every((method) => typeof handle[method] === 'function') && Number(handle.fd) >= 0
  return isAsDescribed ? (handle as ListeningHandle) : undefined
}

/**
 * Node's name for a socket that a server has bound itself: family, address and port. Undefined or
 * something else for one that it was handed.
 */
export const bindingNameOf = (server: Server): unknown => (server as { readonly _connectionKey?: unknown })._connectionKey

/** The handle of a connection; undefined once it is closed. */
export const connectionHandleOf = (socket: Socket): ConnectionHandle | undefined =>
  ((socket as WithHandle<ConnectionHandle>)._handle as ConnectionHandle | null | undefined) ?? undefined

/** What the system has not taken yet of what was written; 0 where nothing says so. */
export const untakenBytes = (socket: Socket): number => connectionHandleOf(socket)?.writeQueueSize ?? 0

/** Has a socket read on that node has stopped. Does nothing where it cannot. */
export function readOn(socket: Socket): void {
  connectionHandleOf(socket)?.readStart?.()
}

// What a server has accepted.

/** Sockets and servers of this process among others; none where node has no such list. */
export const activeHandles = (): readonly unknown[] =>
  (process as { readonly _getActiveHandles?: () => readonly unknown[] })._getActiveHandles?.call(process) ?? []

/** The server that has accepted a socket. */
export const serverOf = (socket: Socket): unknown => (socket as { readonly server?: unknown }).server

/** A connection that speaks HTTP/1.1, until it is upgraded. */
interface Parsed {
  readonly parser?: { readonly incoming?: unknown } | null
  /** The response that it is about to send. */
  readonly _httpMessage?: unknown
}

/** Whether node reads HTTP/1.1 on a socket. */
export const isParsed = (socket: Socket): boolean => Boolean((socket as Parsed).parser)

/**
 * Whether a socket that speaks HTTP/1.1 has neither a request that is not received whole nor a
 * response to send.
 */
export function owesNoAnswer(socket: Socket): boolean {
  const { parser, _httpMessage: response } = socket as Parsed
  return parser?.incoming === null && !response
}

/** The socket that was accepted, of which node has made this one for TLS. */
export const acceptedOf = (socket: Socket): unknown => (socket as { readonly _parent?: unknown })._parent

/** How a server counts its connections, for `close` and `getConnections`. */
interface Counting {
  _connections: number
  _emitCloseIfDrained(): void
}

/** Has a server count a connection that node has not accepted; the result takes it back. */
export function countConnection(server: Server): () => void {
  const counting = server as unknown as Counting
  counting._connections++
  return () => {
    counting._connections--
    if (!server.listening) counting._emitCloseIfDrained()
  }
}

// The head of a response.

interface Head {
  readonly _header?: unknown
  readonly _headerSent?: unknown
}

/** The text of a head that is written; undefined where it is not, or not kept. */
export function headTextOf(response: ServerResponse): string | undefined {
  const { _header: text } = response as Head
  return typeof text === 'string' ? text : undefined
}

/** Whether the head was sent, and not only written down; undefined where nothing says so. */
export function isHeadSent(response: ServerResponse): boolean | undefined {
  const { _headerSent: isSent } = response as Head
  return typeof isSent === 'boolean' ? isSent : undefined
}

/**
 * What a server of node notes on each response that it makes, and a response has from nowhere else.
 * Node's listener for 'finish' says the same, but to look for it takes a tenth of the instructions
 * that a request has inside a life and not outside [measured on Node 20].
 */
const NOTED = '_maxRequestsPerSocket'

/** Whether a server of node has made a response for its request; false where nothing says so. */
export const isMadeByNode = (response: ServerResponse, request: IncomingMessage): boolean => response.req === request && NOTED in response

/** Whether the request of a stream is a HEAD, of which node ends our side when it arrives. */
export const isHead = (stream: ServerHttp2Stream): boolean => (stream as { readonly headRequest?: boolean }).headRequest === true

/**
 * Drops what a response has not sent. Node keeps the head of one whose first bytes, in a Buffer,
 * are written when its socket is gone. Does nothing where it is kept elsewhere.
 */
export function dropUnsent(response: ServerResponse): void {
  const { outputData: unsent } = response as { readonly outputData?: unknown[] }
  unsent?.splice(0)
}

// The context of TLS for clients that ask for no name.

interface SharedContext {
  _sharedCreds?: SecureContext & { readonly context: { readonly setAllowPartialTrustChain?: () => void } }
}

/** Gives a server of TLS another one, for the connections that it accepts from now on. */
export function setSharedContext(server: Server, context: SecureContext): void {
  ;(server as unknown as SharedContext)._sharedCreds = context as NonNullable<SharedContext['_sharedCreds']>
}

/** Has it end chains at any certificate of its list. Does nothing where it cannot. */
export function trustPartialChains(server: Server): void {
  ;(server as unknown as SharedContext)._sharedCreds?.context.setAllowPartialTrustChain?.()
}
