import { decodeMessage, encodeMessage, type MessageFields } from './message-codec.ts'

/**
 * The part of etcd's protocol that a store needs.
 * @see etcd api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto
 */

export interface EtcdEntry {
  readonly key: Buffer
  readonly create_revision: number
  readonly mod_revision: number
  readonly version: number
  readonly value?: Buffer
}

export interface EtcdHeader {
  /** Rounded, which leaves it to tell two clusters apart. */
  readonly cluster_id?: number
  readonly revision?: number
}

export interface RangeAnswer {
  readonly header?: EtcdHeader
  readonly kvs?: readonly EtcdEntry[]
  readonly count?: number
}

export interface TxnAnswer {
  readonly header?: EtcdHeader
  readonly succeeded?: boolean
  readonly responses?: readonly {
    readonly response_range?: RangeAnswer
    readonly response_delete_range?: { readonly prev_kvs?: readonly EtcdEntry[] }
  }[]
}

export interface EtcdEvent {
  /** 1: it was deleted. */
  readonly type?: number
  readonly kv: EtcdEntry
  readonly prev_kv?: EtcdEntry
}

export interface WatchAnswer {
  readonly header?: EtcdHeader
  readonly created?: boolean
  readonly canceled?: boolean
  readonly compact_revision?: number
  readonly cancel_reason?: string
  readonly fragment?: boolean
  readonly events?: readonly EtcdEvent[]
}

export interface StatusAnswer {
  readonly version?: string
}

export interface AlarmAnswer {
  readonly alarms?: readonly object[]
}

export interface AuthenticateAnswer {
  readonly token?: string
}

const HEADER: MessageFields = { cluster_id: [1, 'whole'], revision: [3, 'whole'] }
const ENTRY: MessageFields = {
  key: [1, 'bytes'],
  create_revision: [2, 'whole'],
  mod_revision: [3, 'whole'],
  version: [4, 'whole'],
  value: [5, 'bytes'],
}
const RANGE: MessageFields = {
  key: [1, 'bytes'],
  range_end: [2, 'bytes'],
  limit: [3, 'whole'],
  revision: [4, 'whole'],
  keys_only: [8, 'flag'],
  count_only: [9, 'flag'],
}
const RANGED: MessageFields = { header: [1, () => HEADER], kvs: [2, () => ENTRY, 'list'], count: [4, 'whole'] }
const PUT: MessageFields = { key: [1, 'bytes'], value: [2, 'bytes'] }
const DELETE: MessageFields = { key: [1, 'bytes'], prev_kv: [3, 'flag'] }
const COMPARE: MessageFields = {
  result: [1, 'whole'],
  target: [2, 'whole'],
  key: [3, 'bytes'],
  version: [4, 'whole'],
  create_revision: [5, 'whole'],
  mod_revision: [6, 'whole'],
}
const OPERATION: MessageFields = { request_range: [1, () => RANGE], request_put: [2, () => PUT], request_delete_range: [3, () => DELETE] }
const TXN: MessageFields = {
  compare: [1, () => COMPARE, 'list'],
  success: [2, () => OPERATION, 'list'],
  failure: [3, () => OPERATION, 'list'],
}
const DELETED: MessageFields = { prev_kvs: [3, () => ENTRY, 'list'] }
const DONE: MessageFields = { response_range: [1, () => RANGED], response_delete_range: [3, () => DELETED] }
const TXN_DONE: MessageFields = { header: [1, () => HEADER], succeeded: [2, 'flag'], responses: [3, () => DONE, 'list'] }
const COMPACT: MessageFields = { revision: [1, 'whole'] }
const WATCH_CREATE: MessageFields = {
  key: [1, 'bytes'],
  range_end: [2, 'bytes'],
  start_revision: [3, 'whole'],
  progress_notify: [4, 'flag'],
  prev_kv: [6, 'flag'],
  fragment: [8, 'flag'],
}
const NOTHING: MessageFields = {}
const WATCH: MessageFields = { create_request: [1, () => WATCH_CREATE], progress_request: [3, () => NOTHING] }
const EVENT: MessageFields = { type: [1, 'whole'], kv: [2, () => ENTRY], prev_kv: [3, () => ENTRY] }
const WATCHED: MessageFields = {
  header: [1, () => HEADER],
  created: [3, 'flag'],
  canceled: [4, 'flag'],
  compact_revision: [5, 'whole'],
  cancel_reason: [6, 'text'],
  fragment: [7, 'flag'],
  events: [11, () => EVENT, 'list'],
}

/** How a `Compare` of a transaction says what it compares. */
export const COMPARES = { equal: 0, greater: 1 } as const
export const TARGETS = { version: 0, create: 1, mod: 2 } as const

/** One call of etcd: where it is, and how what is sent and answered is written. */
export interface EtcdMethod<Answer> {
  readonly path: string
  readonly encode: (request: object) => Buffer
  readonly decode: (bytes: Buffer) => Answer
}

const method = <Answer>(path: string, request: MessageFields, answer: MessageFields): EtcdMethod<Answer> => ({
  path: `/etcdserverpb.${path}`,
  encode: (given) => encodeMessage(given as Readonly<Record<string, unknown>>, request),
  decode: (bytes) => decodeMessage<Answer>(bytes, answer),
})

export const ETCD = {
  range: method<RangeAnswer>('KV/Range', RANGE, RANGED),
  txn: method<TxnAnswer>('KV/Txn', TXN, TXN_DONE),
  compact: method<object>('KV/Compact', COMPACT, NOTHING),
  watch: method<WatchAnswer>('Watch/Watch', WATCH, WATCHED),
  status: method<StatusAnswer>('Maintenance/Status', NOTHING, { version: [2, 'text'] }),
  alarms: method<AlarmAnswer>('Maintenance/Alarm', { action: [1, 'whole'] }, { alarms: [2, () => NOTHING, 'list'] }),
  authenticate: method<AuthenticateAnswer>('Auth/Authenticate', { name: [1, 'text'], password: [2, 'text'] }, { token: [2, 'text'] }),
} as const
