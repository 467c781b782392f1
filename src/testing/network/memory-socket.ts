import { Duplex } from 'node:stream'
import type { Clock } from '../../base/clock.ts'

/**
 * What carries the bytes: takes what arrives later, in order, in a turn of the event loop of its
 * own.
 */
export interface Carrier {
  readonly clock: Clock
  carry(arrival: () => void): void
}

/**
 * What a connection holds that was sent and not read, as the buffers of two kernels would: above
 * it, a writer waits.
 */
const WINDOW_BYTES = 64 * 1024

export interface Endpoint {
  readonly address: string
  readonly port: number
}

/**
 * One end of a connection in memory: a stream that behaves as a `net.Socket` does towards
 * `node:http`. What is written arrives at the other end in a later turn, also when its writer is
 * gone by then; a reader that does not read holds its writer up; `end()` closes one direction and
 * `destroy()` both: in order when everything was read, else by a reset, and so does writing to an
 * end that is gone.
 */
export class MemorySocket extends Duplex {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly remoteFamily = 'IPv4'
  readonly localAddress: string
  readonly localPort: number
  readonly localFamily = 'IPv4'
  readonly connecting = false
  readonly encrypted = false
  bytesRead = 0
  timeout = 0
  readonly #carrier: Carrier
  #peer!: MemorySocket
  /** Bytes on their way to us. */
  #arriving = 0
  /** Lets the peer go on, whose write has filled the window. */
  #readMore: (() => void) | undefined
  #dispatched = 0
  #idleTimer: unknown
  #isResetting = false

  /** The two ends of a new connection. */
  static pair(carrier: Carrier, client: Endpoint, server: Endpoint): { readonly client: MemorySocket; readonly server: MemorySocket } {
    const near = new MemorySocket(carrier, client, server)
    const far = new MemorySocket(carrier, server, client)
    near.#peer = far
    far.#peer = near
    return { client: near, server: far }
  }

  private constructor(carrier: Carrier, local: Endpoint, remote: Endpoint) {
    super({ allowHalfOpen: true })
    this.#carrier = carrier
    this.localAddress = local.address
    this.localPort = local.port
    this.remoteAddress = remote.address
    this.remotePort = remote.port
  }

  /** The bytes that were given to the socket, sent or not, as net counts them. */
  get bytesWritten(): number {
    return this.#dispatched + this.writableLength
  }

  get readyState(): 'open' | 'readOnly' | 'writeOnly' | 'closed' {
    if (this.readable && this.writable) return 'open'
    if (this.readable) return 'readOnly'
    return this.writable ? 'writeOnly' : 'closed'
  }

  get pending(): boolean {
    return false
  }

  address(): { readonly address: string; readonly port: number; readonly family: 'IPv4' } {
    return { address: this.localAddress, port: this.localPort, family: 'IPv4' }
  }

  /** Emits `timeout` after so long without a byte in either direction; 0 for never. */
  setTimeout(ms: number, callback?: () => void): this {
    this.timeout = ms
    if (callback) {
      if (ms === 0) this.off('timeout', callback)
      else this.once('timeout', callback)
    }
    this.#restartIdleTimer()
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  /** Closes when what was written has been sent, as net does. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  resetAndDestroy(): this {
    this.#isResetting = true
    return this.destroy()
  }

  override _read(): void {
    const readMore = this.#readMore
    this.#readMore = undefined
    readMore?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#restartIdleTimer()
    const peer = this.#peer
    peer.#arriving += chunk.length
    this.#carrier.carry(() => {
      peer.#arriving -= chunk.length
      if (!peer.destroyed) peer.#receive(chunk)
      else if (!this.destroyed) this.#reset()
    })
    const sent = (): void => {
      this.#dispatched += chunk.length
      done()
    }
    if (peer.#arriving + peer.readableLength > WINDOW_BYTES) peer.#readMore = sent
    else sent()
  }

  override _final(done: () => void): void {
    this.#carrier.carry(() => this.#peer.#receiveEnd())
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#carrier.clock.clearTimeout(this.#idleTimer)
    const peer = this.#peer
    const isReset = this.#isResetting || this.readableLength > 0
    this._read()
    this.#carrier.carry(() => {
      if (peer.destroyed) return
      if (isReset) peer.#reset()
      else peer.#receiveEnd()
    })
    done(error)
  }

  #receive(chunk: Buffer): void {
    this.bytesRead += chunk.length
    this.#restartIdleTimer()
    if (!this.readableEnded) this.push(chunk)
  }

  #receiveEnd(): void {
    if (!this.destroyed && !this.readableEnded) this.push(null)
  }

  #reset(): void {
    this.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', errno: -104, syscall: 'read' }))
  }

  #restartIdleTimer(): void {
    const { clock } = this.#carrier
    if (this.#idleTimer !== undefined) clock.clearTimeout(this.#idleTimer)
    this.#idleTimer = this.timeout > 0 && !this.destroyed ? clock.setTimeout(() => this.emit('timeout'), this.timeout) : undefined
  }
}
