import type { JournalEntry } from '../quiesce.ts'
import { countBefore } from './search.ts'
import { EMPTY_VIEW, type EntryOf, reduce, type View } from './view.ts'

/** Views are kept this many entries apart: going back costs at most so many steps. */
const CHECKPOINT_EVERY = 128

/**
 * The entries that have come, in order, and the view at each of them. Only ever grows, until a
 * stream begins anew.
 */
export class ReceivedJournal {
  readonly #entries: JournalEntry[] = []
  /** The view before entry 0, before entry 128, and so on. */
  readonly #checkpoints: View[] = [EMPTY_VIEW]
  readonly #gauges: EntryOf<'gauges'>[] = []
  readonly #landmarks: number[] = []
  #last: View = EMPTY_VIEW

  get entries(): readonly JournalEntry[] {
    return this.#entries
  }

  get length(): number {
    return this.#entries.length
  }

  get last(): View {
    return this.#last
  }

  /** Positions of the signals: where a person wants to jump to. */
  get landmarks(): readonly number[] {
    return this.#landmarks
  }

  /**
   * Adds what is new and says whether it was: after a reconnection some entries come twice. An
   * opening begins anew.
   */
  append(entry: JournalEntry): boolean {
    if (entry.kind === 'opening') this.#forget()
    if (entry.n <= (this.#entries.at(-1)?.n ?? 0)) return false
    if (this.#entries.length > 0 && this.#entries.length % CHECKPOINT_EVERY === 0) this.#checkpoints.push(this.#last)
    if (entry.kind === 'gauges') this.#gauges.push(entry)
    if (entry.kind === 'fact' && entry.event.type === 'signal') this.#landmarks.push(this.#entries.length)
    this.#entries.push(entry)
    this.#last = reduce(this.#last, entry)
    return true
  }

  /** The view once the entry at `position` has happened. */
  viewAt(position: number): View {
    if (position >= this.#entries.length - 1) return this.#last
    const checkpoint = Math.floor(Math.max(0, position) / CHECKPOINT_EVERY)
    let view = this.#checkpoints[checkpoint] ?? EMPTY_VIEW
    for (const entry of this.#entries.slice(checkpoint * CHECKPOINT_EVERY, position + 1)) view = reduce(view, entry)
    return view
  }

  /** The position of the last entry that had happened at this time; 0 before all of them. */
  positionAt(at: number): number {
    return Math.max(0, countUntil(this.#entries, at) - 1)
  }

  /** What was measured between two times, with the one that held when they began. */
  gaugesBetween(from: number, to: number): readonly EntryOf<'gauges'>[] {
    return this.#gauges.slice(Math.max(0, countUntil(this.#gauges, from) - 1), countUntil(this.#gauges, to))
  }

  #forget(): void {
    for (const grown of [this.#entries, this.#gauges, this.#landmarks]) grown.length = 0
    this.#checkpoints.length = 1
    this.#last = EMPTY_VIEW
  }
}

/** How many of the entries are at or before a time. */
const countUntil = (entries: readonly { readonly at: number }[], until: number): number => countBefore(entries, ({ at }) => at <= until)
