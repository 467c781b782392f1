// @ts-check
import { connect } from 'node:net'
import { Duplex } from 'node:stream'

/**
 * A TCP connection to 127.0.0.1 over a link with a delay each way: what is written arrives later,
 * and data, ends and resets are heard later, in their order. node's agent and undici take it for a
 * socket.
 *
 * The delay is in here, and not in a proxy, because a proxy accepts in place of the server:
 * `connect` means that the server's own kernel has accepted, and the client's port is the one that
 * the server sees.
 */
export class Link extends Duplex {
  /** Whether the client has been told that its connection stands. */
  isConnected = false
  /** Whether the client has heard of an end or a reset. */
  isOver = false
  /** Where it comes from, as the server sees it; 0 until it is connected. */
  localPort = 0
  /**
   * What happened when, for the inquiry into a loss: `CAME what` is at the client's end of the
   * wire, before the delay.
   */
  history = /** @type {string[]} */ ([])
  #port
  #delayMs
  /** @type {import('node:net').Socket | undefined} */
  #socket

  /** @param {{ port: number, delayMs: number }} options */
  constructor({ port, delayMs }) {
    super({ allowHalfOpen: false })
    this.#port = port
    this.#delayMs = delayMs
    // Agents listen only while a connection is in use; a reset of an idle one must not end the
    // process.
    this.on('error', () => {})
  }

  /** @override @param {(error?: Error | null) => void} done */
  _construct(done) {
    this.#later(() => {
      if (this.destroyed) return done()
      const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
      this.#socket = socket
      const heard = (/** @type {string} */ what, /** @type {() => void} */ then) => {
        this.#note(`CAME ${what}`)
        this.#later(() => {
          this.#note(what)
          then()
        })
      }
      const over = (/** @type {Error | undefined} */ error) => {
        this.isOver = true
        if (!this.isConnected) done(error)
        else if (error) this.destroy(error)
        else this.push(null)
      }
      socket.on('connect', () => {
        this.localPort = socket.localPort ?? 0
        heard('connect', () => {
          this.isConnected = true
          done()
          this.emit('connect')
        })
      })
      socket.on('data', (bytes) => heard(`${bytes.length} bytes`, () => !this.readableEnded && !this.destroyed && this.push(bytes)))
      socket.on('end', () => heard('end', () => over(undefined)))
      socket.on('error', (error) => heard(/** @type {NodeJS.ErrnoException} */ (error).code ?? error.message, () => over(error)))
    })
  }

  /** @override */
  _read() {}

  /** @override @param {Buffer} bytes @param {string} _encoding @param {() => void} done */
  _write(bytes, _encoding, done) {
    this.#note(`wrote ${bytes.length} bytes`)
    this.#later(() => {
      if (this.#socket?.writable) this.#socket.write(bytes)
    })
    done()
  }

  /** @override @param {() => void} done */
  _final(done) {
    this.#note('ended')
    this.#later(() => this.#socket?.end())
    done()
  }

  /** @override @param {Error | null} error @param {(error: Error | null) => void} done */
  _destroy(error, done) {
    this.#note(`destroyed${error ? `: ${error.message}` : ''}`)
    this.#later(() => this.#socket?.destroy())
    done(error)
  }

  // What agents ask of a socket, and what is of no use here.
  setNoDelay() {
    return this
  }
  setKeepAlive() {
    return this
  }
  setTimeout() {
    return this
  }
  ref() {
    return this
  }
  unref() {
    return this
  }

  /** Timers of one duration fire in the order in which they were set: nothing overtakes. @param {() => void} then */
  #later(then) {
    setTimeout(then, this.#delayMs)
  }

  /** @param {string} what */
  #note(what) {
    this.history.push(`${wallTime()} ${what}`)
    if (this.history.length > 40) this.history.splice(20, 1)
  }
}

/** Milliseconds that processes of one machine can compare. */
export const wallTime = () => (performance.timeOrigin + performance.now()).toFixed(1)
