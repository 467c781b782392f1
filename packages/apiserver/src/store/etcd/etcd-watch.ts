import type { ClientDuplexStream } from '@grpc/grpc-js'
import type { Clock } from '../../engine.ts'
import type { KeyValue, StoreChange, StoreWatcher } from '../key-value-store.ts'
import { StoreError } from '../store-error.ts'
import { detailsOf, type EtcdClient, isRefused } from './etcd-client.ts'
import { HistoryLost } from './etcd-history.ts'
import type { EtcdEntry, EtcdEvent, WatchAnswer } from './etcd-messages.ts'

/** The time in milliseconds between two attempts to open the stream of a watch. */
const REOPEN_MS = 200
/**
 * The time in milliseconds between two requests for progress, as a member that is behind answers
 * none.
 */
const ASK_MS = 200

/** What a watch needs of its store. */
export interface WatchParts {
  readonly client: EtcdClient
  readonly clock: Clock
  /** The range in etcd's own keys. */
  readonly key: Buffer
  readonly rangeEnd: Buffer
  /** Undefined: behind the newest. */
  readonly after: number | undefined
  readonly watcher: StoreWatcher
  /** Undefined: a key that is none of the store's own. */
  readonly entryOf: (entry: EtcdEntry) => KeyValue | undefined
  readonly keyOf: (entry: EtcdEntry) => string
  /** Whether the members answer requests for progress in order with events. */
  readonly hasProgress: boolean
  /** The newest revision of the store. */
  readonly revision: () => Promise<number>
  /** Writes a key of no one into the range, whose event is as far as the watch is. */
  readonly mark: () => Promise<unknown>
  readonly isMark: (entry: EtcdEntry) => boolean
  /** Learns that its stream breaks, or is behind, so that its store looks whether it is lost. */
  readonly broken: () => void
  readonly over: () => void
}

/**
 * One watch, over streams that may break: it goes on behind the last revision that was given whole.
 * It has a stream of its own, so that what it is told about progress is about it.
 */
export class EtcdWatch {
  readonly #parts: WatchParts
  #stream: ClientDuplexStream<object, WatchAnswer> | undefined
  /** Everything up to here was given; undefined: it is not known yet where it begins. */
  #given: number | undefined
  /** The events so far of a revision whose events come in several answers. */
  #parted: EtcdEvent[] = []
  #isOver = false
  #timer: unknown
  #asking: unknown

  constructor(parts: WatchParts) {
    this.#parts = parts
    this.#given = parts.after
    void this.#open()
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts.clock.clearTimeout(this.#timer)
    this.#parts.clock.clearTimeout(this.#asking)
    this.#drop()
    this.#parts.over()
    for (const { resolve } of this.#waiting.splice(0)) resolve()
  }

  end(error: StoreError): void {
    if (this.#isOver) return
    this.close()
    this.#parts.watcher.ended(error)
  }

  requestProgress(): void {
    if (this.#isOver || this.#asking !== undefined) return
    this.#asking = this.#parts.clock.setTimeout(() => {}, 0)
    void this.#progress()
  }

  /** Resolves when everything up to a revision was given, or it is over. */
  reached(revision: number): Promise<void> {
    if (this.#isOver || this.#notifiedTo >= revision) return Promise.resolve()
    this.requestProgress()
    return new Promise((resolve) => void this.#waiting.push({ revision, resolve }))
  }
  readonly #waiting: { readonly revision: number; readonly resolve: () => void }[] = []
  /** The revision of which the watcher was notified last. */
  #notifiedTo = -1

  #notify(changes: readonly StoreChange[], revision: number): void {
    this.#notifiedTo = revision
    this.#parts.watcher.next(changes, revision)
    for (const each of this.#waiting.splice(0))
      if (each.revision <= revision) each.resolve()
      else this.#waiting.push(each)
  }

  /** Looks whether it is there already, as it is when the last change was one of its own. */
  async #progress(): Promise<void> {
    const { revision, hasProgress, mark, clock } = this.#parts
    const again = (): void => {
      if (!this.#isOver) this.#asking = clock.setTimeout(() => void this.#progress(), ASK_MS)
    }
    try {
      const newest = await revision()
      if (this.#isOver) return
      if ((this.#given ?? 0) >= newest) {
        this.#asking = undefined
        this.#notify([], this.#given ?? newest)
        return
      }
      if (hasProgress) this.#stream?.write({ progress_request: {} })
      else if (this.#waited) await mark()
      this.#waited = !this.#waited
    } catch {
      // The store is lost, or about to be found again: it is asked once more.
    }
    again()
  }
  /** Whether events that are on their way have had their time. */
  #waited = false

  async #open(): Promise<void> {
    const { client, key, rangeEnd } = this.#parts
    try {
      const stream = await client.watch()
      if (this.#isOver) {
        stream.cancel()
        return
      }
      this.#stream = stream
      this.#parted = []
      let isBroken = false
      const broken = (): void => {
        if (isBroken || this.#stream !== stream) return
        isBroken = true
        this.#reopen()
      }
      stream.on('data', (answer: WatchAnswer) => {
        if (this.#stream !== stream) return
        try {
          client.history.heard(answer.header)
        } catch {
          // All watches have ended with the history.
          return
        }
        this.#heard(answer)
      })
      stream.on('error', broken)
      stream.on('end', broken)
      stream.write({
        create_request: {
          key,
          range_end: rangeEnd,
          // From the last one that was given, which comes once more: etcd refuses what is older
          // than its compaction, and its change is one that nothing may be missing behind.
          ...(this.#given !== undefined && { start_revision: Math.max(1, this.#given) }),
          progress_notify: true,
          prev_kv: true,
          fragment: true,
        },
      })
    } catch {
      this.#reopen()
    }
  }

  #reopen(): void {
    if (this.#isOver) return
    const { client, clock, broken } = this.#parts
    this.#drop()
    client.next()
    broken()
    clock.clearTimeout(this.#timer)
    this.#timer = clock.setTimeout(() => void this.#open(), REOPEN_MS)
  }

  #drop(): void {
    const stream = this.#stream
    this.#stream = undefined
    stream?.cancel()
  }

  #heard({ header, created, canceled, compact_revision: compacted, cancel_reason: why, fragment, events = [] }: WatchAnswer): void {
    if (canceled) {
      const reason = (compacted ?? 0) > 0 ? 'compacted' : 'unavailable'
      const asked = this.#given ?? 0
      this.end(
        new StoreError(
          reason,
          reason === 'compacted'
            ? `changes after revision ${asked} are not known: what was there before ${compacted} is forgotten`
            : `etcd has ended a watch: ${why || 'it gave no reason'}`,
          { asked, compacted },
        ),
      )
      return
    }
    const revision = header?.revision ?? 0
    if (created) {
      // It waits for what is yet to come; or what was given is of a history that is lost.
      if (revision < (this.#given ?? 0)) this.#parts.broken()
      this.#given ??= revision
      this.#notify([], Math.min(this.#given, revision))
      return
    }
    this.#parted.push(...events)
    if (fragment) return
    const whole = this.#parted
    this.#parted = []
    const last = whole.at(-1)
    // An answer without events is progress: all up to its revision was given.
    this.#give(whole, last === undefined ? revision : last.kv.mod_revision)
  }

  #give(events: readonly EtcdEvent[], upTo: number): void {
    const { isMark } = this.#parts
    const given = this.#given ?? 0
    const changes = events.filter(({ kv }) => kv.mod_revision > given && !isMark(kv)).map((event) => this.#changeOf(event))
    if (upTo > given) this.#given = upTo
    this.#notify(changes, this.#given ?? upTo)
  }

  #changeOf({ type = 0, kv, prev_kv: previous }: EtcdEvent): StoreChange {
    const { keyOf, entryOf } = this.#parts
    return {
      key: keyOf(kv),
      revision: kv.mod_revision,
      current: type === 1 ? undefined : entryOf(kv),
      previous: previous && entryOf(previous),
    }
  }
}

export function lostError(name: string, thrown: unknown): StoreError {
  const what = thrown instanceof HistoryLost ? 'has lost its history' : isRefused(thrown) ? 'refuses' : 'cannot be reached'
  return new StoreError('unavailable', `${name} ${what}: ${detailsOf(thrown)}`, {}, thrown)
}
