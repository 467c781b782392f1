import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { openFile, toError } from '../engine.ts'
import type { LineWriter } from './log-backend.ts'
import type { Rotation } from './rotation.ts'

/** The permissions of the audit log: what its lines say is not for all users. */
const LOG_FILE_MODE = 0o600
const LOG_FOLDER_MODE = 0o700
const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND
const PERMISSION_BITS = 0o777

/**
 * What several lines are encoded into, one by one: a text of all of them would be two more copies.
 */
const CHUNK_BYTES = 256 * 1_024
/** What one unit of a text can take in UTF-8. */
const UNIT_BYTES_MAX = 3
const NEWLINE = 10

/** A function like `writeSync`: how many bytes were written, from an offset on. */
type Put = (file: number, bytes: Buffer, from: number) => number

/**
 * A file that is written as each line comes: a process that dies then has lost none, and nothing
 * waits in memory. Before each write the path is looked at, which costs less than the write: a file
 * that is full is put aside, and one that was moved or removed, by another process or by
 * `logrotate`, is begun anew. Several processes may write to one file.
 *
 * A line of which a full disk has taken a part stays one by itself: it takes no other event with
 * it. A line that comes after the end is written like any other; the file is open for as long as
 * that takes.
 * @param rotation undefined: no file is ever full
 * @param put given for tests
 */
export function fileWriter(path: string, rotation?: Rotation, put: Put = writeSync): LineWriter {
  const log = new LogFile(path, rotation, put)
  let chunk: Buffer | undefined
  return {
    open: () => log.open(),
    write: (line) => {
      const { error } = log.store(Buffer.from(line))
      if (error) throw error
    },
    writeAll: (lines) => {
      chunk ??= Buffer.allocUnsafe(CHUNK_BYTES)
      let stored = 0
      for (const { bytes, count } of encoded(lines, chunk)) {
        const { written } = log.store(bytes)
        if (written < bytes.length) return stored + linesIn(bytes.subarray(0, written))
        stored += count
      }
      return stored
    },
    close: () => log.close(),
  }
}

/** How many bytes were written, and what kept the others from it. */
interface Stored {
  readonly written: number
  readonly error?: Error
}

class LogFile {
  readonly #path: string
  readonly #rotation: Rotation | undefined
  readonly #put: Put
  /** The open file; undefined: none is. */
  #fd: number | undefined
  /** The identity of the open file. */
  #identity: Pick<Stats, 'dev' | 'ino'> | undefined
  /** Whether the file ends in the middle of a line. */
  #isTorn = false
  #isClosed = false

  constructor(path: string, rotation: Rotation | undefined, put: Put) {
    this.#path = path
    this.#rotation = rotation
    this.#put = put
  }

  open(): void {
    this.#isClosed = false
    this.#begin()
    this.#rotation?.tidy(this.#path)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#release()
    await this.#rotation?.close()
  }

  store(bytes: Buffer): Stored {
    try {
      this.#prepare(bytes.length)
      if (this.#isTorn) {
        const { error } = this.#write(Buffer.of(NEWLINE))
        if (error) return { written: 0, error }
      }
      const stored = this.#write(bytes)
      this.#isTorn = stored.written > 0 && bytes[stored.written - 1] !== NEWLINE
      return stored
    } catch (thrown) {
      return { written: 0, error: toError(thrown) }
    } finally {
      // Kept open, its number could be taken for that of a connection once the life is over.
      if (this.#isClosed) this.#release()
    }
  }

  /** Has the file open that is at the path now, with room in it. */
  #prepare(bytes: number): void {
    const there = this.#look()
    if (!this.#isOpen(there)) this.#begin()
    else if (there?.isFile() && this.#rotation?.isDue(there.size, bytes) && this.#rotation.putAside(this.#path)) {
      this.#begin()
      this.#keepMode(there.mode & PERMISSION_BITS)
    }
  }

  #look(): Stats | undefined {
    try {
      return statSync(this.#path, { throwIfNoEntry: false })
    } catch {
      // Its folder is none any more; what to do about it is found out by opening it.
      return undefined
    }
  }

  #isOpen(there: Stats | undefined): boolean {
    return this.#fd !== undefined && there?.ino === this.#identity?.ino && there?.dev === this.#identity?.dev
  }

  /** Where no file can be opened, one that was moved is still written to, and a removed one not. */
  #begin(): void {
    let fd: number
    try {
      makeFolderOf(this.#path)
      fd = openFile(this.#path, APPEND, LOG_FILE_MODE)
    } catch (thrown) {
      if (this.#fd !== undefined && fstatSync(this.#fd).nlink > 0) return
      throw thrown
    }
    this.#release()
    this.#fd = fd
    const stats = fstatSync(fd)
    this.#identity = stats
    this.#isTorn = stats.isFile() && isTorn(this.#path, stats.size)
  }

  /** Keeps the permissions: those who could read the full file can read the new one. */
  #keepMode(mode: number): void {
    if (mode === LOG_FILE_MODE) return
    try {
      fchmodSync(this.#fd as number, mode)
    } catch {
      // It is the file of another user, who decides about it.
    }
  }

  #write(bytes: Buffer): Stored {
    let written = 0
    try {
      while (written < bytes.length) written += this.#put(this.#fd as number, bytes, written)
      return { written }
    } catch (thrown) {
      return { written, error: toError(thrown) }
    }
  }

  #release(): void {
    const fd = this.#fd
    this.#fd = undefined
    if (fd !== undefined) closeSync(fd)
  }
}

/** Whether a file of that size ends in the middle of a line; one that cannot be read is whole. */
function isTorn(path: string, size: number): boolean {
  if (size === 0) return false
  try {
    const fd = openSync(path, 'r')
    try {
      const last = Buffer.of(NEWLINE)
      readSync(fd, last, 0, 1, size - 1)
      return last[0] !== NEWLINE
    } finally {
      closeSync(fd)
    }
  } catch {
    return false
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

function linesIn(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return count
}

/**
 * Makes folders one by one: where the kernel lets no folder be made (`/proc/1/x`), node's own way
 * of making all of them never comes back.
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
