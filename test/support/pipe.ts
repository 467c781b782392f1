import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './process.ts'

/** Between two looks at a pipe that had nothing more. */
const TURN_MS = 5

/**
 * A kernel pipe whose reader is the test: it holds what the kernel gives it (64 KiB on Linux) until
 * the test reads, and breaks when the test says so. What node's `spawn` calls a pipe is a socket,
 * and is read ahead.
 */
export class Pipe {
  /** The end to write into, for the child. */
  readonly writeEnd: number
  readonly #readEnd: number
  readonly #open = new Set<number>()

  constructor() {
    const path = join(temporaryFolder(), 'pipe')
    execFileSync('mkfifo', [path])
    this.#readEnd = this.#opened(path, constants.O_RDONLY | constants.O_NONBLOCK)
    this.writeEnd = this.#opened(path, constants.O_WRONLY)
    onTestFinished(() => {
      for (const fd of this.#open) closeSync(fd)
    })
  }

  /** To be called once the child has its own copy, whose end is then the pipe's end. */
  closeWriteEnd(): void {
    this.#close(this.writeEnd)
  }

  /** The reader is gone: from now on a write gives EPIPE. */
  closeReadEnd(): void {
    this.#close(this.#readEnd)
  }

  /** Everything until the last writer is gone, so many bytes a turn. */
  async readSlowly(bytesPerTurn: number): Promise<string> {
    const buffer = Buffer.alloc(bytesPerTurn)
    const pieces: Buffer[] = []
    for (;;) {
      const bytes = this.#read(buffer)
      if (bytes === 0) return Buffer.concat(pieces).toString()
      if (bytes !== undefined) pieces.push(Buffer.from(buffer.subarray(0, bytes)))
      await new Promise((resolve) => setTimeout(resolve, TURN_MS))
    }
  }

  /** undefined: nothing there yet. */
  #read(buffer: Buffer): number | undefined {
    try {
      return readSync(this.#readEnd, buffer)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
      throw error
    }
  }

  #opened(path: string, flags: number): number {
    const fd = openSync(path, flags)
    this.#open.add(fd)
    return fd
  }

  #close(fd: number): void {
    if (this.#open.delete(fd)) closeSync(fd)
  }
}
