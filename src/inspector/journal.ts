import type { LifecycleEvent } from '../base/events.ts'
import type { Report } from '../report/report.ts'
import { plain } from './plain.ts'
import type { JournalEntry, OpeningEntry } from './protocol.ts'
import type { JournalLine, ReadableJournal, Reader } from './reading.ts'

type WithoutBase<E> = E extends unknown ? Omit<E, 'n' | 'at'> : never
/** What is said; the journal adds the number and the time. */
export type JournalFact = WithoutBase<JournalEntry>

/** Something that is looked at only while there is a reader. */
export interface Source {
  /** Begins to look, and says how things are. */
  begin(): void
  /**
   * Says again how things are, for a reader that has come when what was said first is not kept any
   * more.
   */
  describe(): void
  end(): void
}

/** What is kept at most, in characters of JSON: some thousands of entries. */
const LENGTH_MAX = 4 * 1024 * 1024
/** Dropping walks through all entries, so it makes room for a while. */
const LENGTH_AFTER_DROP = 3 * 1024 * 1024

/**
 * Signals, phases and their like come a bounded number of times in a life; these come whenever a
 * user's handler throws.
 */
const UNBOUNDED_FACTS: readonly LifecycleEvent['type'][] = ['error', 'late', 'warning']

/**
 * Everything that happens in a life, in order, as text: entries are serialised in the step in which
 * they happen, because a moment later the machines are in another state. Readers share this one
 * buffer and have none of their own, so that a reader that does not read costs nothing but its
 * place. Nothing a reader or a source does gets out of here: an exception in an observer of
 * xstate's would stop the machine that it observes.
 */
export class Journal implements ReadableJournal {
  readonly #elapsed: () => number
  readonly #lengthMax: number
  readonly #sources: Source[] = []
  readonly #readers = new Set<Reader>()
  #lines: JournalLine[] = []
  #length = 0
  /** The opening is number 1; it is written when it is known what belongs to this life. */
  #last = 1
  /** Number of the last line that was dropped. */
  #lostUpTo = 0
  /** The time until which there was no reader: what the sources would have said is missing. */
  #blindUpTo = 0
  #describedAt = 0
  #hasEnded = false

  /** @param elapsed milliseconds since the life began */
  constructor(elapsed: () => number, { lengthMax = LENGTH_MAX }: { readonly lengthMax?: number } = {}) {
    this.#elapsed = elapsed
    this.#lengthMax = lengthMax
  }

  addSource(source: Source): void {
    this.#sources.push(source)
  }

  /** Writes the first entry; facts may have come before. */
  open(opening: OpeningEntry): void {
    const line = { n: 1, text: JSON.stringify({ n: 1, at: 0, ...opening }), isVital: true }
    this.#lines.unshift(line)
    this.#length += line.text.length
    this.#notifyReaders()
  }

  /** A sink of lifecycle events. */
  readonly fact = (event: LifecycleEvent): void => {
    this.#append({ kind: 'fact', event }, event.at, !UNBOUNDED_FACTS.includes(event.type))
  }

  /** What a source has to say; not vital. */
  readonly write = (fact: JournalFact): void => this.#append(fact, this.#elapsed(), false)

  after(n: number): readonly JournalLine[] {
    const lines = this.#lines
    // Most readers ask for the last few.
    let from = lines.length
    while (from > 0 && (lines[from - 1] as JournalLine).n > n) from--
    return from === 0 ? lines : lines.slice(from)
  }

  canResume(n: number): boolean {
    return n <= this.#last && n >= this.#lostUpTo && n > this.#blindUpTo
  }

  isComplete(n: number): boolean {
    return n >= this.#lostUpTo
  }

  get isOver(): boolean {
    return this.#hasEnded
  }

  attach(reader: Reader): Disposable {
    const isFirst = this.#readers.size === 0
    this.#readers.add(reader)
    if (!this.#hasEnded) {
      if (isFirst) this.#begin()
      else if (this.#describedAt < this.#lostUpTo) this.#describe()
    }
    this.#notify(reader)
    return { [Symbol.dispose]: () => this.#detach(reader) }
  }

  /**
   * Writes the last entry, and resolves when every reader has handed on all of it. A second call
   * does nothing.
   */
  async end(report: Report): Promise<void> {
    if (this.#hasEnded) return
    this.#endSources()
    this.#append({ kind: 'report', report }, this.#elapsed(), true)
    this.#hasEnded = true
    await Promise.all(Array.from(this.#readers, endOf))
  }

  #begin(): void {
    this.#blindUpTo = this.#last
    this.#describedAt = this.#last
    for (const source of this.#sources) attempt(() => source.begin())
  }

  #describe(): void {
    this.#describedAt = this.#last
    for (const source of this.#sources) attempt(() => source.describe())
  }

  #detach(reader: Reader): void {
    if (this.#readers.delete(reader) && this.#readers.size === 0) this.#endSources()
  }

  #endSources(): void {
    for (const source of this.#sources) attempt(() => source.end())
  }

  #append(fact: JournalFact, at: number, isVital: boolean): void {
    if (this.#hasEnded) return
    attempt(() => {
      const n = ++this.#last
      const entry = { n, at: Math.round(at * 1000) / 1000, ...fact }
      // A report has any number of names in it, and is plain data by itself.
      const text = JSON.stringify(fact.kind === 'report' ? entry : plain(entry))
      this.#lines.push({ n, text, isVital })
      this.#length += text.length
      if (this.#length > this.#lengthMax) this.#drop()
      this.#notifyReaders()
    })
  }

  /** The oldest of what is not vital goes. */
  #drop(): void {
    const enough = (LENGTH_AFTER_DROP / LENGTH_MAX) * this.#lengthMax
    this.#lines = this.#lines.filter(({ n, text, isVital }) => {
      if (isVital || this.#length <= enough) return true
      this.#length -= text.length
      this.#lostUpTo = n
      return false
    })
  }

  #notifyReaders(): void {
    for (const reader of this.#readers) this.#notify(reader)
  }

  #notify(reader: Reader): void {
    try {
      reader.more()
    } catch {
      // It cannot be told of its own failure; without it the others and the life go on.
      this.#detach(reader)
    }
  }
}

async function endOf(reader: Reader): Promise<void> {
  try {
    await reader.end()
  } catch {
    // What it could not hand on is lost; the life ends all the same.
  }
}

function attempt(run: () => void): void {
  try {
    run()
  } catch {
    // A source or an entry that fails costs its entry. It is called from within a machine's step,
    // which must go on.
  }
}
