import { Duplex } from 'node:stream'

/**
 * A stream that is no socket, as a server may be given one by `emit('connection')`: a channel of
 * ssh, or a stream in a WebSocket.
 */
export class GivenStream extends Duplex {
  /** What the server has sent. */
  sent = ''

  constructor() {
    super({ allowHalfOpen: true })
  }

  override _read(): void {}

  override _write(chunk: unknown, _: BufferEncoding, done: () => void): void {
    this.sent += String(chunk)
    done()
  }
}
