import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { override } from '../base/override.ts'

/** How much a connection has carried: bytes, or pieces where node counts no bytes. */
export interface Carried {
  /** What has come from its client. */
  readonly bytesRead: number
  /** What was given to it to be sent. */
  readonly bytesWritten: number
  /** The pieces that were taken to be sent; undefined where bytes say more. */
  readonly taken?: number
}

const onStreams = new WeakMap<Duplex, Carried>()

/**
 * What a connection has carried, now and ever: a socket is its own account, and of any other
 * stream, which a server may be given as well, the pieces are counted from the first call on.
 */
export function carriedBy(connection: Socket): Carried {
  if (connection instanceof Socket) return connection
  const stream: Duplex = connection
  const known = onStreams.get(stream)
  if (known) return known
  const carried = countPieces(stream)
  onStreams.set(stream, carried)
  return carried
}

function countPieces(stream: Duplex): Carried {
  const carried = { bytesRead: stream.readableLength > 0 || stream.readableDidRead ? 1 : 0, bytesWritten: 0, taken: 0 }
  const count = (method: 'push' | 'write' | 'end' | '_write' | '_writev', as: keyof typeof carried): void => {
    const original = stream[method] as ((...args: unknown[]) => unknown) | null | undefined
    // A stream that cannot write several at once has no `_writev`.
    if (typeof original !== 'function') return
    override(stream as unknown as Record<typeof method, unknown>, method, (...args: unknown[]) => {
      // An end may bring a last piece, or a callback.
      if (method !== 'end' || isPiece(args[0])) carried[as]++
      return original.apply(stream, args)
    })
  }
  count('push', 'bytesRead')
  count('write', 'bytesWritten')
  count('end', 'bytesWritten')
  count('_write', 'taken')
  count('_writev', 'taken')
  return carried
}

const isPiece = (chunk: unknown): boolean => chunk !== undefined && chunk !== null && typeof chunk !== 'function'
