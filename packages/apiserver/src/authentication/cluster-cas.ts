import { type ClientCa, checkClientCa, isRecord, NO_CLIENT_CA, Provider, tlsError, toError } from '../engine.ts'
import { isTaken, type RemoteAnswer, RemoteClient } from '../webhook/client.ts'
import { remoteOf } from '../webhook/options.ts'
import { statusFailureIn } from '../webhook/review.ts'
import type { AuthenticatorWorld } from './authenticator.ts'
import { type FrontProxy, headersOf } from './front-proxy.ts'
import type { ResolvedTokenWebhook } from './webhook-options.ts'

/** Where a kube-apiserver says how its clients, and its proxy, are known. */
const NAME = 'configmap/extension-apiserver-authentication in kube-system'
const PATH = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
const TIMEOUT_MS = 10_000
/** What was read so recently serves the next reader, too: each listener reads by itself. */
const SHARED_MS = 1_000

type Data = Readonly<Record<string, string>>
const EMPTY: Data = {}

/**
 * The client CA and the front proxy of a kube-apiserver, read at the start and about once a minute.
 * One that cannot be read any more leaves what there was.
 * @see kubernetes/apiserver pkg/server/options/authentication_dynamic_request_header.go
 */
export class ClusterCas {
  readonly clientCa: Provider<ClientCa>
  readonly frontProxyCa: Provider<ClientCa>
  readonly frontProxy: FrontProxy
  readonly #client: RemoteClient
  readonly #isTolerant: boolean
  #world: AuthenticatorWorld | undefined
  #reading: { readonly at: number; readonly data: Promise<Data> } | undefined
  #hasRead = false
  #names = namesIn(EMPTY)

  constructor(webhook: ResolvedTokenWebhook) {
    this.#client = new RemoteClient(remoteOf(webhook), TIMEOUT_MS, PATH)
    this.#isTolerant = webhook.tolerateLookupFailure
    this.clientCa = this.#providerOf('client-ca-file')
    this.frontProxyCa = this.#providerOf('requestheader-client-ca-file')
    this.frontProxy = {
      ca: () => this.frontProxyCa.current,
      headers: () => this.#names.headers,
      allowedNames: () => this.#names.allowedNames,
    }
  }

  /** @throws QuiesceError ERR_OPTION_INVALID for files of no use */
  async open(world: AuthenticatorWorld): Promise<void> {
    await this.#client.open(world.clock)
    this.#world = world
  }

  close(): void {
    this.#client.close()
  }

  #providerOf(key: string): Provider<ClientCa> {
    const from = `${NAME}, ${key}`
    return new Provider({
      what: 'client CA',
      from,
      files: [],
      read: async () => [{ from, text: (await this.#read())[key] ?? '' }],
      check: ([bundle]) => (bundle === undefined || bundle.text === '' ? NO_CLIENT_CA : checkClientCa(bundle)),
    })
  }

  #read(): Promise<Data> {
    const at = this.#world?.clock.now() ?? 0
    if (this.#reading === undefined || at - this.#reading.at >= SHARED_MS) this.#reading = { at, data: this.#readNow() }
    return this.#reading.data
  }

  async #readNow(): Promise<Data> {
    try {
      const data = await this.#ask()
      this.#names = namesIn(data)
      return data
    } catch (thrown) {
      const error = tlsError(NAME, `cannot be read (${toError(thrown).message})`, thrown)
      if (this.#hasRead || !this.#isTolerant) throw error
      this.#world?.warn(`${error.message}; the server starts without it, and knows no client by its certificate until it can be read`)
      return EMPTY
    } finally {
      this.#hasRead = true
    }
  }

  async #ask(): Promise<Data> {
    const { clock } = this.#world as AuthenticatorWorld
    const late = new AbortController()
    const timer = clock.setTimeout(() => late.abort(new Error(`no answer within ${TIMEOUT_MS / 1_000}s`)), TIMEOUT_MS)
    try {
      return dataIn(await this.#client.get(late.signal))
    } finally {
      clock.clearTimeout(timer)
    }
  }
}

const HINT = '; a RoleBinding to the Role extension-apiserver-authentication-reader in kube-system allows it'

/** @throws Error for what is no ConfigMap; one that is not there has nothing in it */
function dataIn({ status, body = '' }: RemoteAnswer): Data {
  if (status === 404) return EMPTY
  if (!isTaken(status)) throw new Error(`${status}: ${statusFailureIn(body)?.message ?? 'no reason given'}${status === 403 ? HINT : ''}`)
  const map: unknown = JSON.parse(body)
  const data = isRecord(map) ? (map['data'] ?? EMPTY) : undefined
  if (isRecord(data) && Object.values(data).every((each) => typeof each === 'string')) return data as Data
  throw new Error('its data has values that are not text')
}

/** @throws Error for what is no list of texts */
function namesIn(data: Data) {
  const list = (key: string): readonly string[] => {
    const parsed: unknown = data[key] ? JSON.parse(data[key]) : []
    if (parsed === null) return []
    if (Array.isArray(parsed) && parsed.every((each) => typeof each === 'string')) return parsed
    throw new Error(`${key} is not a JSON list of names`)
  }
  const given = {
    usernameHeaders: list('requestheader-username-headers'),
    uidHeaders: list('requestheader-uid-headers'),
    groupHeaders: list('requestheader-group-headers'),
    extraHeaderPrefixes: list('requestheader-extra-headers-prefix'),
  }
  return { headers: headersOf(given), allowedNames: list('requestheader-allowed-names') }
}
