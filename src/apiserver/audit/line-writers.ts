import { closeSync, existsSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { toError } from '../../base/errors.ts'
import { stdoutDestination } from '../../log/log-destination.ts'
import type { LineWriter } from './log-backend.ts'

/** Of the audit log: what its lines say is not for all users. */
export const LOG_FILE_MODE = 0o600
const LOG_FOLDER_MODE = 0o700

/**
 * Standard output, shared with the log of the process: lines of both are whole. Lines that its
 * reader does not take are counted with that log's.
 */
export function stdoutWriter(): LineWriter {
  const destination = stdoutDestination()
  return {
    write: (line) => destination.write(line),
    close: (signal) => Promise.race([destination.flushed(), aborted(signal)]),
  }
}

/**
 * What several lines are encoded into, one by one: a text of all of them would be two more copies.
 */
const CHUNK_BYTES = 256 * 1_024
/** What one unit of a text can take in UTF-8. */
const UNIT_BYTES_MAX = 3

/**
 * A file that is written as each line comes: a process that dies then has lost none. A line of
 * which a full disk has taken a part stays one by itself: it takes no other event with it.
 * @param put given for tests
 */
export function fileWriter(path: string, put: Put = writeSync): LineWriter {
  let file = -1
  let chunk: Buffer | undefined
  /** Whether the file ends in the middle of a line. */
  let isTorn = false
  const store = (bytes: Buffer): Stored => {
    if (isTorn) {
      const { error } = writeWhole(put, file, Buffer.of(NEWLINE))
      if (error) return { written: 0, error }
    }
    const stored = writeWhole(put, file, bytes)
    isTorn = stored.written > 0 && bytes[stored.written - 1] !== NEWLINE
    return stored
  }
  return {
    open: () => {
      makeFolderOf(path)
      file = openSync(path, 'a', LOG_FILE_MODE)
    },
    write: (line) => {
      const { error } = store(Buffer.from(line))
      if (error) throw error
    },
    writeAll: (lines) => {
      chunk ??= Buffer.allocUnsafe(CHUNK_BYTES)
      let stored = 0
      for (const { bytes, count } of encoded(lines, chunk)) {
        const { written } = store(bytes)
        if (written < bytes.length) return stored + linesIn(bytes.subarray(0, written))
        stored += count
      }
      return stored
    },
    close: () => {
      const closed = file
      // Its number may become that of a connection.
      file = -1
      closeSync(closed)
    },
  }
}

/**
 * Lines as bytes, in pieces of so many lines: in the chunk, which the next piece overwrites, or by
 * itself one that may be too long for it.
 */
function* encoded(lines: readonly string[], chunk: Buffer): Generator<{ readonly bytes: Buffer; readonly count: number }> {
  let filled = 0
  let count = 0
  for (const line of lines) {
    const room = line.length * UNIT_BYTES_MAX
    if (count > 0 && filled + room > chunk.length) {
      yield { bytes: chunk.subarray(0, filled), count }
      filled = count = 0
    }
    if (room > chunk.length) yield { bytes: Buffer.from(line), count: 1 }
    else {
      filled += chunk.write(line, filled)
      count++
    }
  }
  if (count > 0) yield { bytes: chunk.subarray(0, filled), count }
}

/** As `writeSync`: how many bytes were written, from an offset on. */
type Put = (file: number, bytes: Buffer, from: number) => number

/** How many bytes were written, and what kept the others from it. */
interface Stored {
  readonly written: number
  readonly error?: Error
}

function writeWhole(put: Put, file: number, bytes: Buffer): Stored {
  let written = 0
  try {
    if (file < 0) throw new Error('the audit log is closed')
    while (written < bytes.length) written += put(file, bytes, written)
    return { written }
  } catch (thrown) {
    return { written, error: toError(thrown) }
  }
}

function linesIn(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return count
}
const NEWLINE = 10

/**
 * One by one: where the kernel lets no folder be made (`/proc/1/x`), node's own way of making all
 * of them never comes back.
 */
export function makeFolderOf(path: string): void {
  const folder = dirname(path)
  if (folder === path || existsSync(folder)) return
  makeFolderOf(folder)
  try {
    mkdirSync(folder, { mode: LOG_FOLDER_MODE })
  } catch (thrown) {
    // Another process may have been faster.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
