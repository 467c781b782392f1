import type { ListenOptions, Server as NetServer } from 'node:net'
import { nodeServers, type ServerFactories } from '../../actors/server-factories.ts'
import { checkArguments, withFields } from '../../base/arguments.ts'
import type { Clock } from '../../base/clock.ts'
import { QuiesceError } from '../../base/errors.ts'
import { countConnection } from '../../base/node-internals.ts'
import { realSetImmediate } from '../../base/virtual-clock.ts'
import { type Carrier, type Endpoint, MemorySocket } from './memory-socket.ts'

/** Where the system looks for a free port. */
const FREE_PORTS_FROM = 49_152
const CLIENT_ADDRESS = '127.0.0.1'
const ANY_ADDRESS = '0.0.0.0'

/** A port, or the path of a Unix socket. */
type Place = number | string

interface Bound {
  readonly server: NetServer
  readonly place: Place
  readonly address: string
}

/**
 * A network in memory: `node:http` servers that listen on it take no port of the machine, and their
 * connections are {@link MemorySocket}s. HTTP itself is node's own, byte for byte. What is sent
 * takes turns of the event loop and no time, and arrives in the order in which it was sent, by all
 * senders together.
 */
export class MemoryNetwork implements Carrier {
  readonly clock: Clock
  readonly #bound = new Map<Place, Bound>()
  readonly #accepted = new Set<MemorySocket>()
  #underWay = 0
  #clientPort = FREE_PORTS_FROM

  constructor(clock: Clock) {
    checkArguments('new MemoryNetwork(clock)', [clock, withFields('a clock', 'now', 'setTimeout')])
    this.clock = clock
  }

  /** Whether nothing is on its way. */
  get isQuiet(): boolean {
    return this.#underWay === 0
  }

  /** Whether there is a listener on a port or a Unix socket. */
  listensOn(place: Place): boolean {
    return this.#bound.has(place)
  }

  carry(arrival: () => void): void {
    this.#underWay++
    realSetImmediate(() => {
      this.#underWay--
      arrival()
    })
  }

  /** Servers that will listen here. */
  readonly servers: ServerFactories = {
    http: async (...args) => this.adopt(await nodeServers.http(...args)),
    https: async (...args) => this.adopt(await nodeServers.https(...args)),
    http2: async (...args) => this.adopt(await nodeServers.http2(...args)),
    http2Secure: async (...args) => this.adopt(await nodeServers.http2Secure(...args)),
  }

  /**
   * Makes a server of any framework listen here instead of on the machine: its `listen()`,
   * `close()`, `address()` and `listening`. To be called before it listens.
   * @throws QuiesceError ERR_OPTION_INVALID when it listens already
   */
  adopt<S extends NetServer>(server: S): S {
    checkArguments('adopt(server)', [server, withFields('a server of node:http or node:net', 'listen', 'on')])
    if (server.listening) {
      throw new QuiesceError(
        'ERR_OPTION_INVALID',
        'MemoryNetwork.adopt: the server already listens on a real port; call listen() after adopt()',
      )
    }
    this.#takeOver(server)
    return server
  }

  #takeOver(server: NetServer): void {
    const closeAtNode = server.close
    const boundTo = (): Bound | undefined => [...this.#bound.values()].find((bound) => bound.server === server)
    Object.defineProperty(server, 'listening', { configurable: true, get: () => boundTo() !== undefined })
    server.listen = ((...args: unknown[]): NetServer => {
      const { place, address, callback } = listenArguments(args)
      if (callback) server.once('listening', callback)
      this.#bind(server, place, address)
      return server
    }) as NetServer['listen']
    server.address = () => {
      const bound = boundTo()
      if (!bound) return null
      return typeof bound.place === 'string' ? bound.place : { address: bound.address, port: bound.place, family: 'IPv4' }
    }
    server.close = (callback?: (error?: Error) => void) => {
      const bound = boundTo()
      if (callback) server.once('close', () => callback(bound ? undefined : notRunning()))
      if (bound) this.#bound.delete(bound.place)
      // Node finds nothing bound: it ends idle connections and its own timer, and says `close` when
      // no connection is left.
      return closeAtNode.call(server)
    }
  }

  /**
   * A connection to what listens there: the client's end of it, when the server has its own.
   * @param place a port, or the path of a Unix socket
   * @throws Error ECONNREFUSED without a listener
   */
  async connect(place: Place): Promise<MemorySocket> {
    const bound = this.#bound.get(place)
    if (!bound) throw refused(place)
    const here: Endpoint = { address: CLIENT_ADDRESS, port: this.#clientPort++ }
    const there: Endpoint = { address: bound.address === ANY_ADDRESS ? CLIENT_ADDRESS : bound.address, port: Number(place) || 0 }
    const { client, server: socket } = MemorySocket.pair(this, here, there)
    await new Promise<void>((resolve) => this.carry(resolve))
    // Bound by another listener meanwhile, or by none: a connection that was never accepted is
    // reset.
    if (this.#bound.get(place) !== bound) throw refused(place)
    this.#accepted.add(socket)
    socket.once('close', () => this.#accepted.delete(socket))
    accept(bound.server, socket)
    return client
  }

  /** What the system does to the sockets of a process that is gone. A second call does nothing. */
  shutDown(): void {
    this.#bound.clear()
    for (const socket of this.#accepted) socket.destroy()
  }

  #bind(server: NetServer, wanted: Place, address: string): void {
    const place = wanted === 0 ? this.#freePort() : wanted
    if (this.#bound.has(place)) {
      this.carry(() => server.emit('error', addressInUse(place, address)))
      return
    }
    this.#bound.set(place, { server, place, address })
    this.carry(() => {
      if (this.#bound.get(place)?.server === server) server.emit('listening')
    })
  }

  #freePort(): number {
    let port = FREE_PORTS_FROM
    while (this.#bound.has(port)) port++
    return port
  }
}

/** Accepts a socket as node does with what a server has accepted. */
function accept(server: NetServer, socket: MemorySocket): void {
  socket.once('close', countConnection(server))
  server.emit('connection', socket)
}

interface Listening {
  readonly place: Place
  readonly address: string
  readonly callback: (() => void) | undefined
}

/**
 * The forms of `listen()`: (port?, host?, backlog?, callback?), (path, callback?), (options,
 * callback?).
 */
function listenArguments(args: readonly unknown[]): Listening {
  const last = args.at(-1)
  const callback = typeof last === 'function' ? (last as () => void) : undefined
  const [first, second] = args
  const options: ListenOptions =
    typeof first === 'object' && first !== null
      ? first
      : typeof first === 'string' && !/^\d+$/.test(first)
        ? { path: first }
        : { port: typeof first === 'function' ? 0 : Number(first ?? 0), ...(typeof second === 'string' && { host: second }) }
  if (options.path !== undefined) return { place: options.path, address: options.path, callback }
  const port = options.port ?? 0
  if (!(Number.isInteger(port) && port >= 0 && port < 65_536)) {
    throw Object.assign(new RangeError(`options.port should be >= 0 and < 65536. Received ${port}.`), { code: 'ERR_SOCKET_BAD_PORT' })
  }
  return { place: port, address: options.host === 'localhost' ? CLIENT_ADDRESS : (options.host ?? ANY_ADDRESS), callback }
}

const systemError = (code: string, syscall: string, message: string): Error => Object.assign(new Error(message), { code, syscall })
const refused = (place: Place): Error =>
  systemError('ECONNREFUSED', 'connect', `connect ECONNREFUSED ${typeof place === 'number' ? `${CLIENT_ADDRESS}:${place}` : place}`)
const addressInUse = (place: Place, address: string): Error =>
  systemError(
    'EADDRINUSE',
    'listen',
    `listen EADDRINUSE: address already in use ${typeof place === 'number' ? `${address}:${place}` : place}`,
  )
const notRunning = (): Error => systemError('ERR_SERVER_NOT_RUNNING', 'close', 'Server is not running.')
