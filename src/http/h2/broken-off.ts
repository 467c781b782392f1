import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { ignore, prototypeOf } from './exchange-objects.ts'

/** Who has broken off a stream, or ended a session, before its time. */
type BrokenOffBy = 'client' | 'handler' | 'us'

/** The mark of it; a stream that its client has reset has none. */
const BROKEN_OFF_BY: unique symbol = Symbol('quiesce.brokenOffBy')

interface Marked {
  [BROKEN_OFF_BY]?: BrokenOffBy
}

/**
 * Notes when a handler gives up a stream. What node says of a stream that is over, its code and
 * `aborted`, is the same whichever side has broken it off.
 */
export function watchGivenUp(stream: ServerHttp2Stream): void {
  stream.close = close
  stream.destroy = destroy
}

/**
 * Notes when a handler ends the session.
 *
 * @param isShared whether the requests of several handlers are on it: then it is not known which of
 * them has given up, and the others may still be at work
 */
export function watchSessionEnd(session: ServerHttp2Session, isShared: () => boolean): void {
  session.on('goaway', (code) => {
    // Node destroys the session itself then, next in this step.
    if (code !== 0) mark(session, 'client')
  })
  session.destroy = function (this: ServerHttp2Session, ...args) {
    if (!this.destroyed && !isShared() && !isSocketGone(this) && !isProtocolError(args[0])) mark(this, 'handler')
    prototypeOf(this).destroy.apply(this, args)
  }
}

/** Destroys a session for a reason of ours: its handlers have not given up. */
export function destroySession(session: ServerHttp2Session, error?: Error, code?: number): void {
  mark(session, 'us')
  session.destroy(error, code)
}

/**
 * Ends it with RST_STREAM and nothing else, as INTERNAL_ERROR. Not by its `close`, which ends the
 * answer first, and not as CANCEL, which node's client takes for an end in order: either way the
 * part that was sent may be taken for the whole [measured on Node 20 to 26].
 */
export function breakStream(stream: ServerHttp2Stream): void {
  mark(stream, 'us')
  // Its handler may have no listener for the error that this is to it.
  stream.on('error', ignore)
  stream.destroy(new Error('broken off'))
}

/** Whether its handler has broken it off, and so will not end it. */
export const isGivenUp = (stream: ServerHttp2Stream): boolean => (stream as Marked)[BROKEN_OFF_BY] === 'handler'

/** Whether our side has broken it off: the handler or quiesce. */
export const isBrokenOffHere = (stream: ServerHttp2Stream): boolean => (stream as Marked)[BROKEN_OFF_BY] !== undefined

// One function for all streams each, so that a stream costs a few assignments.

const close: ServerHttp2Stream['close'] = function (this: ServerHttp2Stream, ...args) {
  noteOurSide(this)
  prototypeOf(this).close.apply(this, args)
}

const destroy: ServerHttp2Stream['destroy'] = function (this: ServerHttp2Stream, error) {
  noteOurSide(this, error)
  return prototypeOf(this).destroy.call(this, error)
}

/**
 * Node calls the same methods: on a stream that is closed already when a reset has come, and else
 * when its session or its socket has come to its end, or a write to a client that is gone has
 * failed.
 */
function noteOurSide(stream: ServerHttp2Stream, error?: Error): void {
  if (stream.closed) return
  const { session } = stream as { readonly session: ServerHttp2Session | undefined }
  if (!session) return
  const isOurSide = session.destroyed ? (session as Marked)[BROKEN_OFF_BY] === 'handler' : !isSocketGone(session) && !isFailedWrite(error)
  if (isOurSide) mark(stream, 'handler')
}

/** The first who does it has done it. */
function mark(object: ServerHttp2Stream | ServerHttp2Session, by: BrokenOffBy): void {
  ;(object as Marked)[BROKEN_OFF_BY] ??= by
}

const isSocketGone = ({ socket }: ServerHttp2Session): boolean => (socket as typeof socket | undefined)?.destroyed !== false

const isFailedWrite = (error: unknown): boolean => (error as { readonly syscall?: unknown } | undefined)?.syscall === 'write'

/** What node destroys a session with whose client does not keep to the protocol. */
const PROTOCOL_ERRORS: readonly unknown[] = ['ERR_HTTP2_ERROR', 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES']

const isProtocolError = (error: unknown): boolean => PROTOCOL_ERRORS.includes((error as { readonly code?: unknown } | undefined)?.code)
