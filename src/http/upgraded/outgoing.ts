import type { Socket } from 'node:net'
import { override } from '../../base/override.ts'

/** What `write` of a socket is given. */
type WriteArgs = [chunk: string | Uint8Array, encoding?: unknown, callback?: unknown]
type Write = (...args: WriteArgs) => boolean

/**
 * What the holder of a socket writes to it, seen on its way. Node hands an upgraded socket over
 * bare, and says nothing more about it.
 */
export class Outgoing {
  readonly #socket: Socket
  readonly #write: Write
  #restore: () => void = () => {}

  /** @param written is given all that has been written, as bytes */
  constructor(socket: Socket, written: (bytes: Uint8Array) => void) {
    this.#socket = socket
    this.#write = socket.write as Write
    this.#shadow((...args) => {
      const goesOn = this.write(...args)
      written(bytesOf(args))
      return goesOn
    })
  }

  /** Writes, unseen. */
  readonly write = (...args: WriteArgs): boolean => this.#write.apply(this.#socket, args)

  /**
   * Sends from now on of each piece what `passes` says of it, calls back, and drops the rest.
   * @param passes the number of bytes
   */
  cut(passes: (bytes: Uint8Array) => number, written: () => void): void {
    this.#restore()
    this.#shadow((...args) => {
      const bytes = bytesOf(args)
      const length = passes(bytes)
      const goesOn = length < bytes.length ? this.write(bytes.subarray(0, length), callbackOf(args)) : this.write(...args)
      written()
      return goesOn
    })
  }

  /** Drops from now on what its holder writes, as if it had been sent. */
  silence(): void {
    this.#restore()
    this.#shadow((...args) => {
      const callback = callbackOf(args)
      if (callback) process.nextTick(callback)
      return true
    })
  }

  /** The socket is as it was. A second call does nothing. */
  restore(): void {
    this.#restore()
  }

  #shadow(write: Write): void {
    this.#restore = override(this.#socket, 'write', write as Socket['write'])
  }
}

const callbackOf = (args: WriteArgs): (() => void) | undefined => args.find((arg) => typeof arg === 'function') as (() => void) | undefined

const bytesOf = ([chunk, encoding]: WriteArgs): Uint8Array =>
  typeof chunk === 'string' ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8') : chunk
