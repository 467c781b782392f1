import cluster from 'node:cluster'
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { connect, type Server, type Socket } from 'node:net'
import { look } from '../base/look.ts'
import {
  bindingNameOf,
  type ConnectionHandle,
  connectionHandleOf,
  type ListeningHandle,
  listeningHandleOf,
} from '../base/node-internals.ts'
import { override } from '../base/override.ts'
import type { Attempt, QueueSeal } from '../http/traffic/accept-queue.ts'

/** What node asks for when its user does not. */
const BACKLOG = 511
/** Attempts that found our own connection nowhere: a firewall dropped it, or a proxy took it in. */
const FAILURES_MAX = 5
/**
 * Three rows of a table in /proc, which has the listening sockets first: of its connections as few
 * as can be are looked up.
 */
const CHUNK_BYTES = 512

/**
 * Seals the accept queues of listening sockets, for which TCP has no call: a connection of our own
 * takes a place in the queue that has run empty, and then the queue is made so short that this one
 * fills it. The kernel drops what asks for a connection from then on, as if it had not arrived, and
 * a close resets nothing but our own. Linux says in /proc how many wait in a queue; elsewhere there
 * is no seal.
 */
export class AcceptSeal implements QueueSeal, Disposable {
  readonly #queues: readonly SealedQueue[]
  #failures = 0
  #isShut = false
  /** {@link overflows} when the queues were last open for all. */
  #overflows = overflows()

  /**
   * A seal for those of the servers that can be sealed; undefined without one. What the others
   * close with is no more than it would be: the seal is made in the step in which they are closed.
   */
  static of(servers: readonly Server[]): AcceptSeal | undefined {
    const queues = servers.flatMap((server) => SealedQueue.of(server) ?? [])
    return queues.length > 0 ? new AcceptSeal(queues) : undefined
  }

  private constructor(queues: readonly SealedQueue[]) {
    this.#queues = queues
  }

  async attempt(mayReopen: boolean): Promise<Attempt> {
    for (const queue of this.#queues) queue.enter()
    // Node connects in the next tick, which is before the next poll: none of ours is accepted
    // before it has been looked for.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const found = this.#queues.map((queue) => queue.fill())
    const isSealed = found.every((what) => what === 'ours')
    const reopens = isSealed && mayReopen && !this.#isShut && overflows() !== this.#overflows
    if (isSealed && !reopens) return 'sealed'
    for (const queue of this.#queues) queue.leave()
    if (reopens) {
      this.#overflows = overflows()
      return 'reopened'
    }
    return found.includes('nothing') && ++this.#failures === FAILURES_MAX ? 'sealed' : 'others'
  }

  shut(): void {
    this.#isShut = true
    for (const queue of this.#queues) queue.shut()
  }

  /** Takes the seal back, after the close or instead of it. A second call does nothing. */
  [Symbol.dispose](): void {
    for (const queue of this.#queues) queue[Symbol.dispose]()
  }
}

/** The accept queue of one listening socket. */
class SealedQueue implements Disposable {
  readonly #handle: ListeningHandle
  readonly #target: { readonly host: string; readonly port: number }
  readonly #table: string
  readonly #inode: string
  /** Ports of our own connection, by which it is known when it is accepted after all. */
  readonly #ownPorts = new Set<number | undefined>()
  readonly #takeBack: readonly (() => void)[]
  #isShut = false
  #own: Socket | undefined

  /**
   * Undefined for what is no TCP socket of this process alone: one of systemd's or of a cluster
   * goes on after us, and its queue with it.
   */
  static of(server: Server): SealedQueue | undefined {
    const key = bindingNameOf(server)
    const address = server.address()
    if (process.platform !== 'linux' || cluster.isWorker || address === null || typeof address === 'string') return undefined
    // Node's name for a socket that it has bound itself has family and address in front.
    if (typeof key !== 'string' || !/^[46]:[\da-f.:]*:\d+$/i.test(key)) return undefined
    const handle = listeningHandleOf(server)
    return handle && new SealedQueue(handle, address)
  }

  private constructor(handle: ListeningHandle, { address, family, port }: { address: string; family: string; port: number }) {
    this.#handle = handle
    this.#target = { host: LOOPBACKS[address] ?? address, port }
    this.#table = family === 'IPv6' ? 'tcp6' : 'tcp'
    this.#inode = String(fstatSync(handle.fd).ino)
    const { onconnection, close } = handle
    const ownPorts = this.#ownPorts
    this.#takeBack = [
      override(handle, 'onconnection', (status, client) => {
        if (client && ownPorts.size > 0 && ownPorts.has(portOf(client, 'getpeername'))) client.close()
        else onconnection.call(handle, status, client)
      }),
      // A process that was handed the socket goes on with it, and with the length of its queue.
      override(handle, 'close', (...args) => {
        handle.listen(BACKLOG)
        close.apply(handle, args)
      }),
    ]
  }

  /**
   * Connects to our own listener: there is room in any case, and none is on its way back from a SYN
   * cookie.
   */
  enter(): void {
    this.#handle.listen(BACKLOG)
    this.#own = connect(this.#target)
      .on('error', () => {
        // Reset by the close, or never made, which `fill()` finds out.
      })
      .unref()
  }

  /**
   * Lets nothing more in, and says what is in the queue: our connection alone, others too, or none
   * of ours.
   */
  fill(): 'ours' | 'others' | 'nothing' {
    this.#handle.listen(0)
    const own = this.#own && connectionHandleOf(this.#own)
    if (!own) return 'nothing'
    this.#ownPorts.add(portOf(own, 'getsockname'))
    // Whether it has a peer is asked of the kernel: node learns that it is connected from its next
    // poll.
    if (portOf(own, 'getpeername') === undefined) return 'nothing'
    const length = queueLength(this.#table, this.#inode)
    if (!length) return 'nothing'
    return length === 1 ? 'ours' : 'others'
  }

  leave(): void {
    this.#own?.destroy()
    if (!this.#isShut) this.#handle.listen(BACKLOG)
  }

  shut(): void {
    this.#isShut = true
    this.#handle.listen(0)
  }

  [Symbol.dispose](): void {
    this.#own?.destroy()
    for (const takeBack of this.#takeBack) takeBack()
  }
}

const LOOPBACKS: Readonly<Record<string, string>> = { '::': '::1', '0.0.0.0': '127.0.0.1' }

function portOf(handle: ConnectionHandle, end: 'getsockname' | 'getpeername'): number | undefined {
  const address: { port?: number } = {}
  return handle[end](address) === 0 ? address.port : undefined
}

/** How many connections wait to be accepted by a socket; undefined where nothing says so. */
function queueLength(table: string, inode: string): number | undefined {
  return reading(table, (file) => {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let rest = ''
    for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk)) {
      const rows = (rest + chunk.toString('latin1', 0, size)).split('\n')
      rest = rows.pop() ?? ''
      for (const row of rows) {
        // number, own address, peer, state, waiting to be sent:waiting to be read, timer,
        // retransmissions, user, timeout, inode
        const [, , , state, waiting, , , , , of] = row.trim().split(/\s+/)
        if (state === '0A' && of === inode) return Number.parseInt(waiting?.split(':')[1] ?? '', 16)
      }
    }
    return undefined
  })
}

/**
 * How often the kernel has dropped something because an accept queue was full, of this network in
 * all; undefined where nothing says so.
 */
function overflows(): string | undefined {
  return reading('netstat', (file) => {
    const [names, values] = readFileSync(file, 'latin1')
      .split('\n', 2)
      .map((line) => line.split(' '))
    return values?.[names?.indexOf('ListenOverflows') ?? -1]
  })
}

/** A table of the kernel's; undefined where it is not there, or is none of this process. */
function reading<T>(table: string, read: (file: number) => T): T | undefined {
  const file = look(() => openSync(`/proc/self/net/${table}`, 'r'))
  if (file === undefined) return undefined
  try {
    return look(() => read(file))
  } finally {
    closeSync(file)
  }
}
