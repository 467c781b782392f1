import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { override } from '../../base/override.ts'
import { Movement, movedOn } from '../upgraded/movement.ts'
import { NO_ERROR } from './error-codes.ts'

/** How long a client has to end its side of a tunnel when ours has ended. */
const END_MS = 1_000

/**
 * The tunnels of a connection that were told to end: the streams of a CONNECT, of which nothing is
 * known but that bytes move.
 */
export class Tunnels {
  readonly #clock: Clock
  readonly #socket: Socket
  readonly #notified = new Map<ServerHttp2Stream, { readonly movement: Movement; timer?: unknown }>()

  constructor(clock: Clock, socket: Socket) {
    this.#clock = clock
    this.#socket = socket
  }

  /** @param withinMs until it is broken off */
  endWhenStill(stream: ServerHttp2Stream, withinMs: number): void {
    const movement = new Movement(this.#clock, {
      moved: movedOnStream(stream, this.#socket),
      still: () => this.#end(stream),
      withinMs,
    })
    this.#notified.set(stream, { movement })
  }

  isMoving(stream: ServerHttp2Stream): boolean {
    return this.#notified.get(stream)?.movement.isMoving ?? false
  }

  closed(stream: ServerHttp2Stream): void {
    const notified = this.#notified.get(stream)
    if (!notified) return
    notified.movement.cancel()
    this.#clock.clearTimeout(notified.timer)
    this.#notified.delete(stream)
  }

  /** Our side first, then both. One that was not answered has nothing to end. */
  #end(stream: ServerHttp2Stream): void {
    const notified = this.#notified.get(stream)
    if (!notified || !stream.headersSent || stream.destroyed) return
    stream.end()
    notified.timer = this.#clock.setTimeout(() => {
      if (!stream.destroyed) stream.close(NO_ERROR)
    }, END_MS)
  }
}

/**
 * Node counts the bytes of connections, and not of streams. What a stream has still to send moves
 * with its connection.
 */
function movedOnStream(stream: ServerHttp2Stream, socket: Socket): () => number {
  let pieces = 0
  for (const method of ['push', '_write', '_writev'] as const) {
    const original = stream[method] as (...args: unknown[]) => unknown
    override(stream as unknown as Record<typeof method, unknown>, method, (...args: unknown[]) => {
      pieces++
      return original.apply(stream, args)
    })
  }
  return () => pieces + (stream.writableLength > 0 ? movedOn(socket) : 0)
}
