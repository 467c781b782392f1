// @ts-check
// A stream of etcd's watches: several of them, each a watch of the store, told apart by their numbers.
import { rangeOf } from './protocol.mjs'

/** @typedef {import('../../packages/apiserver/dist/index.js').KeyValueStore} KeyValueStore @typedef {import('../../packages/apiserver/dist/index.js').KeyValue} KeyValue @typedef {import('../../packages/apiserver/dist/index.js').StoreChange} StoreChange */
/** @typedef {{ watch: import('../../packages/apiserver/dist/index.js').StoreWatch | undefined, revision: number, isTold: boolean, timer: NodeJS.Timeout | undefined }} Watched */

/** The number of an answer that is about all watches of a stream. */
const ALL = -1
const DELETED = 1

export class WatchStream {
  #call
  #store
  #progressMs
  #entryOf
  /** @type {Map<number, Watched>} */
  #watches = new Map()
  /** Revisions that all watches have to reach, each asked for by a request for progress. @type {number[]} */
  #asked = []
  #next = 0

  /**
   * @param {import('@grpc/grpc-js').ServerDuplexStream<import('./protocol.mjs').WatchRequest, object>} call
   * @param {KeyValueStore} store @param {number} progressMs @param {(entry: KeyValue) => import('./protocol.mjs').Entry} entryOf
   */
  constructor(call, store, progressMs, entryOf) {
    this.#call = call
    this.#store = store
    this.#progressMs = progressMs
    this.#entryOf = entryOf
    // One after the other, as their answers have to come in this order.
    let last = Promise.resolve()
    call.on('data', (/** @type {import('./protocol.mjs').WatchRequest} */ asked) => {
      last = last.then(() => this.#take(asked)).catch((error) => void call.destroy(error))
    })
    call.on('end', () => call.end())
    call.on('close', () => this.#close())
    call.on('cancelled', () => this.#close())
    call.on('error', () => this.#close())
  }

  #close() {
    for (const id of [...this.#watches.keys()]) this.#end(id)
  }

  /** @param {number} id */
  #end(id) {
    const watched = this.#watches.get(id)
    this.#watches.delete(id)
    clearInterval(watched?.timer)
    watched?.watch?.close()
  }

  /** @param {number} revision @param {object} answer */
  #say(revision, answer) {
    if (!this.#call.destroyed) this.#call.write({ header: { cluster_id: 1, member_id: 1, raft_term: 1, revision }, ...answer })
  }

  /** @param {import('./protocol.mjs').WatchRequest} asked */
  async #take({ create_request, cancel_request, progress_request }) {
    if (create_request) await this.#create(create_request)
    if (cancel_request) {
      const id = cancel_request.watch_id ?? 0
      this.#end(id)
      this.#say(await this.#store.revision(), { watch_id: id, canceled: true })
    }
    if (progress_request) {
      this.#asked.push(await this.#store.revision())
      for (const { watch } of this.#watches.values()) watch?.requestProgress()
      this.#tellAll()
    }
  }

  /** @param {import('./protocol.mjs').WatchCreate} asked */
  async #create(asked) {
    const id = asked.watch_id || this.#next++
    const revision = await this.#store.revision()
    const after = asked.start_revision ? asked.start_revision - 1 : revision
    /** @type {Watched} */
    const watched = { watch: undefined, revision: 0, isTold: true, timer: undefined }
    this.#watches.set(id, watched)
    this.#say(revision, { watch_id: id, created: true })
    watched.watch = this.#store.watch(
      { ...rangeOf(asked), after },
      {
        next: (changes, upTo) => {
          watched.revision = Math.max(watched.revision, upTo)
          if (changes.length > 0)
            this.#say(upTo, { watch_id: id, events: changes.map((change) => this.#eventOf(change, asked.prev_kv ?? false)) })
          else if (!watched.isTold) {
            watched.isTold = true
            this.#say(upTo, { watch_id: id })
          }
          this.#tellAll()
        },
        ended: (error) => {
          this.#end(id)
          const compacted = Number(error.details['compacted'] ?? 0)
          this.#say(revision, { watch_id: id, canceled: true, compact_revision: compacted, cancel_reason: error.message })
        },
      },
    )
    if (asked.progress_notify)
      watched.timer = setInterval(() => {
        watched.isTold = false
        watched.watch?.requestProgress()
      }, this.#progressMs)
  }

  /** What is asked about all is answered when all are so far. */
  #tellAll() {
    const least = Math.min(...[...this.#watches.values()].map(({ revision }) => revision))
    while (this.#asked[0] !== undefined && this.#asked[0] <= least) this.#say(Number(this.#asked.shift()), { watch_id: ALL })
  }

  /** @param {StoreChange} change @param {boolean} hasPrevious */
  #eventOf({ key, revision, current, previous }, hasPrevious) {
    const before = hasPrevious && previous ? { prev_kv: this.#entryOf(previous) } : {}
    return current
      ? { kv: this.#entryOf(current), ...before }
      : { type: DELETED, kv: { key: Buffer.from(key, 'latin1'), mod_revision: revision }, ...before }
  }
}
