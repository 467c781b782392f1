/** An entry as it is kept. */
export interface JournalLine {
  readonly n: number
  /** JSON, without a line break. */
  readonly text: string
  /** What a journal cannot be understood without: kept whatever comes after it. */
  readonly isVital: boolean
}

/**
 * A reader of a journal. It has a place of its own in the journal, and asks for what comes after
 * it whenever it can take more.
 */
export interface Reader {
  /**
   * Learns that there is more, or that what it has not read yet is not kept any more. Must return
   * soon.
   */
  more(): void
  /** Nothing comes any more. Resolves when all has been handed on; the caller bounds the wait. */
  end(): Promise<void> | undefined
}

/** A journal for its readers: of a life that runs, or a recorded one. */
export interface ReadableJournal {
  /** Everything that is kept and comes after number `n`. */
  after(n: number): readonly JournalLine[]
  /** Whether a reader that has read up to `n` can go on there, with nothing missing in between. */
  canResume(n: number): boolean
  /** Whether nothing that comes after `n` was dropped. */
  isComplete(n: number): boolean
  /** Nothing comes any more. */
  readonly isOver: boolean
  /**
   * Calls the reader from now on, at once if there is something to read. Disposing of the result
   * lets it go.
   */
  attach(reader: Reader): Disposable
}
