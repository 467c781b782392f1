import { close, closeSync, constants, fstatSync, write, writeSync } from 'node:fs'
import { QuiesceError, toError } from '../base/errors.ts'
import { openFile } from '../report/open-file.ts'
import type { ReadableJournal, Reader } from './reading.ts'

/**
 * The journal as a file: an entry per line. While the life runs it is written without waiting, one
 * write at a time; at the end what is left is written in one step, because the process may be gone
 * in the next one.
 *
 * Every write says its place in the file, so that the last step can repeat a write that is still
 * under way: the same bytes at the same place, whichever of the two comes later.
 */
export class JournalFile implements Reader {
  readonly #fd: number
  readonly #journal: ReadableJournal
  readonly #failed: (error: QuiesceError) => void
  readonly #path: string
  #read = 0
  #position = 0
  #underWay: { readonly bytes: Buffer; readonly position: number } | undefined
  #isOver = false

  /**
   * Opens the file, emptying one that is there.
   * @param failed called once, when writing fails; nothing more is written then
   * @throws QuiesceError ERR_JOURNAL_WRITE
   */
  constructor(path: string, journal: ReadableJournal, failed: (error: QuiesceError) => void) {
    this.#path = path
    this.#journal = journal
    this.#failed = failed
    this.#fd = openJournal(path)
  }

  more(): void {
    if (!this.#underWay && !this.#isOver) this.#write()
  }

  end(): undefined {
    if (this.#isOver) return
    this.flushNow()
    this.#isOver = true
    // The number of a closed file may be another file's before the write under way gets to it.
    if (!this.#underWay) closeSync(this.#fd)
  }

  /** Writes what is left in one synchronous step. */
  flushNow(): void {
    if (this.#isOver) return
    try {
      if (this.#underWay) writeAll(this.#fd, this.#underWay.bytes, this.#underWay.position)
      const bytes = this.#take()
      writeAll(this.#fd, bytes, this.#position)
      this.#position += bytes.length
    } catch (thrown) {
      this.#fail(thrown)
    }
  }

  #write(): void {
    const bytes = this.#take()
    if (bytes.length === 0) return
    const position = this.#position
    this.#underWay = { bytes, position }
    this.#position += bytes.length
    this.#writeRest(bytes, position)
  }

  #writeRest(bytes: Buffer, position: number): void {
    write(this.#fd, bytes, 0, bytes.length, position, (error, written) => {
      if (!error && written < bytes.length && !this.#isOver) return this.#writeRest(bytes.subarray(written), position + written)
      this.#underWay = undefined
      if (this.#isOver) return close(this.#fd, () => {})
      if (error) this.#fail(error)
      else this.#write()
    })
  }

  #take(): Buffer {
    const lines = this.#journal.after(this.#read)
    this.#read = lines.at(-1)?.n ?? this.#read
    return Buffer.from(lines.map(({ text }) => `${text}\n`).join(''))
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    if (!this.#underWay) closeSync(this.#fd)
    this.#failed(writeError(this.#path, thrown))
  }
}

/** Opens the file without waiting: opening a pipe without a reader would never return. */
function openJournal(path: string): number {
  let fd: number
  try {
    fd = openFile(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NONBLOCK, 0o666)
  } catch (thrown) {
    throw writeError(path, thrown)
  }
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  throw writeError(path, new Error('it is not a file'))
}

function writeAll(fd: number, bytes: Buffer, position: number): void {
  let written = 0
  while (written < bytes.length) written += writeSync(fd, bytes, written, bytes.length - written, position + written)
}

const writeError = (path: string, thrown: unknown): QuiesceError =>
  new QuiesceError('ERR_JOURNAL_WRITE', `the journal could not be written to ${path}: ${toError(thrown).message}`, { path }, thrown)
