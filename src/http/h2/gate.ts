import type {
  Http2SecureServer,
  Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import { isHead } from '../../base/node-internals.ts'
import { nameAmongCopies } from '../../base/shared-by-copies.ts'
import type { ExchangeView } from '../chain.ts'
import { alreadyAttached, isThenable, plainEmit, relayOf } from '../emit-gate.ts'
import { findBy, wireExchangeOf } from '../exchange-of.ts'
import { isOnlyOurs } from '../h1/gate.ts'
import { openHttp1 } from '../h1/transport.ts'
import type { WireExchange } from '../ports.ts'
import { Handshakes } from '../tls/handshake.ts'
import type { Gate, TrafficPort } from '../transport.ts'
import { Http2Request, Http2Response, ignore } from './exchange-objects.ts'
import { watchHead, watchResponse } from './response-head.ts'
import { Http2Wire, http2WireOf, refuseStream } from './wire.ts'

const GATE: unique symbol = Symbol.for(nameAmongCopies('gate'))

interface Gated {
  [GATE]?: true
}

type Emit = (event: string, ...args: readonly unknown[]) => boolean

/**
 * Puts one gate in front of a server's handlers, by an `emit` of the server's own, as for HTTP/1.1
 * (docs/decisions/0002-gate-by-emit.md). Every request is seen as the stream that it is, before
 * node makes objects of it for a `request` listener, if there is one: a stream that is refused
 * costs no more than its answer. A server with TLS has the gate of HTTP/1.1 below this one, for
 * connections whose handshake has chosen that.
 * @param idleMs time after which an idle connection is told to leave; 0: never
 * @throws QuiesceError ERR_ALREADY_ATTACHED when the server has a gate
 */
export function openHttp2Gate(server: Http2Server | Http2SecureServer, traffic: TrafficPort, idleMs: number): Gate {
  const gated = server as Gated
  if (gated[GATE]) throw alreadyAttached()
  const ownEmit = Object.hasOwn(server, 'emit') ? (server.emit as Emit) : undefined
  const prototype = Object.getPrototypeOf(server) as { readonly emit: Emit }
  const handshakes = 'setSecureContext' in server ? new Handshakes(traffic) : undefined
  const http1 = handshakes && openHttp1(server, traffic, handshakes)
  const emitBelow = Object.hasOwn(server, 'emit') ? (server.emit as Emit) : undefined
  let isOpen = true
  /** The socket whose session is being made. */
  let accepted: Socket | undefined

  function emit(this: unknown, event: string, ...args: readonly unknown[]): boolean {
    if (isOpen) {
      if (event === 'stream') return streamArrived(args[0] as ServerHttp2Stream, args)
      if (isRequest(event) && isHttp2(args[0])) return requestMade(event, args[0], args[1] as Http2ServerResponse)
      if (event === 'session') sessionBegun(args[0] as ServerHttp2Session)
      else if (event === (handshakes ? 'secureConnection' : 'connection')) return socketReady(args)
    }
    return below(event, args)
  }

  /** The gate of HTTP/1.1, or what was there before. */
  const below = (event: string, args: readonly unknown[]): boolean => (emitBelow ?? prototype.emit).call(server, event, ...args)
  /** Looked up each time: instrumentation may patch the prototype whenever it is loaded. */
  const inheritedEmit = (): Emit => ownEmit ?? prototype.emit

  /** Node makes the session in this very step. */
  function socketReady(args: readonly unknown[]): boolean {
    accepted = args[0] as Socket
    try {
      return below(handshakes ? 'secureConnection' : 'connection', args)
    } finally {
      accepted = undefined
    }
  }

  function sessionBegun(session: ServerHttp2Session): Http2Wire {
    const socket = accepted ?? socketOf(session)
    return new Http2Wire(session, socket, traffic, { connection: handshakes?.ended(socket), idleMs })
  }

  function streamArrived(stream: ServerHttp2Stream, args: readonly unknown[]): boolean {
    const exchange = arrived(stream, args[1] as IncomingHttpHeaders, args[3] as string[] | undefined)
    if (!exchange) return true
    try {
      if (!traffic.admit(exchange)) return true
      watchHead(stream)
      handOver('stream', exchange, args)
    } catch (thrown) {
      exchange.threw(thrown)
    }
    return true
  }

  function arrived(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[] | undefined,
  ): WireExchange | undefined {
    const { session } = stream as { readonly session: ServerHttp2Session | undefined }
    // Broken off before it came to us: by its client, or by our GOAWAY, when what node has read is
    // handed over late. It has no session then, and nothing else listens for its error.
    if (!session) {
      stream.on('error', ignore)
      return undefined
    }
    const wire = http2WireOf(session) ?? sessionBegun(session)
    const request = new Http2Request(stream, headers, rawHeaders)
    // A CONNECT has no answer in one piece: what follows is the two sides' own.
    const response = request.method === 'CONNECT' ? undefined : new Http2Response(stream)
    // One listener of each is node's.
    if (response) response.hasStreamListener = server.listenerCount('stream') > 1 || session.listenerCount('stream') > 1
    const exchange = traffic.arrived(
      wire.connection,
      request as unknown as ExchangeView['request'],
      response as unknown as ExchangeView['response'],
      wire.hasPromised(stream),
    )
    if (!exchange) {
      refuseStream(stream)
      return undefined
    }
    findBy(stream, exchange)
    wire.streamOpened(stream)
    // The answer may be sent whole long before its client has sent the body of its request. Of a
    // HEAD request 'finish' says nothing: node ends our side of it when it arrives.
    if (response && !stream.endAfterHeaders && !isHead(stream)) stream.on('finish', answered)
    return exchange
  }

  /** Node has made the objects that a `request` listener gets. */
  function requestMade(event: string, request: Http2ServerRequest, response: Http2ServerResponse): boolean {
    // A listener of `checkContinue` may hand it on when its stream has closed.
    const exchange = wireExchangeOf(request.stream) ?? wireExchangeOf(request)
    if (!exchange) return below(event, [request, response])
    adopt(exchange, request, response)
    if (event === 'checkContinue' && isOnlyOurs(server.rawListeners(event))) {
      // What node does without a listener.
      response.writeContinue()
      event = 'request'
    }
    // Node asks of the others whether anything has heard them.
    if (event !== 'request' && server.listenerCount(event) === 0) return false
    handOver(event, exchange, [request, response])
    return true
  }

  function handOver(event: string, exchange: WireExchange, args: readonly unknown[]): void {
    const emitting = inheritedEmit()
    if (emitting === (plainEmit as Emit)) deliver(event, exchange, args)
    else emitting.call(relay(), event, ...args)
  }

  /** Hands a request to the listeners, like node's own `emit`, and keeps what they return. */
  function deliver(event: string, exchange: WireExchange, args: readonly unknown[]): void {
    for (const listener of server.rawListeners(event)) {
      const returned: unknown = Reflect.apply(listener, server, args)
      if (isThenable(returned)) exchange.returned(returned)
    }
    exchange.handling ??= 'callback'
  }

  const relay = relayOf(['stream', ...REQUEST_EVENTS], deliver)

  gated[GATE] = true
  const ours = emit as unknown as typeof server.emit
  server.emit = ours
  return {
    giveBack: () => {
      if (!isOpen) return
      isOpen = false
      delete gated[GATE]
      // Code that has wrapped our `emit` since keeps it; it lets everything through now.
      if (server.emit === ours) {
        if (emitBelow) server.emit = emitBelow as unknown as typeof server.emit
        else delete (server as { emit?: unknown }).emit
      }
      http1?.giveBack()
    },
    connectionsGone: () => http1?.connectionsGone(),
  }
}

/** The events by which node hands over the objects of a request. */
const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation', 'connect'] as const
const isRequest = (event: string): boolean => (REQUEST_EVENTS as readonly string[]).includes(event)

/** A server that speaks HTTP/1.1, too, hands over its requests by the same events. */
const isHttp2 = (request: unknown): request is Http2ServerRequest =>
  (request as { readonly httpVersionMajor?: number } | undefined)?.httpVersionMajor === 2

/** A second call for the same objects does nothing. */
function adopt(exchange: WireExchange, request: Http2ServerRequest, response: Http2ServerResponse): void {
  const view = exchange.response as unknown as Http2Response | undefined
  if (view?.ofHandler === response) return
  if (view) view.ofHandler = response
  findBy(request, exchange)
  watchResponse(response)
  // Node tells a response to a HEAD request nothing that its handler has not ended [Node 20 to 26].
  const { stream } = request
  if (isHead(stream)) stream.once('close', () => void (response.writableEnded || response.emit('close')))
  if (view?.headers) for (const [name, value] of Object.entries(view.headers)) response.setHeader(name, value as string)
}

function answered(this: ServerHttp2Stream): void {
  wireExchangeOf(this)?.end()
}

/**
 * The socket of a session that was there before its server was attached. What a session shows of
 * it forbids to be closed; any method that returns its own object gives it away.
 */
function socketOf({ socket }: ServerHttp2Session): Socket {
  return socket.setMaxListeners(socket.getMaxListeners()) as Socket
}
