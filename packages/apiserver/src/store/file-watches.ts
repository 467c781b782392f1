import type { Answers } from './file-messages.ts'
import { isInRange, type KeyRange, type StoreChange, type StoreWatch, type StoreWatcher, type WatchQuery } from './key-value-store.ts'
import type { StoreError } from './store-error.ts'
import { changeOf } from './stored-rows.ts'

export interface FileWatchesParts {
  /** Throws when the file is not open. */
  readonly checkOpen: () => void
  /** The newest durable revision. */
  readonly newestRevision: () => number
  /** Reads some of the changes of a range after a revision. */
  readonly changesAfter: (range: KeyRange, after: number) => Promise<Answers['changes']>
}

interface Listener {
  readonly query: WatchQuery
  readonly watcher: StoreWatcher
  /** Every change up to it was given. */
  revision: number
  isLive: boolean
}

/**
 * The watches of a file: each reads the changes since its revision first, and is then given each
 * batch of writes.
 */
export class FileWatches {
  readonly #parts: FileWatchesParts
  readonly #listeners = new Set<Listener>()

  constructor(parts: FileWatchesParts) {
    this.#parts = parts
  }

  add(query: WatchQuery, watcher: StoreWatcher): StoreWatch {
    const { newestRevision } = this.#parts
    const listener: Listener = { query, watcher, revision: query.after ?? newestRevision(), isLive: false }
    let isOver = false
    this.#listeners.add(listener)
    // Not before the caller has what this returns.
    queueMicrotask(() => void this.#begin(listener))
    return {
      requestProgress: () => {
        if (!isOver) queueMicrotask(() => listener.isLive && this.#listeners.has(listener) && watcher.next([], newestRevision()))
      },
      close: () => {
        isOver = true
        this.#listeners.delete(listener)
      },
    }
  }

  /** Gives changes that have become durable, with the revision up to which there are no others. */
  give(changes: readonly StoreChange[], revision: number): void {
    for (const listener of this.#listeners) {
      if (!listener.isLive) continue
      const after = listener.revision
      const wanted = changes.filter((change) => change.revision > after && isInRange(change.key, listener.query))
      listener.revision = Math.max(after, revision)
      if (wanted.length > 0) listener.watcher.next(wanted, revision)
    }
  }

  endAll(error: StoreError): void {
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const { watcher } of listeners) watcher.ended(error)
  }

  async #begin(listener: Listener): Promise<void> {
    const { checkOpen, newestRevision, changesAfter } = this.#parts
    const { query, watcher } = listener
    try {
      checkOpen()
      if (query.after === undefined) return this.#goLive(listener, [])
      // Asked for also where nothing is known to have changed: a write may be under way, and the
      // revision may be older than all that is known.
      while (this.#listeners.has(listener)) {
        const after = listener.revision
        const { changes, upTo, bytes } = await changesAfter(query, after)
        if (!this.#listeners.has(listener)) return
        listener.revision = Math.max(after, upTo)
        const given = changes.map((row) => changeOf(row, bytes))
        // The last part comes with the news that the watch is in place.
        if (listener.revision >= newestRevision()) return this.#goLive(listener, given)
        watcher.next(given, listener.revision)
      }
    } catch (thrown) {
      if (this.#listeners.delete(listener)) watcher.ended(thrown as StoreError)
    }
  }

  #goLive(listener: Listener, given: readonly StoreChange[]): void {
    if (!this.#listeners.has(listener)) return
    listener.isLive = true
    listener.watcher.next(given, this.#parts.newestRevision())
  }
}
