import type { EventEmitter } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Stream } from 'node:stream'
import { setImmediate } from 'node:timers'
import { nameAmongCopies } from '../../base/shared-by-copies.ts'
import { alreadyAttached, isThenable, plainEmit, relayOf } from '../emit-gate.ts'
import { wireExchangeOf } from '../exchange-of.ts'
import { idleSocketsOf } from '../older.ts'
import type { WireExchange } from '../ports.ts'
import { Handshakes } from '../tls/handshake.ts'
import type { TrafficPort } from '../transport.ts'
import { goOnWhenSwitched } from '../upgraded/switching.ts'
import { gather } from './gathering.ts'
import { endWithItsResponse } from './response-end.ts'
import { Http1Wire, http1WireOf } from './wire.ts'

/** The events by which node hands over a request. */
const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect'] as const
type RequestEvent = (typeof REQUEST_EVENTS)[number]

const GATE: unique symbol = Symbol.for(nameAmongCopies('gate'))

/**
 * Puts one gate in front of a server's handlers, by an `emit` of the server's own: it sees every
 * request before any listener, can answer in their place, and sees what they throw and return.
 * Listeners stay where they are registered, so that a later `on`, `once` or `off`, and node's own
 * rules about which of them exist, keep their meaning. Why so, and at what price:
 * docs/decisions/0002-gate-by-emit.md
 *
 * @param handshakes of a server with TLS; default: its own
 * @returns restores the server; a second disposal does nothing. Exchanges that are under way stay
 * the traffic port's.
 * @throws QuiesceError ERR_ALREADY_ATTACHED when the server has a gate
 */
export function openHttp1Gate(
  server: Server,
  traffic: TrafficPort,
  handshakes: Handshakes | undefined = 'setSecureContext' in server ? new Handshakes(traffic) : undefined,
): Disposable {
  const gated = server as Gated
  if (gated[GATE]) throw alreadyAttached()
  const ownEmit = Object.hasOwn(server, 'emit') ? server.emit : undefined
  const prototype = Object.getPrototypeOf(server) as Server
  let isOpen = true

  function emit(this: Server, event: string, ...args: unknown[]): boolean {
    if (isOpen) {
      if ((event === 'request' || event === 'checkContinue' || event === 'checkExpectation') && isByConnection(args[0])) {
        return receive(event, args[0], args[1] as ServerResponse)
      }
      if ((event === 'upgrade' || event === 'connect') && isByConnection(args[0])) {
        return receive(event, args[0], undefined, args[1] as Socket, args[2] as Buffer)
      }
    }
    const isHeard = inheritedEmit().call(server, event, ...args)
    // What a listener has said to a client that node cannot read is an answer.
    if (isOpen && event === 'clientError' && args[1] instanceof Stream) http1WireOf(args[1] as Socket)?.clientFailed()
    // After node's own listener, so that our look at the socket's end comes after node's too.
    if (isOpen && event === 'connection' && handshakes) handshakes.begun(args[0] as Socket)
    else if (isOpen && event === (handshakes ? 'secureConnection' : 'connection') && isOurs(args[0] as Socket)) wireFor(args[0] as Socket)
    return isHeard
  }

  /**
   * The wire of a socket; a socket that has none is a connection from now on, or what a handshake
   * has made of one.
   */
  const wireFor = (socket: Socket): Http1Wire => http1WireOf(socket) ?? new Http1Wire(socket, traffic, server, handshakes?.ended(socket))

  /** Looked up each time: instrumentation may patch the prototype whenever it is loaded. */
  const inheritedEmit = (): EventEmitter['emit'] => ownEmit ?? prototype.emit

  function receive(event: RequestEvent, request: IncomingMessage, response?: ServerResponse, socket?: Socket, head?: Buffer): boolean {
    const known = wireExchangeOf(request)
    // A `checkContinue` listener hands its request on by emitting it again, and so does a server in
    // front of another one.
    if (known) deliver(event, known, request, response, socket, head)
    else {
      const exchange = arrived(request, response)
      if (!exchange) return true
      // An immediate runs when all that was read is parsed; a tick may run between two requests of
      // the same read [measured].
      if (response && traffic.letsRequestsGather()) gather(exchange.connection.wire.socket, () => pass(event, exchange), traffic.letGoOn)
      else pass(event, exchange, socket, head)
    }
    return true
  }

  function arrived(request: IncomingMessage, response: ServerResponse | undefined): WireExchange | undefined {
    const { socket } = request
    const wire = wireFor(socket)
    const { connection } = wire
    const exchange = traffic.arrived(connection, request, response)
    // Node has taken its listener for errors off the socket of an upgrade; left to its holder, a
    // client that breaks off may crash the process.
    if (!response) socket.on('error', () => undefined)
    if (!exchange) return undefined
    // A request comes after the body of the one before it, which need not be kept.
    wire.unread = undefined
    if (response) endWithItsResponse(exchange, response)
    else wire.upgrading()
    // The socket closed before the request reached us, so its 'close' has fired already.
    if (socket.destroyed) setImmediate(() => connection.closed())
    return exchange
  }

  function pass(event: RequestEvent, exchange: WireExchange, socket?: Socket, head?: Buffer): void {
    if (exchange.isOver) return
    const { request, response } = exchange
    try {
      if (!traffic.admit(exchange)) return
      if (event === 'checkContinue' && isOnlyOurs(server.rawListeners(event))) {
        // What node does without a listener.
        response?.writeContinue()
        event = 'request'
      }
      if (!response) goOnWhenSwitched(exchange, traffic, head)
      const emitting = inheritedEmit()
      if (emitting === plainEmit) deliver(event, exchange, request, response, socket, head)
      else if (response) emitting.call(relay(), event, request, response)
      else emitting.call(relay(), event, request, socket, head)
    } catch (thrown) {
      exchange.threw(thrown)
    }
  }

  /** Hands a request to the listeners, like node's own `emit`, and keeps what they return. */
  function deliver(
    event: RequestEvent,
    exchange: WireExchange,
    request: IncomingMessage,
    response: ServerResponse | undefined,
    socket: Socket | undefined,
    head: Buffer | undefined,
  ): void {
    const listeners = server.rawListeners(event) as ((...args: readonly unknown[]) => unknown)[]
    for (let index = 0; index < listeners.length; index++) {
      const listener = listeners[index] as (typeof listeners)[number]
      const returned = response ? listener.call(server, request, response) : listener.call(server, request, socket, head)
      if (isThenable(returned)) exchange.returned(returned)
    }
    exchange.handling ??= 'callback'
  }

  const relay = relayOf(REQUEST_EVENTS, (event, exchange, [request, ...rest]) => {
    const { response } = exchange
    if (response) deliver(event, exchange, request as IncomingMessage, rest[0] as ServerResponse, undefined, undefined)
    else deliver(event, exchange, request as IncomingMessage, undefined, rest[0] as Socket, rest[1] as Buffer)
  })

  gated[GATE] = true
  server.emit = emit as Server['emit']
  // Without a listener, node says "100 Continue" before any code has seen the request.
  server.on('checkContinue', gateDecidesToContinue)
  for (const socket of idleSocketsOf(server, handshakes !== undefined)) {
    if (handshakes) handshakes.begun(socket)
    // Of a life before this one it has a wire, and what is on it counts there.
    else if (!http1WireOf(socket)) wireFor(socket).connection.isUsed = socket.bytesWritten > 0
  }

  return {
    [Symbol.dispose]: () => {
      if (!isOpen) return
      isOpen = false
      server.off('checkContinue', gateDecidesToContinue)
      delete gated[GATE]
      // Code that has wrapped our `emit` since keeps it; it lets everything through now.
      if (server.emit !== (emit as Server['emit'])) return
      if (ownEmit) server.emit = ownEmit
      else delete (server as Partial<Server>).emit
    },
  }
}

/**
 * False for a request that the program itself makes up, such as those of light-my-request and of
 * adapters for functions as a service, whose socket is none: there is no client to lose, and
 * nothing that could be closed. Such a request is the listeners' alone.
 */
const isByConnection = (request: unknown): request is IncomingMessage => (request as IncomingMessage).socket instanceof Stream

interface Gated {
  [GATE]?: true
}

/**
 * A handshake may have chosen another protocol, on a server that speaks several; and what code
 * hands to a server may have closed meanwhile, which nothing will say any more.
 */
const isOurs = ({ alpnProtocol, closed }: Socket & { readonly alpnProtocol?: string | false | null }): boolean =>
  alpnProtocol !== 'h2' && !closed

/** Makes node emit `checkContinue`, and does nothing about it: the gate does. */
function gateDecidesToContinue(): void {}

export const isOnlyOurs = (listeners: readonly unknown[]): boolean => listeners.length === 1 && listeners[0] === gateDecidesToContinue
