import { writeSync } from 'node:fs'
import { type Clock, systemClock } from '../base/clock.ts'
import { type LineDestination, waitForReader } from './line-destination.ts'
import { LineQueue, type Piece } from './line-queue.ts'
import { StreamDestination } from './stream-destination.ts'
import { nonBlockingTerminal } from './terminal.ts'

export interface LogDestinationOptions {
  readonly fd: number
  readonly clock?: Clock
  /** Bytes that may wait for a slow reader; lines beyond are lost and counted. Default 64 MiB. */
  readonly pendingBytesMax?: number
  /**
   * The line that says how many lines are missing; it is written when there is room again. Default:
   * a pino-like JSON line.
   */
  readonly describeLoss?: (lines: number) => string
  /** Replaces `fs.writeSync` in tests. */
  readonly write?: (fd: number, bytes: Uint8Array, offset: number, length: number) => number
}

const PENDING_BYTES_MAX = 64 * 1024 * 1024
/**
 * The longest time in milliseconds that one step writes: a reader that keeps up could be written to
 * for ever, and everything else has to get its turn.
 */
const STEP_MS = 2
/**
 * The time in milliseconds until a full reader is tried again: one that has taken something since
 * will soon take more (a pipe holds 64 KiB on Linux).
 */
const RETRY_MS = 5
const RETRY_SOON_MS = 1
const LEVEL_WARN = 40
const NEWLINE: Piece = { bytes: Buffer.from('\n'), offset: 0, length: 1 }

const describeLossAsJson = (lines: number): string => `${JSON.stringify({ level: LEVEL_WARN, msg: 'log lines were lost here', lines })}\n`

/** How a step of writing has ended: nothing is left, the reader is full, or its time is over. */
type Step = 'done' | 'full' | 'paused'

/**
 * Where log lines go: a file descriptor that is never waited for while serving, and for a bounded
 * time at the end.
 *
 * A line is written at once. When the reader does not keep up (`EAGAIN`: the pipe is full) lines
 * wait in memory and are tried again every few milliseconds, many with one write, and for
 * {@link STEP_MS} before everything else gets its turn: a slow reader costs memory and never a
 * blocked event loop, also when it comes back to a long queue. What cannot be written for another
 * reason (`EPIPE`: the reader is gone; `ENOSPC`: the disk is full) is lost, but counted, and the
 * next line is tried again: a disk may have room by then. Three ways to write to a pipe do not work
 * here: pino's `flushSync` never returns without a reader; `fs.write` parks a thread of the pool in
 * the kernel, and `process.exit` then waits for that thread; `process.stdout.write` drops what is
 * pending when the process exits and does not say how much of a line has left.
 *
 * The descriptor must be in non-blocking mode: see {@link stdoutDestination}.
 */
export class LogDestination implements LineDestination {
  readonly #fd: number
  readonly #clock: Clock
  readonly #pendingBytesMax: number
  readonly #describeLoss: (lines: number) => string
  readonly #writeBytes: NonNullable<LogDestinationOptions['write']>

  readonly #queue = new LineQueue()
  /** How many lost lines the first line of the queue reports. */
  #reportedLines = 0
  #lostLines = 0
  /** Lost, and the log does not say so yet. */
  #unreportedLines = 0
  #progressAt: number
  #retry: unknown
  #waiters: (() => void)[] = []
  /** A line was given up in its middle: the next one begins on a line of its own. */
  #isTorn = false
  /**
   * The reader was given up. It is tried again with every line, but no timer waits for it: that
   * would hold the process.
   */
  #isStalled = false

  constructor({
    fd,
    clock = systemClock,
    pendingBytesMax = PENDING_BYTES_MAX,
    describeLoss = describeLossAsJson,
    write = writeSync,
  }: LogDestinationOptions) {
    this.#fd = fd
    this.#clock = clock
    this.#pendingBytesMax = pendingBytesMax
    this.#describeLoss = describeLoss
    this.#writeBytes = write
    this.#progressAt = clock.now()
  }

  /** Bytes taken but not yet accepted by the operating system. */
  get pendingBytes(): number {
    return this.#queue.bytes
  }

  /** How long the reader has taken nothing although there is something to take. */
  get blockedMs(): number {
    return this.pendingBytes === 0 ? 0 : this.#clock.now() - this.#progressAt
  }

  /**
   * Lines that are lost: broken pipe, buffer full, or flush timeout. Those that report the loss are
   * not counted.
   */
  get lostLines(): number {
    return this.#lostLines
  }

  /** Takes one line, with its newline. Never throws, never waits. */
  write(line: string): void {
    if (this.pendingBytes > this.#pendingBytesMax) {
      this.#lose(1)
      return
    }
    if (this.pendingBytes === 0) {
      // The reader has had nothing to take.
      this.#progressAt = this.#clock.now()
      // Where lines are missing, before those that follow.
      this.#reportLoss()
    }
    this.#queue.add(line)
    if (this.#retry === undefined) this.#writeOrRetry()
  }

  /** Resolves when nothing is pending: written, or lost. */
  flushed(): Promise<void> {
    return this.pendingBytes === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve))
  }

  /**
   * Does as {@link flushed}, but gives up what is pending when the reader has taken nothing for
   * `ms`: a slow reader gets everything, one that does not read holds nothing up. Resolves with the
   * number of bytes given up.
   */
  flushBounded(ms: number): Promise<number> {
    return waitForReader(ms, {
      clock: this.#clock,
      flushed: this.flushed(),
      progressAt: () => this.#progressAt,
      gaveUp: () => this.#giveUp(),
    })
  }

  /**
   * Writes for at most `ms`, or one step if that is longer, while nothing else runs, then gives up.
   * For the last step before `process.exit`. Returns the bytes given up.
   */
  flushSync(ms: number): number {
    const end = this.#clock.now() + Math.max(ms, STEP_MS)
    while (this.#writeUntil(end) === 'full' && this.#clock.now() < end) sleepSync(this.#retryMs)
    return this.#giveUp()
  }

  #lose(lines: number): void {
    this.#lostLines += lines
    this.#unreportedLines += lines
  }

  /**
   * Reports lost lines. Call it when the queue is empty: the line stands in front of all others.
   */
  #reportLoss(): void {
    if (this.#unreportedLines === 0) return
    this.#queue.add(this.#describeLoss(this.#unreportedLines))
    this.#reportedLines = this.#unreportedLines
    this.#unreportedLines = 0
  }

  #writeOrRetry(): void {
    this.#retry = undefined
    const step = this.#writeUntil(this.#clock.now() + STEP_MS)
    if (step === 'done') this.#settle()
    else if (step === 'full' && this.#isStalled) this.#giveUp()
    else this.#retry = this.#clock.setTimeout(() => this.#writeOrRetry(), step === 'paused' ? 0 : this.#retryMs)
  }

  get #retryMs(): number {
    return this.#clock.now() - this.#progressAt < RETRY_MS ? RETRY_SOON_MS : RETRY_MS
  }

  #writeUntil(end: number): Step {
    try {
      for (;;) {
        if (this.pendingBytes === 0) this.#reportLoss()
        const piece = this.#queue.next()
        if (!piece) return 'done'
        this.#writeSome(piece)
        if (this.#progressAt >= end && this.pendingBytes > 0) return 'paused'
      }
    } catch (thrown) {
      const { code } = thrown as { code?: unknown }
      if (code === 'EAGAIN' || code === 'EBUSY') return 'full'
      // Losing logs must not end a server.
      this.#forget()
    }
    return 'done'
  }

  #writeSome(piece: Piece): void {
    if (this.#isTorn) this.#writePiece(NEWLINE)
    this.#isTorn = false
    const lines = this.#queue.took(this.#writePiece(piece))
    if (lines > 0) this.#reportedLines = 0
    this.#progressAt = this.#clock.now()
    this.#isStalled = false
  }

  #writePiece({ bytes, offset, length }: Piece): number {
    return this.#writeBytes(this.#fd, bytes, offset, length)
  }

  #giveUp(): number {
    const bytes = this.pendingBytes
    this.#isStalled ||= bytes > 0
    if (this.#retry !== undefined) this.#clock.clearTimeout(this.#retry)
    this.#retry = undefined
    this.#forget()
    this.#settle()
    return bytes
  }

  #forget(): void {
    this.#isTorn ||= this.#queue.isInLine
    // The line that reports a loss is none of those.
    this.#lose(this.#queue.lines - (this.#reportedLines > 0 ? 1 : 0))
    this.#unreportedLines += this.#reportedLines
    this.#reportedLines = 0
    this.#queue.clear()
  }

  #settle(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}

let ofStdout: LineDestination | undefined

/**
 * The destination on standard output, one for the whole process, so that the lines of two servers
 * are never mixed within a line. Reading `process.stdout` makes node open it, which puts a pipe or
 * socket into non-blocking mode; without that a write to a full pipe would block the process. Node
 * restores the mode at exit.
 */
export function stdoutDestination(): LineDestination {
  if (!ofStdout) {
    // A write by other code to a reader that is gone must not end the server, either.
    process.stdout.on('error', () => {})
    ofStdout = destinationOf(process.stdout)
  }
  return ofStdout
}

/** Node's types say that there always is a descriptor; a worker thread has none. */
function destinationOf(stream: typeof process.stdout & { readonly fd: number | undefined }): LineDestination {
  const { fd, isTTY } = stream
  if (fd === undefined) return new StreamDestination({ stream, pendingBytesMax: PENDING_BYTES_MAX, describeLoss: describeLossAsJson })
  return new LogDestination({ fd: isTTY ? nonBlockingTerminal(fd) : fd })
}

const nothing = new Int32Array(new SharedArrayBuffer(4))
const sleepSync = (ms: number): void => {
  Atomics.wait(nothing, 0, 0, ms)
}
