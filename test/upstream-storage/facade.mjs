// @ts-check
// One of our stores behind etcd's protocol, as far as upstream's storage asks for it, so that upstream's own tests can judge the store. What etcd
// has and the store's interface does not is made here: how often a key was written (`version`), and leases. Everything else is asked of the store,
// and what it could not do is refused as unimplemented. Not for use: one process, no durability of leases.
import { loadGrpc } from '../../build/packages/apiserver/src/store/etcd/etcd-client.js'
import { StoreError } from '../../packages/apiserver/dist/index.js'
import { keyOf, RESULTS, rangeOf, SERVICE, TARGETS } from './protocol.mjs'
import { WatchStream } from './watch-stream.mjs'

/** @typedef {import('../../packages/apiserver/dist/index.js').KeyValueStore} KeyValueStore @typedef {import('../../packages/apiserver/dist/index.js').KeyValue} KeyValue */
/** @typedef {import('./protocol.mjs').Entry} Entry @typedef {import('./protocol.mjs').Range} Range @typedef {import('./protocol.mjs').Operation} Operation @typedef {import('./protocol.mjs').Txn} Txn @typedef {import('./protocol.mjs').Compare} Compare */

/** The newest that upstream knows something of: with progress that is asked for, and lists as streams. */
const VERSION = '3.7.0'
/** How many entries a part of a streamed list has: few, so that lists of tests have several. */
const STREAMED = 10
const OUT_OF_RANGE = 11
const UNIMPLEMENTED = 12
const INTERNAL = 13
const NOTHING = Buffer.alloc(0)

/** An answer of etcd that is none. */
class Refusal extends Error {
  /** @param {number} code @param {string} details */
  constructor(code, details) {
    super(details)
    this.code = code
    this.details = details
  }
}
const unimplemented = (/** @type {string} */ what) => new Refusal(UNIMPLEMENTED, `the façade has no ${what}`)

/** As etcd says it, so that its clients know what is meant. @param {unknown} thrown */
function refusalOf(thrown) {
  if (thrown instanceof Refusal) return thrown
  if (!(thrown instanceof StoreError)) return new Refusal(INTERNAL, String(thrown))
  if (thrown.reason === 'compacted') return new Refusal(OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted')
  if (thrown.reason === 'future') return new Refusal(OUT_OF_RANGE, 'etcdserver: mvcc: required revision is a future revision')
  return new Refusal(INTERNAL, thrown.message)
}

export class EtcdFacade {
  /** @type {KeyValueStore} */
  #store
  #progressMs
  /** How often each key was written since it was created. @type {Map<string, number>} */
  #versions = new Map()
  /** @type {Map<number, { keys: Set<string>, timer: NodeJS.Timeout, seconds: number }>} */
  #leases = new Map()
  /** @type {Map<string, number>} */
  #leaseOf = new Map()
  #compacted = 0
  /** @type {import('@grpc/grpc-js').Server | undefined} */
  #server

  /** @param {KeyValueStore} store @param {number} progressMs how often a watch that wants it is told how far it is */
  constructor(store, progressMs) {
    this.#store = store
    this.#progressMs = progressMs
  }

  /** @returns {Promise<number>} the port */
  async listen() {
    const grpc = await loadGrpc()
    const server = new grpc.Server({ 'grpc.max_receive_message_length': -1 })
    this.#server = server
    /** @param {(asked: any) => Promise<object>} answer */
    const unary = (answer) => (/** @type {any} */ call, /** @type {any} */ callback) => {
      answer(call.request).then(
        (given) => callback(null, given),
        (/** @type {unknown} */ thrown) => callback(refusalOf(thrown)),
      )
    }
    server.addService(/** @type {any} */ (SERVICE), {
      range: unary((asked) => this.range(asked)),
      rangeStream: (/** @type {any} */ call) => void this.#stream(call),
      put: unary((asked) => this.put(asked)),
      deleteRange: unary((asked) => this.delete(asked)),
      txn: unary((asked) => this.txn(asked)),
      compact: unary((asked) => this.compact(asked)),
      watch: (/** @type {any} */ call) => void new WatchStream(call, this.#store, this.#progressMs, (entry) => this.entryOf(entry)),
      grant: unary((asked) => this.grant(asked)),
      status: unary(async () => ({ header: await this.header(), version: VERSION })),
    })
    return new Promise((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => (error ? reject(error) : resolve(port))),
    )
  }

  async close() {
    this.#server?.forceShutdown()
    for (const { timer } of this.#leases.values()) clearTimeout(timer)
    await this.#store.close()
  }

  async header(revision = 0) {
    return { cluster_id: 1, member_id: 1, raft_term: 1, revision: revision || (await this.#store.revision()) }
  }

  /** @param {KeyValue} entry @returns {Entry} */
  entryOf({ key, value, createRevision, modRevision }) {
    const version = this.#versions.get(key) ?? 1
    const lease = this.#leaseOf.get(key)
    return {
      key: Buffer.from(key, 'latin1'),
      value,
      create_revision: createRevision,
      mod_revision: modRevision,
      version,
      ...(lease && { lease }),
    }
  }

  /** @param {Range} asked */
  async range(asked) {
    const { limit = 0, revision = 0, sort_order = 0, keys_only = false, count_only = false } = asked
    if (sort_order > 1) throw unimplemented('lists that are sorted downwards')
    const found = await this.#store.range({
      ...rangeOf(asked),
      ...(revision > 0 && { at: revision }),
      ...(count_only ? { limit: 0 } : limit > 0 && { limit }),
    })
    const entries = found.entries.map((entry) => this.entryOf(entry))
    return {
      header: await this.header(found.revision),
      kvs: keys_only ? entries.map((entry) => ({ ...entry, value: NOTHING })) : entries,
      more: !count_only && entries.length < found.count,
      count: found.count,
    }
  }

  /** @param {import('@grpc/grpc-js').ServerWritableStream<Range, object>} call */
  async #stream(call) {
    try {
      const { kvs, ...rest } = await this.range(call.request)
      for (let at = 0; at < kvs.length - STREAMED; at += STREAMED) call.write({ range_response: { kvs: kvs.slice(at, at + STREAMED) } })
      const left = kvs.length === 0 ? 0 : Math.floor((kvs.length - 1) / STREAMED) * STREAMED
      call.write({ range_response: { kvs: kvs.slice(left), ...rest } })
      call.end()
    } catch (thrown) {
      call.emit('error', refusalOf(thrown))
    }
  }

  /** @param {import('./protocol.mjs').Put} asked */
  async put(asked) {
    const { response_put } = await this.#operate({ request_put: asked }, undefined)
    return response_put ?? {}
  }

  /** @param {import('./protocol.mjs').DeleteRange} asked */
  async delete(asked) {
    const { response_delete_range } = await this.#operate({ request_delete_range: asked }, undefined)
    return response_delete_range ?? {}
  }

  /**
   * One key, and what a writer of etcd's transactions has seen there. The store's own comparison decides where it is of the revision, as
   * upstream's writes are; of other comparisons what was compared has to be there still when it is written.
   * @param {Txn} asked
   */
  async txn({ compare = [], success = [], failure = [] }) {
    const keys = new Set([...compare.map(({ key }) => keyOf(key)), ...[...success, ...failure].map((each) => keyOf(keyIn(each)))])
    const [key] = keys
    if (keys.size !== 1 || key === undefined) throw unimplemented(`transactions of ${keys.size} keys`)
    if (success.length > 1 || failure.length > 1) throw unimplemented('transactions of several operations')
    const [first] = compare
    const isOfRevision = compare.length === 1 && first !== undefined && first.target === 2 && (first.result ?? 0) === 0
    for (;;) {
      const { entry, revision } = await this.#store.get(key)
      const expected = isOfRevision ? (first.mod_revision ?? 0) : (entry?.modRevision ?? 0)
      const succeeded = isOfRevision || compare.every((each) => this.#holds(each, key, entry))
      const chosen = succeeded ? success : failure
      const results = []
      let isRefused = false
      for (const operation of chosen) {
        const result = await this.#operate(operation, expected)
        if (result.isRefused) isRefused = true
        else results.push(result)
      }
      if (!isRefused) return { header: await this.header(Math.max(revision, ...results.map(revisionIn))), succeeded, responses: results }
      if (!isOfRevision) continue
      const responses = await Promise.all(failure.map((operation) => this.#operate(operation, undefined)))
      return { header: await this.header(), succeeded: false, responses }
    }
  }

  /** @param {Compare} compare @param {string} key @param {KeyValue | undefined} entry */
  #holds({ target = 0, result = 0, ...given }, key, entry) {
    const name = TARGETS[target]
    const compares = RESULTS[result]
    if (name === undefined || compares === undefined) throw unimplemented(`comparison of ${target} by ${result}`)
    const is = {
      version: entry ? (this.#versions.get(key) ?? 1) : 0,
      create_revision: entry?.createRevision ?? 0,
      mod_revision: entry?.modRevision ?? 0,
    }
    return compares(is[name], given[name] ?? 0)
  }

  /**
   * @param {Operation} operation @param {number | undefined} expected
   * @returns {Promise<{ isRefused?: boolean, response_range?: object, response_put?: { header: object }, response_delete_range?: { header: object, deleted: number } }>}
   */
  async #operate({ request_range, request_put, request_delete_range }, expected) {
    if (request_range) return { response_range: await this.range(request_range) }
    if (request_put) {
      const { value = NOTHING, lease = 0 } = request_put
      const key = keyOf(request_put.key)
      const written = await this.#store.put({ key, value, expected })
      if (!written.isDone) return { isRefused: true }
      this.#versions.set(key, (this.#versions.get(key) ?? 0) + 1)
      this.#attach(key, lease)
      return { response_put: { header: await this.header(written.revision) } }
    }
    if (request_delete_range === undefined) throw unimplemented('transactions within transactions')
    if (request_delete_range.range_end !== undefined) throw unimplemented('deletions of ranges')
    const key = keyOf(request_delete_range.key)
    const deleted = await this.#store.delete({ key, expected })
    if (!deleted.isDone && (deleted.current !== undefined || (expected ?? 0) !== 0)) return { isRefused: true }
    this.#versions.delete(key)
    this.#attach(key, 0)
    return { response_delete_range: { header: await this.header(deleted.isDone ? deleted.revision : 0), deleted: Number(deleted.isDone) } }
  }

  /** @param {{ revision?: number }} asked */
  async compact({ revision = 0 }) {
    if (revision <= this.#compacted) throw new Refusal(OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted')
    await this.#store.compact(revision)
    this.#compacted = revision
    return { header: await this.header() }
  }

  /** @param {{ TTL?: number, ID?: number }} asked */
  async grant({ TTL = 1, ID = 0 }) {
    const id = ID || this.#leases.size + 1
    this.#leases.set(id, { keys: new Set(), seconds: TTL, timer: setTimeout(() => void this.#expire(id), TTL * 1_000) })
    return { header: await this.header(), ID: id, TTL }
  }

  /** @param {string} key @param {number} lease 0: none */
  #attach(key, lease) {
    this.#leases.get(this.#leaseOf.get(key) ?? 0)?.keys.delete(key)
    this.#leaseOf.delete(key)
    if (lease === 0) return
    this.#leases.get(lease)?.keys.add(key)
    this.#leaseOf.set(key, lease)
  }

  /** @param {number} lease */
  async #expire(lease) {
    for (const key of this.#leases.get(lease)?.keys ?? []) await this.delete({ key: Buffer.from(key, 'latin1') })
  }
}

/** @param {Operation} operation */
function keyIn({ request_range, request_put, request_delete_range }) {
  if (request_range?.range_end !== undefined) throw unimplemented('transactions of ranges')
  return (request_range ?? request_put ?? request_delete_range)?.key
}

const revisionIn = (/** @type {any} */ result) =>
  Number((result.response_range ?? result.response_put ?? result.response_delete_range)?.header?.revision ?? 0)
