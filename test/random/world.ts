import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { apiserverWording } from '#apiserver/apiserver-wording.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { readingOf } from '#src/http/reading.ts'
import { lookAtSendQueuesNow } from '#src/http/traffic/send-queue.ts'
import { Traffic } from '#src/http/traffic/traffic.ts'
import { transportOf } from '#src/http/transports.ts'
import { Client, Http1Client, Http2Client } from './byte-clients.ts'
import { type Action, Model, type OnPeer, type Peer, STEPS, type Step } from './model.ts'

export const KINDS = ['HTTP/1.1', 'HTTP/2', 'upgraded'] as const
export type Kind = (typeof KINDS)[number]

/** So many turns of the loop the counts have in any case to become what they should be. */
const TURNS_MIN = 500

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The real traffic on a real server, with the model beside it. */
export class World {
  readonly #kind: Kind
  readonly #patienceMs: number
  readonly #model: Model
  readonly #clock = new VirtualClock()
  readonly #traffic: Traffic
  readonly #server: Server
  readonly #gate: Disposable
  readonly #clients: Client[] = []
  readonly #handled = new Map<number, ServerResponse>()
  readonly #sockets = new Set<Socket>()
  #hasDrained = false

  /** @param patienceMs how long the counts may take to become what they should be */
  constructor(kind: Kind, patienceMs: number) {
    this.#kind = kind
    this.#patienceMs = patienceMs
    this.#model = new Model(kind !== 'HTTP/2')
    this.#traffic = new Traffic({
      clock: this.#clock,
      mode: 'refuse',
      isLongRunning: ({ url = '' }) => url.startsWith('/watch') || undefined,
      random: () => 0.5,
      transportOf,
      readingOf,
      wording: apiserverWording,
      record: () => undefined,
    })
    this.#server = kind === 'HTTP/2' ? createHttp2Server() : createServer({ keepAliveTimeout: 0 })
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      response.on('error', () => undefined)
      this.#handled.set(Number(request.url?.split('/')[2]), response)
    })
    this.#server.on('upgrade', (_request: IncomingMessage, socket: Socket) => {
      socket.resume().on('end', () => socket.end())
      socket.write(SWITCHED)
    })
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket.once('close', () => this.#sockets.delete(socket)))
    })
    this.#gate = this.#traffic.takeOver(this.#server)
  }

  /** Does all of it, and all that is left of a stop; rejects when something is counted wrongly. */
  async run(actions: readonly Action[]): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    try {
      for (const action of actions) await this.#step(action)
      while (!this.#model.has(STEPS[STEPS.length - 1] as Step)) await this.#step({ do: 'next' })
    } finally {
      this.#gate[Symbol.dispose]()
      this.#server.close()
      for (const socket of this.#sockets) socket.destroy()
      for (const client of this.#clients) client.leave('reset')
    }
  }

  async #step(action: Action): Promise<void> {
    await this.#do(action)
    const until = performance.now() + this.#patienceMs
    for (let turns = 0; !isDeepStrictEqual(this.#counts, this.#model.counts); turns++) {
      if (turns > TURNS_MIN && performance.now() > until) throw new Error(this.#differing(action))
      await turn()
    }
  }

  #differing(action: Action): string {
    const [counted, expected] = [this.#counts, this.#model.counts].map((counts) => JSON.stringify(counts))
    return `after ${JSON.stringify(action)}:\ncounted  ${counted}\nexpected ${expected}`
  }

  get #counts(): Model['counts'] {
    const { notified, idleUnnotified, ended, forced } = this.#traffic.snapshot.connectionFates()
    const { connections, ...counts } = this.#traffic.counts()
    return {
      ...counts,
      connections: { open: connections.open, notified: connections.notified, idle: connections.idle },
      fates: { notified, idleUnnotified, ended, forced },
      hasDrained: this.#hasDrained,
      answers: this.#clients.map(({ answers }) => answers),
      sawNotified: this.#clients.map(({ sawNotified }) => sawNotified),
    }
  }

  /** What cannot be done at the moment is not done. */
  async #do(action: Action): Promise<void> {
    const model = this.#model
    if (action.do === 'next') return this.#next()
    if (action.do === 'advance') {
      await this.#clock.advance(1_000)
      model.advance()
      return
    }
    if (action.do === 'open') {
      // The listener is closed then.
      if (model.has('close idle')) return
      const { port } = this.#server.address() as AddressInfo
      const make = this.#kind === 'HTTP/2' ? Http2Client : Http1Client
      this.#clients.push(await Client.open(port, (socket) => new make(socket)))
      model.open()
      return
    }
    const open = model.peers.filter(({ isOpen }) => isOpen)
    const peer = open[action.on % Math.max(1, open.length)]
    const client = peer && this.#clients[model.peers.indexOf(peer)]
    // Half of a request that ends is answered by node itself.
    if (action.do === 'leave' && action.how === 'end' && peer?.half !== undefined) return
    if (client) this.#act(action, peer, client)
  }

  #act(action: OnPeer, peer: Peer, client: Client): void {
    const model = this.#model
    const mayAsk = !peer.isUpgraded && peer.half === undefined
    switch (action.do) {
      case 'arrive':
        if (mayAsk) client.ask(`/${action.as}/${model.arrive(peer, action.as)}`)
        return
      case 'half':
        if (!mayAsk) return
        client.half(`/request/${model.sendHalf(peer)}`)
        return
      case 'rest':
        if (peer.half === undefined) return
        model.arrive(peer, 'request')
        client.rest()
        return
      case 'answer': {
        const waiting = peer.asked.filter(({ isAnswered }) => !isAnswered)
        const one = waiting[action.which % Math.max(1, waiting.length)]
        if (!one || peer.isUpgraded) return
        model.answer(peer, one.id)
        this.#handled.get(one.id)?.end('answer')
        return
      }
      case 'upgrade':
        if (!mayAsk || peer.asked.length > 0 || !(client instanceof Http1Client) || this.#kind !== 'upgraded') return
        model.upgrade(peer)
        client.upgrade('/watch/socket')
        return
      case 'reply':
        if (!peer.isUpgraded || !peer.wasNotified || !(client instanceof Http1Client)) return
        model.leave(peer)
        client.reply()
        return
      case 'leave':
        model.leave(peer)
        client.leave(action.how)
    }
  }

  /** A system acknowledges late what it has, and a connection with undelivered bytes is forced. */
  async #allIsDelivered(): Promise<void> {
    const until = performance.now() + this.#patienceMs
    const isLeft = (): boolean => {
      const undelivered = lookAtSendQueuesNow()
      return [...this.#sockets].some((socket) => undelivered(socket) > 0)
    }
    while (isLeft() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async #next(): Promise<void> {
    const traffic = this.#traffic
    if (this.#model.has('destroy')) return
    switch (this.#model.next()) {
      case 'initiate':
        traffic.initiateShutdown()
        return
      case 'tell':
        traffic.completeNotifying()
        // All that can be told without an answer are by then.
        traffic.listenersClosed()
        await this.#clock.advance(300)
        return
      case 'stop accepting':
        traffic.stopAccepting()
        return
      case 'drain':
        void traffic.drains.requests().then(() => (this.#hasDrained = true))
        return
      case 'tell watches':
        await Promise.all([traffic.drains.watches(0), this.#clock.advance(0)])
        return
      case 'close idle':
        await traffic.lastCall.closeIdleConnections()
        return
      case 'cut watches':
        traffic.drains.terminateWatches()
        return
      case 'destroy':
        await this.#allIsDelivered()
        traffic.destroyConnections()
    }
  }
}
