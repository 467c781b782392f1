import { type Clock, systemClock } from '../base/clock.ts'
import { type LineDestination, waitForReader } from './line-destination.ts'

/** A stream of node's, as far as lines are written to it. */
export interface LineStream {
  write(text: string, done: (error?: Error | null) => void): unknown
  /** What it has not handed on. */
  readonly writableLength?: number
}

export interface StreamDestinationOptions {
  readonly stream: LineStream
  /** What may wait for a slow reader; lines beyond are lost and counted. */
  readonly pendingBytesMax: number
  readonly describeLoss: (lines: number) => string
  readonly clock?: Clock
}

/**
 * Where log lines go when standard output has no file descriptor: in a worker thread, whose parent
 * decides what becomes of its output (`stdout: true` captures it), and in a program that has put a
 * stream of its own there. The descriptor 1 of the process would go past both.
 *
 * What waits, waits in the stream, and is not given up: a worker lives until its parent has taken
 * it, and node hands on the rest of one that exits by itself. Only `terminate()` drops it.
 */
export class StreamDestination implements LineDestination {
  readonly #stream: LineStream
  readonly #clock: Clock
  readonly #pendingBytesMax: number
  readonly #describeLoss: (lines: number) => string
  #lostLines = 0
  /** Lost, and the log does not say so yet. */
  #unreportedLines = 0
  #progressAt: number
  #waiters: (() => void)[] = []

  constructor({ stream, pendingBytesMax, describeLoss, clock = systemClock }: StreamDestinationOptions) {
    this.#stream = stream
    this.#clock = clock
    this.#pendingBytesMax = pendingBytesMax
    this.#describeLoss = describeLoss
    this.#progressAt = clock.now()
  }

  get pendingBytes(): number {
    return this.#stream.writableLength ?? 0
  }

  get blockedMs(): number {
    return this.pendingBytes === 0 ? 0 : this.#clock.now() - this.#progressAt
  }

  get lostLines(): number {
    return this.#lostLines
  }

  write(line: string): void {
    if (this.pendingBytes > this.#pendingBytesMax) {
      this.#lose()
      return
    }
    // The reader has had nothing to take.
    if (this.pendingBytes === 0) this.#progressAt = this.#clock.now()
    this.#reportLoss()
    this.#put(line, () => this.#lose())
  }

  flushed(): Promise<void> {
    return this.pendingBytes === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve))
  }

  /** Waits, and gives nothing up: a reader that comes back has it all. */
  flushBounded(ms: number): Promise<number> {
    return waitForReader(ms, {
      clock: this.#clock,
      flushed: this.flushed(),
      progressAt: () => this.#progressAt,
      gaveUp: () => 0,
    })
  }

  /** Does nothing: what waits is handed on when the thread exits. */
  flushSync(): number {
    return 0
  }

  #lose(): void {
    this.#lostLines++
    this.#unreportedLines++
  }

  /** Says where lines are missing, before those that follow. */
  #reportLoss(): void {
    const lines = this.#unreportedLines
    if (lines === 0) return
    this.#unreportedLines = 0
    this.#put(this.#describeLoss(lines), () => {
      this.#unreportedLines += lines
    })
  }

  #put(text: string, failed: () => void): void {
    const written = (error?: Error | null): void => {
      if (error) failed()
      this.#progressAt = this.#clock.now()
      if (this.pendingBytes === 0) this.#settle()
    }
    try {
      this.#stream.write(text, written)
    } catch {
      // Losing logs must not end a server.
      failed()
    }
  }

  #settle(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}
