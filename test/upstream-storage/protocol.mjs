// @ts-check
// The part of etcd's protocol that upstream's storage asks for, from the server's side: what is sent and answered, and by which calls.
import { decodeMessage, encodeMessage } from '../../build/packages/apiserver/src/store/etcd/message-codec.js'

/** @typedef {import('../../build/packages/apiserver/src/store/etcd/message-codec.js').MessageFields} Fields */

/** @typedef {{ key: Buffer, create_revision: number, mod_revision: number, version: number, value: Uint8Array, lease?: number }} Entry */
/** @typedef {{ key: Buffer, range_end?: Buffer, limit?: number, revision?: number, sort_order?: number, keys_only?: boolean, count_only?: boolean }} Range */
/** @typedef {{ key: Buffer, value?: Buffer, lease?: number }} Put */
/** @typedef {{ key: Buffer, range_end?: Buffer }} DeleteRange */
/** @typedef {{ request_range?: Range, request_put?: Put, request_delete_range?: DeleteRange }} Operation */
/** @typedef {{ result?: number, target?: number, key: Buffer, version?: number, create_revision?: number, mod_revision?: number }} Compare */
/** @typedef {{ compare?: Compare[], success?: Operation[], failure?: Operation[] }} Txn */
/** @typedef {{ key: Buffer, range_end?: Buffer, start_revision?: number, progress_notify?: boolean, prev_kv?: boolean, watch_id?: number }} WatchCreate */
/** @typedef {{ create_request?: WatchCreate, cancel_request?: { watch_id?: number }, progress_request?: object }} WatchRequest */

/** @type {Fields} */
const HEADER = { cluster_id: [1, 'whole'], member_id: [2, 'whole'], revision: [3, 'whole'], raft_term: [4, 'whole'] }
/** @type {Fields} */
const ENTRY = {
  key: [1, 'bytes'],
  create_revision: [2, 'whole'],
  mod_revision: [3, 'whole'],
  version: [4, 'whole'],
  value: [5, 'bytes'],
  lease: [6, 'whole'],
}
/** @type {Fields} */
const RANGE = {
  key: [1, 'bytes'],
  range_end: [2, 'bytes'],
  limit: [3, 'whole'],
  revision: [4, 'whole'],
  sort_order: [5, 'whole'],
  keys_only: [8, 'flag'],
  count_only: [9, 'flag'],
}
/** @type {Fields} */
const RANGED = { header: [1, () => HEADER], kvs: [2, () => ENTRY, 'list'], more: [3, 'flag'], count: [4, 'whole'] }
/** @type {Fields} */
const PUT = { key: [1, 'bytes'], value: [2, 'bytes'], lease: [3, 'whole'] }
/** @type {Fields} */
const DONE = { header: [1, () => HEADER] }
/** @type {Fields} */
const DELETE = { key: [1, 'bytes'], range_end: [2, 'bytes'] }
/** @type {Fields} */
const DELETED = { header: [1, () => HEADER], deleted: [2, 'whole'] }
/** @type {Fields} */
const COMPARE = {
  result: [1, 'whole'],
  target: [2, 'whole'],
  key: [3, 'bytes'],
  version: [4, 'whole'],
  create_revision: [5, 'whole'],
  mod_revision: [6, 'whole'],
}
/** @type {Fields} */
const OPERATION = { request_range: [1, () => RANGE], request_put: [2, () => PUT], request_delete_range: [3, () => DELETE] }
/** @type {Fields} */
const OPERATED = { response_range: [1, () => RANGED], response_put: [2, () => DONE], response_delete_range: [3, () => DELETED] }
/** @type {Fields} */
const TXN = { compare: [1, () => COMPARE, 'list'], success: [2, () => OPERATION, 'list'], failure: [3, () => OPERATION, 'list'] }
/** @type {Fields} */
const TXN_DONE = { header: [1, () => HEADER], succeeded: [2, 'flag'], responses: [3, () => OPERATED, 'list'] }
/** @type {Fields} */
const GRANT = { TTL: [1, 'whole'], ID: [2, 'whole'] }
/** @type {Fields} */
const GRANTED = { header: [1, () => HEADER], ID: [2, 'whole'], TTL: [3, 'whole'] }
/** @type {Fields} */
const WATCH_CREATE = {
  key: [1, 'bytes'],
  range_end: [2, 'bytes'],
  start_revision: [3, 'whole'],
  progress_notify: [4, 'flag'],
  prev_kv: [6, 'flag'],
  watch_id: [7, 'whole'],
}
/** @type {Fields} */
const WATCH = {
  create_request: [1, () => WATCH_CREATE],
  cancel_request: [2, () => ({ watch_id: [1, 'whole'] })],
  progress_request: [3, () => ({})],
}
/** @type {Fields} */
const EVENT = { type: [1, 'whole'], kv: [2, () => ENTRY], prev_kv: [3, () => ENTRY] }
/** @type {Fields} */
const WATCHED = {
  header: [1, () => HEADER],
  watch_id: [2, 'whole'],
  created: [3, 'flag'],
  canceled: [4, 'flag'],
  compact_revision: [5, 'whole'],
  cancel_reason: [6, 'text'],
  events: [11, () => EVENT, 'list'],
}

/** @param {string} path @param {Fields} asked @param {Fields} answered @param {{ asks?: boolean, answers?: boolean }} [streams] */
const method = (path, asked, answered, { asks = false, answers = false } = {}) => ({
  path: `/etcdserverpb.${path}`,
  requestStream: asks,
  responseStream: answers,
  requestSerialize: (/** @type {object} */ given) => encodeMessage({ ...given }, asked),
  requestDeserialize: (/** @type {Buffer} */ bytes) => decodeMessage(bytes, asked),
  responseSerialize: (/** @type {object} */ given) => encodeMessage({ ...given }, answered),
  responseDeserialize: (/** @type {Buffer} */ bytes) => decodeMessage(bytes, answered),
})

export const SERVICE = {
  range: method('KV/Range', RANGE, RANGED),
  rangeStream: method('KV/RangeStream', RANGE, { range_response: [1, () => RANGED] }, { answers: true }),
  put: method('KV/Put', PUT, DONE),
  deleteRange: method('KV/DeleteRange', DELETE, DELETED),
  txn: method('KV/Txn', TXN, TXN_DONE),
  compact: method('KV/Compact', { revision: [1, 'whole'] }, DONE),
  watch: method('Watch/Watch', WATCH, WATCHED, { asks: true, answers: true }),
  grant: method('Lease/LeaseGrant', GRANT, GRANTED),
  status: method('Maintenance/Status', {}, { header: [1, () => HEADER], version: [2, 'text'] }),
}

/** How a `Compare` says what it compares, and how. */
export const TARGETS = /** @type {const} */ (['version', 'create_revision', 'mod_revision'])
/** @type {readonly ((is: number, given: number) => boolean)[]} */
export const RESULTS = [(is, given) => is === given, (is, given) => is > given, (is, given) => is < given, (is, given) => is !== given]

/** Keys are bytes to etcd, and texts of which each character is a byte to the store: their order is the same. @param {Buffer | undefined} key */
export const keyOf = (key) => (key ?? Buffer.alloc(0)).toString('latin1')

/** @param {{ key: Buffer, range_end?: Buffer }} asked @returns {import('../../packages/apiserver/dist/index.js').KeyRange} */
export function rangeOf({ key, range_end }) {
  const from = keyOf(key)
  if (range_end === undefined || range_end.length === 0) return { from, to: `${from}\0` }
  const to = keyOf(range_end)
  return to === '\0' ? { from } : { from, to }
}
