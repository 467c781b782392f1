import type { Composition } from '../machines/lifecycle.ts'
import { WIRING } from '../machines/wiring.ts'
import type { Report } from '../report/report.ts'
import type { JournalEntry, OpeningEntry } from './protocol.ts'
import type { JournalLine, ReadableJournal, Reader } from './reading.ts'

/** A journal that is over: read from a file, or made from a report or a counter-example. */
export class Recording implements ReadableJournal {
  readonly isOver = true
  readonly opening: OpeningEntry
  readonly report: Report | undefined
  readonly #entries: readonly JournalEntry[]
  readonly #lines: readonly JournalLine[]

  /** @param entries in order; the first one is the opening */
  constructor(entries: readonly JournalEntry[]) {
    this.#entries = entries
    this.#lines = entries.map((entry) => ({ n: entry.n, text: JSON.stringify(entry), isVital: true }))
    this.opening = entries[0] as JournalEntry & OpeningEntry
    this.report = entries.findLast((entry) => entry.kind === 'report')?.report
  }

  /** Milliseconds from the first to the last entry. */
  get length(): number {
    return this.#entries.at(-1)?.at ?? 0
  }

  after(n: number): readonly JournalLine[] {
    return this.#lines.filter((line) => line.n > n)
  }

  canResume(n: number): boolean {
    return this.#lines.some((line) => line.n === n)
  }

  isComplete(): boolean {
    return true
  }

  attach(reader: Reader): Disposable {
    reader.more()
    return { [Symbol.dispose]: () => {} }
  }

  /**
   * What the life's machine was composed of, as far as it can be told from its phases and hooks.
   */
  get composition(): Composition {
    const { phases } = this.opening
    const names = phases.map(({ name }) => name)
    const hooks = this.#entries.flatMap((entry) =>
      entry.kind === 'fact' && entry.event.type === 'hook.started' && entry.event.kind === 'post-start' ? [entry.event.name] : [],
    )
    const own = phases.filter(({ name }) => !Object.hasOwn(WIRING, name))
    return {
      mode: names.includes('close-listener-after-drain') ? 'retry-after' : 'refuse',
      postStartHooks: [...new Set(hooks)].map((name) => ({ kind: 'post-start', name, timeoutMs: 0 })),
      userPhases: own.map(({ name, waitsFor, fires }) => ({
        name,
        after: waitsFor,
        before: phases.filter((other) => other.waitsFor.some((signal) => fires.includes(signal))).map((other) => other.name),
        timeoutMs: 1,
      })),
    }
  }
}
