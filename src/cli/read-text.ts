import { constants, createReadStream, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { addAbortSignal, type Readable } from 'node:stream'

/** More than this is nothing that a command reads, and `/dev/zero` has no end. */
const MIB_MAX = 256

/**
 * The content of a file, or of a pipe, which a stop signal ends waiting for.
 *
 * A named pipe is read as a stream of its own: opening or reading it as a file would park a thread
 * in the kernel until there is a writer, and not even `process.exit` ends a process before that
 * thread has returned.
 *
 * @param mayBeCut the last character may be incomplete, and is left out then
 * @throws what reading throws, or the signal's reason
 */
export async function readText(path: string, signal: AbortSignal, mayBeCut = false): Promise<string> {
  signal.throwIfAborted()
  if (!(await stat(path)).isFIFO()) return textOf(createReadStream(path, { signal }), mayBeCut)
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return textOf(addAbortSignal(signal, new Socket({ fd, readable: true, writable: false })), mayBeCut)
}

/** The whole text of a stream. @throws what it fails with */
export async function textOf(stream: Readable, mayBeCut = false): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const read = Buffer.from(chunk)
    bytes += read.length
    if (bytes > MIB_MAX * 1024 * 1024) throw new Error(`more than ${MIB_MAX} MiB`)
    chunks.push(read)
  }
  return decoded(Buffer.concat(chunks), mayBeCut)
}

/**
 * Text as editors and shells of Windows save it: with a mark in front, which is no part of it, or
 * in UTF-16, which would be taken for UTF-8 with zeros in it. Of any other encoding the names in it
 * would be others than were written.
 */
function decoded(bytes: Buffer, mayBeCut: boolean): string {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) throw new Error('it is text in UTF-16, allowed: UTF-8')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: mayBeCut })
  } catch (cause) {
    throw new Error('it is text in another encoding, allowed: UTF-8', { cause })
  }
}
