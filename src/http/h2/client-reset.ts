import type { ServerHttp2Stream } from 'node:http2'
import { setImmediate } from 'node:timers'
import { NO_ERROR } from './error-codes.ts'
import { ignore } from './exchange-objects.ts'

/** States of a stream by the numbers of nghttp2. Not node's constants: error-codes.ts says why. */
const IDLE = 1
const CLOSED = 7

/** The key of what hears that the client of a stream has reset it. */
const ON_RESET: unique symbol = Symbol('quiesce.onReset')

interface Watched {
  [ON_RESET]?: (stream: ServerHttp2Stream) => void
}

/**
 * Calls back when the client resets a stream with NO_ERROR before its answer has been sent. With
 * any other code node destroys the stream. With this one it waits for the end of the answer, which
 * can not be sent any more: it emits nothing that says so, and a session with such a stream never
 * ends [measured on Node 20, 22 and 24; mended in the course of 26]. Then the stream is destroyed
 * here, when its handler has read what had arrived of the request.
 *
 * @param onReset called in a later step than the one in which node reads the reset; not for a
 * stream that node has destroyed by itself
 */
export function watchReset(stream: ServerHttp2Stream, onReset: (stream: ServerHttp2Stream) => void): void {
  ;(stream as Watched)[ON_RESET] = onReset
  stream.setTimeout = setTimeout
  // Its reset may have been read together with its head, before it was handed over.
  if (isBeingClosed(stream)) setImmediate(noteReset, stream)
}

/**
 * The own setTimeout of a stream: in the step in which it closes, by whichever side, node takes its
 * timeout away, on every version. One function for all streams; an ordinary one has sent its answer
 * by then.
 */
const setTimeout: ServerHttp2Stream['setTimeout'] = function (this: ServerHttp2Stream, ...args) {
  const { setTimeout: own } = Object.getPrototypeOf(this) as ServerHttp2Stream
  own.apply(this, args)
  if (isBeingClosed(this)) setImmediate(noteReset, this)
  return this
}

const isBeingClosed = (stream: ServerHttp2Stream): boolean =>
  stream.closed && !stream.writableFinished && stream.rstCode === NO_ERROR && !stream.destroyed

function noteReset(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return
  // One that our side closes still has its answer to send; a reset after that is said by its end.
  if (!isForgotten(stream)) return void stream.once('end', () => setImmediate(noteReset, stream))
  stream.on('error', ignore)
  ;(stream as Watched)[ON_RESET]?.(stream)
  if (stream.readableEnded) stream.destroy()
  else stream.once('end', () => stream.destroy())
}

/** Whether node's library has closed it, too. */
const isForgotten = ({ state: { state } }: ServerHttp2Stream): boolean => state === IDLE || state === CLOSED
