import { Observable } from 'rxjs/internal/Observable'
import { defer } from 'rxjs/internal/observable/defer'
import { EMPTY } from 'rxjs/internal/observable/empty'
import { from } from 'rxjs/internal/observable/from'
import { merge } from 'rxjs/internal/observable/merge'
import { of } from 'rxjs/internal/observable/of'
import { catchError } from 'rxjs/internal/operators/catchError'
import { finalize } from 'rxjs/internal/operators/finalize'
import { repeat } from 'rxjs/internal/operators/repeat'
import { takeUntil } from 'rxjs/internal/operators/takeUntil'
import { tap } from 'rxjs/internal/operators/tap'
import { Subject } from 'rxjs/internal/Subject'
import type { ClientEvent, ListWatch, Snapshot } from '../client/resource-client.ts'
import {
  type Clock,
  checkArguments,
  type Duration,
  deferred,
  optionError,
  parseDuration,
  systemClock,
  systemHost,
  withFields,
  withOptions,
} from '../engine.ts'
import { type ApiObject, keyOf, keyText, type ObjectKey } from '../groups/api-object.ts'
import { StatusError } from '../status-errors.ts'
import { exponentialMs, INFORMER_BACKOFF } from './backoff.ts'
import { type Indexer, ObjectCache } from './object-cache.ts'
import { aborted, afterTime } from './on-clock.ts'

/** What has become of an object. */
export type InformerEvent<T extends ApiObject = ApiObject> =
  /** It is there: it is new, or was there when this subscription, or the informer, began. */
  | { readonly type: 'added'; readonly object: T }
  | { readonly type: 'updated'; readonly object: T; readonly previous: T }
  /**
   * It is gone. `object` is the last that is known of it: when its deletion fell into a time in
   * which nothing could be watched, an older state than it was deleted in.
   */
  | { readonly type: 'deleted'; readonly object: T }
  /** It is as it was: a reminder, every `resync`. */
  | { readonly type: 'resync'; readonly object: T }

export interface InformerOptions<T extends ApiObject = ApiObject> {
  /** Time between two reminders of all objects. Default 0: there are none. */
  readonly resync?: Duration
  /** The indexers by which objects are found beside their keys. Default: none. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>>
  /**
   * Is given every error for which the informer waits and tries again. Default: none are
   * reported. A watch
   * that its server ends, or whose version is too old, is none.
   */
  readonly failed?: (error: unknown) => void
  /** Default: that of the process. */
  readonly clock?: Clock
  /** Spreads what many informers try again at the same time. Default: chance. */
  readonly random?: () => number
}

const A_CLIENT = withFields('a client that can list and watch', 'name', 'list', 'watch')

/**
 * Keeps a copy of all objects that a client sees, and says what becomes of each: it lists them,
 * watches from there on, goes on behind the last version after every interruption, and lists again
 * only when that version is too old (410), or when the server cannot give what follows it (500). Of
 * what many events in the meantime have made of an object, a new list shows the last.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @see kubernetes/client-go tools/cache/reflector.go, shared_informer.go
 * @example
 * const informer = createInformer(loopbackResource(server.loopback, widgets))
 * informer.events$.subscribe(({ type, object }) => console.log(type, object.metadata.name))
 * void informer.run(signal)
 * await informer.synced(signal)
 */
export function createInformer<T extends ApiObject>(client: ListWatch<T>, options: InformerOptions<T> = {}): Informer<T> {
  checkArguments(
    'createInformer(client, options?)',
    [client, A_CLIENT],
    [options, withOptions<InformerOptions<T>>('resync', 'indexers', 'failed', 'clock', 'random')],
  )
  return new Informer(client, options)
}

export class Informer<T extends ApiObject = ApiObject> {
  /** The name of its client. */
  readonly name: string
  /**
   * First, as `added`, what is there when it is subscribed to; then whatever happens, in order. It
   * completes when the informer has ended. A subscriber that throws is an uncaught exception, as
   * always with rxjs.
   */
  readonly events$: Observable<InformerEvent<T>>
  readonly #client: ListWatch<T>
  readonly #clock: Clock
  readonly #random: () => number
  readonly #failed: (error: unknown) => void
  readonly #resyncMs: number
  readonly #cache = new ObjectCache<T>()
  readonly #events = new Subject<InformerEvent<T>>()
  readonly #synced = deferred<void>()
  #hasSynced = false
  #isStarted = false
  #hasToList = true
  #resourceVersion = ''
  /** Ends in a row without a change that came through; -1: the next one has no cause to wait. */
  #failures = 0
  #isJustListed = false

  constructor(
    client: ListWatch<T>,
    { resync = 0, indexers = {}, failed = () => {}, clock = systemClock, random = systemHost.random }: InformerOptions<T>,
  ) {
    this.name = client.name
    this.#client = client
    this.#clock = clock
    this.#random = random
    this.#failed = failed
    this.#resyncMs = parseDuration('resync of createInformer()', resync)
    this.#cache.addIndexers(indexers)
    this.events$ = new Observable((subscriber) => {
      for (const object of this.#cache.all()) subscriber.next({ type: 'added', object })
      return this.#events.subscribe(subscriber)
    })
  }

  /** Whether everything of the first list is in the cache, and was given to the subscribers. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** The version up to which the cache is what was there; empty before the first list. */
  get resourceVersion(): string {
    return this.#resourceVersion
  }

  /** The object, which must not be changed; undefined: there is none. */
  get(key: ObjectKey): T | undefined {
    return this.#cache.get(key)
  }

  /**
   * Finds objects by more than their keys from now on, those too that are there.
   * @throws QuiesceError ERR_DUPLICATE for the name of another indexer
   */
  addIndexers(indexers: Readonly<Record<string, Indexer<T>>>): void {
    this.#cache.addIndexers(indexers)
  }

  /** All objects, in no order. */
  list(): readonly T[] {
    return this.#cache.all()
  }

  /**
   * Objects for which an indexer has said a value.
   * @throws QuiesceError ERR_OPTION_INVALID for an index that is not there
   */
  byIndex(index: string, value: string): readonly T[] {
    const found = this.#cache.by(index, value)
    if (found === undefined) throw optionError('index of byIndex()', index, 'the name of one of the indexers')
    return found
  }

  /** Resolves once it {@link hasSynced}; rejects with the signal's reason when that comes first. */
  async synced(signal?: AbortSignal): Promise<void> {
    if (this.#hasSynced) return
    signal?.throwIfAborted()
    const left = deferred<never>()
    const leave = (): void => left.reject(signal?.reason)
    signal?.addEventListener('abort', leave)
    try {
      await Promise.race([this.#synced.promise, left.promise])
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  /** Resolves when the signal has ended it. A second call ends nothing and begins nothing. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#isStarted) return
    this.#isStarted = true
    await new Promise<void>((resolve) => {
      merge(this.#follow(signal), this.#resync())
        .pipe(takeUntil(aborted(signal)), finalize(resolve))
        .subscribe()
    })
    this.#events.complete()
  }

  /** Lists and watches, without an end. */
  #follow(signal: AbortSignal): Observable<unknown> {
    return defer(() => (this.#hasToList ? this.#listed(signal) : this.#watched())).pipe(
      catchError((thrown: unknown) => {
        this.#failures++
        if (hasCode(thrown, 410) || hasCode(thrown, 500)) this.#hasToList = true
        if (!hasCode(thrown, 410) && !signal.aborted) this.#failed(thrown)
        return EMPTY
      }),
      repeat({ delay: () => this.#pause() }),
    )
  }

  #listed(signal: AbortSignal): Observable<unknown> {
    return defer(() => from(this.#client.list({ signal }))).pipe(tap((snapshot) => this.#replace(snapshot)))
  }

  #watched(): Observable<unknown> {
    const begunAt = this.#clock.now()
    // One that was of use is followed by the next at once. One that was not would be so for ever.
    const ended = (): void => {
      if (this.#clock.now() - begunAt >= OF_USE_MS) this.#failures = -1
    }
    return this.#client.watch(this.#resourceVersion).pipe(
      tap({
        next: (event) => this.#apply(event),
        error: ended,
        complete: () => {
          ended()
          this.#failures++
        },
      }),
    )
  }

  #pause(): Observable<unknown> {
    // Nothing is waited for between a list and the watch behind it.
    const ms = this.#isJustListed ? 0 : exponentialMs(INFORMER_BACKOFF, this.#failures, this.#random)
    this.#isJustListed = false
    return ms === 0 ? of(undefined) : afterTime(this.#clock, ms)
  }

  #resync(): Observable<unknown> {
    if (this.#resyncMs === 0) return EMPTY
    return defer(() => afterTime(this.#clock, this.#resyncMs)).pipe(
      tap(() => {
        for (const object of this.#cache.all()) this.#events.next({ type: 'resync', object })
      }),
      repeat(),
    )
  }

  /** What is listed is what there is: what the cache has beside it was deleted meanwhile. */
  #replace({ items, resourceVersion }: Snapshot<T>): void {
    const keys = new Set(items.map((object) => keyText(keyOf(object))))
    for (const object of this.#cache.all()) if (!keys.has(keyText(keyOf(object)))) this.#remove(object)
    for (const object of items) this.#put(object)
    this.#resourceVersion = resourceVersion
    this.#hasToList = false
    this.#isJustListed = true
    if (this.#hasSynced) return
    this.#hasSynced = true
    this.#synced.resolve()
  }

  #apply(event: ClientEvent<T>): void {
    const version = event.type === 'BOOKMARK' ? event.resourceVersion : (event.object.metadata.resourceVersion ?? '')
    // Seen before: what is older than what was listed, or given twice.
    if (!isNewer(version, this.#resourceVersion)) return
    this.#resourceVersion = version
    this.#failures = -1
    if (event.type === 'DELETED') this.#remove(event.object)
    else if (event.type !== 'BOOKMARK') this.#put(event.object)
  }

  #put(object: T): void {
    const previous = this.#cache.get(keyOf(object))
    if (previous?.metadata.resourceVersion === object.metadata.resourceVersion) return
    // Another object of that name: its predecessor was deleted while nothing was watched.
    if (previous && previous.metadata.uid !== object.metadata.uid) this.#remove(previous)
    const replaced = this.#cache.set(object)
    this.#events.next(replaced ? { type: 'updated', object, previous: replaced } : { type: 'added', object })
  }

  #remove(object: T): void {
    if (this.#cache.delete(keyOf(object))) this.#events.next({ type: 'deleted', object })
  }
}

/** How long a watch has to last that nothing came through. */
const OF_USE_MS = 30_000

const hasCode = (thrown: unknown, code: number): boolean => thrown instanceof StatusError && thrown.failure.code === code

/**
 * Versions are decimal numbers without a sign, and grow.
 * @see kubernetes/apimachinery pkg/util/resourceversion/resourceversion.go
 * CompareResourceVersion
 */
export const isNewer = (version: string, than: string): boolean =>
  version.length === than.length ? version > than : version.length > than.length
