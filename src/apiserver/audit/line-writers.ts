import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { toError } from '../../base/errors.ts'
import { stdoutDestination } from '../../log/log-destination.ts'
import type { LineWriter } from './log-backend.ts'

/** Of the audit log: what its lines tell is not for everyone. */
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

/** A file that is written as each line comes: a process that dies then has lost none. */
export function fileWriter(path: string): LineWriter {
  let file = -1
  return {
    open: () => {
      makeFolderOf(path)
      file = openSync(path, 'a', LOG_FILE_MODE)
    },
    write: (line) => {
      const bytes = Buffer.from(line)
      const { error } = writeWhole(file, bytes)
      if (error) throw error
    },
    writeAll: (lines) => {
      const bytes = Buffer.from(lines.join(''))
      const { written } = writeWhole(file, bytes)
      return written === bytes.length ? lines.length : linesIn(bytes.subarray(0, written))
    },
    close: () => closeSync(file),
  }
}

/** How many bytes were written, and what kept the others from it. */
function writeWhole(file: number, bytes: Buffer): { readonly written: number; readonly error?: Error } {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(file, bytes, written)
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

export function makeFolderOf(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: LOG_FOLDER_MODE })
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
