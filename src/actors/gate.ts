import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { QuiesceError } from '../errors.ts'
import { type Exchange, exchangeOf } from './exchange.ts'

/** The events by which node hands over a request. */
type RequestEvent = 'request' | 'checkContinue' | 'checkExpectation' | 'upgrade' | 'connect'

/** Whoever decides about requests. */
export interface GateKeeper {
  /** True when requests that arrive together have to be known together, before the first of them is answered. */
  readonly letsRequestsGather: boolean
  /** A socket was accepted. */
  connected(socket: Socket): void
  /** A request has arrived. Undefined when it came too late to be looked at. */
  arrived(request: IncomingMessage, response: ServerResponse | undefined): Exchange | undefined
  /** Decides: true to let its handler have it, false when it has been answered. May throw what a filter throws. */
  admit(exchange: Exchange): boolean
  /** A handler has returned this promise. */
  handlerReturned(exchange: Exchange, promise: PromiseLike<unknown>): void
  /** A filter or a handler has thrown. */
  threw(exchange: Exchange, thrown: unknown): void
}

const GATE: unique symbol = Symbol('quiesce.gate')

/** Loaded before anybody can have patched it: a server whose `emit` is this one has no instrumentation. */
const plainEmit = EventEmitter.prototype.emit

/**
 * Puts one gate in front of a server's handlers, by an `emit` of the server's own: it sees every request before any
 * listener, can answer it in their place, and sees what they throw and return. Listeners stay where they are registered, so
 * that later `on`, `once`, `off` and node's own rules about which of them exist keep their meaning. Why so, and at what
 * price: docs/decisions/0002-gate-by-emit.md
 *
 * Disposing of the result restores the server; requests that are under way stay counted until they are over. A second
 * disposal does nothing.
 * @throws QuiesceError ERR_ALREADY_ATTACHED when the server has a gate
 */
export function openGate(server: Server, keeper: GateKeeper): Disposable {
  const gated = server as Gated
  if (gated[GATE]) throw new QuiesceError('ERR_ALREADY_ATTACHED', 'quiesce is already attached to this server')
  const own = Object.hasOwn(server, 'emit') ? server.emit : undefined
  const prototype = Object.getPrototypeOf(server) as Server
  const relay = new EventEmitter()
  // The sockets that an HTTPS server accepts are not the ones that its requests come on.
  const connectionEvent = 'setSecureContext' in server ? 'secureConnection' : 'connection'
  let isOpen = true

  function emit(this: Server, event: string, ...args: unknown[]): boolean {
    if (isOpen) {
      switch (event) {
        case 'request':
        case 'checkContinue':
        case 'checkExpectation':
          return receive(event, args[0] as IncomingMessage, args[1] as ServerResponse, args)
        case 'upgrade':
        case 'connect':
          return receive(event, args[0] as IncomingMessage, undefined, args)
        case connectionEvent: {
          const heard = inherited().call(server, event, ...args)
          keeper.connected(args[0] as Socket)
          return heard
        }
      }
    }
    return inherited().call(server, event, ...args)
  }

  /** Looked up each time: instrumentation patches the prototype, at any time. */
  const inherited = (): EventEmitter['emit'] => own ?? prototype.emit

  function receive(event: RequestEvent, request: IncomingMessage, response: ServerResponse | undefined, args: unknown[]): boolean {
    const known = exchangeOf(request)
    // A `checkContinue` listener hands its request on by emitting it again; so does a server that fronts another one.
    if (known) {
      deliver(event, known, args)
      return true
    }
    const exchange = keeper.arrived(request, response)
    if (!exchange) return true
    // Immediates run when all that the socket has received is parsed; a tick may run in the middle of it [measured].
    if (response && keeper.letsRequestsGather) setImmediate(pass, event, exchange, args)
    else pass(event, exchange, args)
    return true
  }

  function pass(event: RequestEvent, exchange: Exchange, args: unknown[]): void {
    if (exchange.isOver) return
    try {
      if (!keeper.admit(exchange)) return
      if (event === 'checkContinue' && isOnlyOurs(server.rawListeners(event))) {
        // What node does when nobody listens.
        exchange.response?.writeContinue()
        event = 'request'
      }
      const emitting = inherited()
      // Instrumentation that patches `emit` has to see the event; what it finds at the bottom is our own delivery.
      if (emitting === plainEmit) deliver(event, exchange, args)
      else emitting.call(relay, event, ...args)
    } catch (thrown) {
      keeper.threw(exchange, thrown)
    }
  }

  function deliver(event: RequestEvent, exchange: Exchange, args: unknown[]): void {
    const listeners = server.rawListeners(event)
    for (let index = 0; index < listeners.length; index++) {
      const returned: unknown = Reflect.apply(listeners[index] as (...args: unknown[]) => unknown, server, args)
      if (isThenable(returned)) keeper.handlerReturned(exchange, returned)
    }
  }

  for (const event of ['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect'] as const) {
    relay.on(event, (...args: unknown[]) => {
      const exchange = exchangeOf(args[0] as IncomingMessage) as Exchange
      try {
        deliver(event, exchange, args)
      } catch (thrown) {
        keeper.threw(exchange, thrown)
      }
    })
  }

  gated[GATE] = true
  server.emit = emit as Server['emit']
  // Without a listener node says "100 Continue" before anybody has seen the request.
  server.on('checkContinue', gateKeepsTheContinue)

  return {
    [Symbol.dispose]: () => {
      if (!isOpen) return
      isOpen = false
      server.off('checkContinue', gateKeepsTheContinue)
      delete gated[GATE]
      // Somebody who wrapped our `emit` keeps it, and it lets everything through.
      if (server.emit !== (emit as Server['emit'])) return
      if (own) server.emit = own
      else delete (server as Partial<Server>).emit
    },
  }
}

interface Gated {
  [GATE]?: true
}

/** Makes node emit `checkContinue`; never called. */
function gateKeepsTheContinue(): void {}

const isOnlyOurs = (listeners: readonly unknown[]): boolean => listeners.length === 1 && listeners[0] === gateKeepsTheContinue

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return value !== null && typeof value === 'object' && typeof (value as { then?: unknown }).then === 'function'
}
