import {
  type Clock,
  checkArguments,
  checkFields,
  type Duration,
  optionError,
  parseDuration,
  systemClock,
  withOptions,
} from '../../engine.ts'
import type { StoreEngine } from '../key-value-store.ts'
import { EtcdClient, type EtcdTls, loadGrpc } from './etcd-client.ts'
import { ETCD } from './etcd-messages.ts'
import { EtcdStore } from './etcd-store.ts'
import { lostError } from './etcd-watch.ts'

export interface EtcdEngineOptions {
  /** Default: connections are not encrypted. */
  readonly tls?: EtcdTls
  readonly user?: string
  readonly password?: string
  /** How long an answer is waited for. Default 5 s. */
  readonly timeout?: Duration
  /**
   * Time between two compactions, of one of all servers; 0: none by this server. Default 5 minutes.
   */
  readonly compactionInterval?: Duration
  /** Time between two looks whether etcd answers. Default 2 s. */
  readonly healthInterval?: Duration
  /** Default: that of the process. */
  readonly clock?: Clock
}

const TLS_FIELDS: readonly (keyof EtcdTls)[] = ['caFile', 'certFile', 'keyFile']

const PORT = 2379
const URL_ALLOWED = 'etcd://HOST:PORT,HOST:PORT/PREFIX; user and password are options of their own'

/**
 * The versions from which on progress comes behind the events that it is about.
 * @see kubernetes/apiserver pkg/storage/feature/feature_support_checker.go, which names the issues
 * of etcd: 15220, 17507
 */
const ORDERED_PROGRESS = [
  [3, 4, 31],
  [3, 5, 13],
  [3, 6, 0],
] as const

/**
 * Keeps everything in an etcd, which several servers may share: below one prefix, with one of the
 * members asked, and the next when that cannot be reached. It needs the package `@grpc/grpc-js`.
 * @param url `etcd://10.0.0.1:2379,10.0.0.2/shop`: the port is 2379 where it is left out, and keys
 * have no prefix without one
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * const store = createStore(etcdEngine('etcd://127.0.0.1:2379/shop'))
 */
export function etcdEngine(url: string, options: EtcdEngineOptions = {}): StoreEngine {
  checkArguments(
    'etcdEngine(url, options?)',
    [url, 'a text'],
    [options, withOptions<EtcdEngineOptions>('tls', 'user', 'password', 'timeout', 'compactionInterval', 'healthInterval', 'clock')],
  )
  const { endpoints, prefix } = readUrl(url)
  const { tls, user, password, timeout = '5s', compactionInterval = '5m', healthInterval = '2s', clock = systemClock } = options
  const of = 'of etcdEngine()'
  const timeoutMs = parseDuration(`timeout ${of}`, timeout)
  const compactionMs = parseDuration(`compactionInterval ${of}`, compactionInterval)
  const healthMs = parseDuration(`healthInterval ${of}`, healthInterval)
  if (timeoutMs === 0) throw optionError(`timeout ${of}`, timeout, 'more than 0')
  if (healthMs === 0) throw optionError(`healthInterval ${of}`, healthInterval, 'more than 0')
  if ((user === undefined) !== (password === undefined)) throw optionError(`user ${of}`, user, 'a name and a password, or neither')
  if (tls !== undefined) checkFields('tls of etcdEngine()', tls, TLS_FIELDS)
  if ((tls?.certFile === undefined) !== (tls?.keyFile === undefined))
    throw optionError(`tls ${of}`, tls, 'certFile and keyFile, or neither')
  const name = `etcd://${endpoints.join(',')}${prefix}`
  return {
    name,
    check: 'etcd',
    open: async (context) => {
      const client = new EtcdClient(await loadGrpc(), { endpoints, tls, user, password, timeoutMs, clock })
      try {
        const { version = '' } = await client.call(ETCD.status, {})
        return new EtcdStore({ name, client, prefix, clock, compactionMs, healthMs, hasProgress: ordersProgress(version), ...context })
      } catch (thrown) {
        client.close()
        throw lostError(name, thrown)
      }
    },
  }
}

function readUrl(url: string): { readonly endpoints: readonly string[]; readonly prefix: string } {
  const [, hosts = '', path = ''] = /^etcd:\/\/([^/@?#]+)(\/[\x21-\x7e]*)?$/.exec(url) ?? []
  const endpoints = hosts.split(',').map((host) => (/:\d+$/.test(host) ? host : `${host}:${PORT}`))
  if (endpoints.some((endpoint) => !/^(?:\[[\da-fA-F:.]+\]|[\w.-]+):\d{1,5}$/.test(endpoint)))
    throw optionError('url of etcdEngine()', url, URL_ALLOWED)
  return { endpoints, prefix: path.endsWith('/') ? path.slice(0, -1) : path }
}

export function ordersProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  const line = ORDERED_PROGRESS.find(([first, second]) => first === major && second === minor)
  return line === undefined ? major > 3 || (major === 3 && minor > 5) : patch >= line[2]
}
