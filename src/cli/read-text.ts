import { constants, openSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'

/**
 * The content of a file, or of a pipe, which a stop signal ends waiting for.
 *
 * A named pipe is read as a stream: opening or reading it as a file would park a thread in the kernel until somebody writes,
 * and not even `process.exit` ends a process before that thread has returned.
 *
 * @throws what reading throws, or the signal's reason
 */
export async function readText(path: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  if (!(await stat(path)).isFIFO()) return readFile(path, { encoding: 'utf8', signal })
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return text(addAbortSignal(signal, new Socket({ fd, readable: true, writable: false })))
}
