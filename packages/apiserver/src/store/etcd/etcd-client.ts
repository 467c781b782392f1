import { readFileSync } from 'node:fs'
import type { ChannelCredentials, Client, ClientDuplexStream, Metadata, ServiceError } from '@grpc/grpc-js'
import { type Clock, QuiesceError } from '../../engine.ts'
import { EtcdHistory } from './etcd-history.ts'
import { ETCD, type EtcdHeader, type EtcdMethod, type WatchAnswer } from './etcd-messages.ts'

type Grpc = typeof import('@grpc/grpc-js')

/** Certificates for a connection to etcd, each a file. */
export interface EtcdTls {
  /** The file of the CA that has signed the servers' certificates. Default: those of the system. */
  readonly caFile?: string
  /** The certificate of this client, where the servers ask for one; both or none. */
  readonly certFile?: string
  readonly keyFile?: string
}

export interface EtcdClientParts {
  /** `HOST:PORT` of each member that can be asked. */
  readonly endpoints: readonly string[]
  readonly tls: EtcdTls | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  readonly timeoutMs: number
  readonly clock: Clock
}

/** @see kubernetes/apiserver pkg/storage/storagebackend/factory/etcd3.go keepaliveTime */
const KEEPALIVE = { 'grpc.keepalive_time_ms': 30_000, 'grpc.keepalive_timeout_ms': 10_000 }
/** A member that is started again is there for the next call but one. */
const RECONNECT = {
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.min_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 2_000,
}
const SIZES = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 }

/** Calls whose answers are as new as all that was answered before. */
const LINEARIZABLE: ReadonlySet<unknown> = new Set([ETCD.range, ETCD.txn])

const UNAVAILABLE = 14
const UNAUTHENTICATED = 16
const INVALID_ARGUMENT = 3

/** @throws QuiesceError ERR_DEPENDENCY_MISSING */
export async function loadGrpc(): Promise<Grpc> {
  try {
    return await import('@grpc/grpc-js')
  } catch (error) {
    throw new QuiesceError(
      'ERR_DEPENDENCY_MISSING',
      'a storage in etcd needs the package "@grpc/grpc-js": npm install @grpc/grpc-js',
      { package: '@grpc/grpc-js' },
      error,
    )
  }
}

/**
 * Asks the members of an etcd: one of them, and the next when that cannot be reached. What was
 * certainly not sent is sent to the next; what may have been is for the caller to decide about.
 */
export class EtcdClient {
  readonly history = new EtcdHistory()
  readonly #grpc: Grpc
  readonly #parts: EtcdClientParts
  readonly #members: readonly Client[]
  #at = 0
  #token: string | undefined

  constructor(grpc: Grpc, parts: EtcdClientParts) {
    this.#grpc = grpc
    this.#parts = parts
    const credentials = this.#credentials()
    this.#members = parts.endpoints.map((endpoint) => new grpc.Client(endpoint, credentials, { ...KEEPALIVE, ...RECONNECT, ...SIZES }))
  }

  /** Time in milliseconds that a call has. */
  get timeoutMs(): number {
    return this.#parts.timeoutMs
  }

  /**
   * @param isRepeatable whether it may be asked of the next member when it is not known what has
   * become of it: of what changes nothing
   * @throws ServiceError of gRPC, HistoryLost
   */
  async call<Answer>(
    method: EtcdMethod<Answer>,
    request: object,
    { timeoutMs = this.#parts.timeoutMs, isRepeatable = true }: { readonly timeoutMs?: number; readonly isRepeatable?: boolean } = {},
  ): Promise<Answer> {
    for (let tried = 1; ; tried++) {
      const member = this.#at
      const check = LINEARIZABLE.has(method) ? this.history.sent() : undefined
      try {
        const answer = await this.#authenticated((metadata) =>
          this.#once(this.#members[member] as Client, method, request, metadata, timeoutMs),
        )
        check?.((answer as { readonly header?: EtcdHeader }).header)
        return answer
      } catch (thrown) {
        // Others may have gone on meanwhile.
        if (isLost(thrown) && this.#at === member) this.#at = (member + 1) % this.#members.length
        if (tried >= this.#members.length || !(isUnsent(thrown) || (isRepeatable && isLost(thrown)))) throw thrown
      }
    }
  }

  /**
   * A stream of watches, to the member that answers. What is thrown is no different from a stream
   * that ends.
   */
  async watch(): Promise<ClientDuplexStream<object, WatchAnswer>> {
    const metadata = await this.#metadata()
    // A member without a leader ends it, rather than keeping it and being silent.
    metadata.set('hasleader', 'true')
    const { path, encode, decode } = ETCD.watch
    return (this.#members[this.#at] as Client).makeBidiStreamRequest(path, encode, decode, metadata, {})
  }

  /** The member that is asked cannot be reached: the next one may. */
  next(): void {
    this.#at = (this.#at + 1) % this.#members.length
  }

  close(): void {
    for (const member of this.#members) member.close()
  }

  #credentials(): ChannelCredentials {
    const { tls } = this.#parts
    if (tls === undefined) return this.#grpc.credentials.createInsecure()
    const read = (file: string | undefined): Buffer | null => (file === undefined ? null : readFileSync(file))
    return this.#grpc.credentials.createSsl(read(tls.caFile), read(tls.keyFile), read(tls.certFile))
  }

  async #metadata(): Promise<Metadata> {
    const { user, password } = this.#parts
    const metadata = new this.#grpc.Metadata()
    if (user === undefined) return metadata
    if (this.#token === undefined) {
      const { timeoutMs } = this.#parts
      const asked = { name: user, password: password ?? '' }
      const member = this.#members[this.#at] as Client
      this.#token = (await this.#once(member, ETCD.authenticate, asked, new this.#grpc.Metadata(), timeoutMs)).token
    }
    metadata.set('token', this.#token ?? '')
    return metadata
  }

  /** A token that has expired is asked for again, once. */
  async #authenticated<R>(ask: (metadata: Metadata) => Promise<R>): Promise<R> {
    try {
      return await ask(await this.#metadata())
    } catch (thrown) {
      if (this.#token === undefined || !isTokenInvalid(thrown)) throw thrown
      this.#token = undefined
      return ask(await this.#metadata())
    }
  }

  #once<Answer>(member: Client, { path, encode, decode }: EtcdMethod<Answer>, request: object, metadata: Metadata, timeoutMs: number) {
    const deadline = this.#parts.clock.wall() + timeoutMs
    return new Promise<Answer>((resolve, reject) => {
      member.makeUnaryRequest(path, encode, decode, request, metadata, { deadline }, (error, answer) => {
        if (error) reject(error)
        else resolve(answer as Answer)
      })
    })
  }
}

const codeOf = (thrown: unknown): number | undefined => (thrown as Partial<ServiceError> | null)?.code
export const detailsOf = (thrown: unknown): string => {
  const { details, message } = thrown as Partial<ServiceError>
  return details ?? message ?? String(thrown)
}

/** No answer came: the member is gone, stands still, or has no leader. */
export const isLost = (thrown: unknown): boolean => [1, 4, UNAVAILABLE].includes(codeOf(thrown) ?? -1)

/**
 * Whether a request was never on its way: there was no connection, or the member has said that it
 * is not served.
 */
export const isUnsent = (thrown: unknown): boolean =>
  codeOf(thrown) === UNAVAILABLE && /^(No connection established|Name resolution failed|etcdserver: no leader)/.test(detailsOf(thrown))

/** The codes with which etcd refuses a request. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([INVALID_ARGUMENT, 5, 7, 8, 9, 11, UNAUTHENTICATED])

/**
 * Whether etcd has refused a request. Whatever else ends a call, an answer that cannot be read as
 * well, leaves open what has become of it.
 */
export const isRefused = (thrown: unknown): boolean => REFUSALS.has(codeOf(thrown)) && detailsOf(thrown).startsWith('etcdserver: ')

const isTokenInvalid = (thrown: unknown): boolean =>
  codeOf(thrown) === UNAUTHENTICATED || (codeOf(thrown) === INVALID_ARGUMENT && detailsOf(thrown).includes('auth'))
