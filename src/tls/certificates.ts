import { isIP, type Server, type Socket } from 'node:net'
import type { SecureContextOptions, TlsOptions, Server as TlsServer } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import { QuiesceError, toError } from '../base/errors.ts'
import { errorRecord, type LifecycleFact } from '../base/events.ts'
import { setSharedContext, trustPartialChains } from '../base/node-internals.ts'
import { type ClientCa, unitedCa } from './client-ca.ts'
import { type FurtherCas, setClientCa } from './client-trust.ts'
import { sameContent } from './content.ts'
import { SecureContexts, type Served } from './contexts.ts'
import { type CertificateValidity, expiryOf, validityOf, warningMs } from './expiry.ts'
import type { Pair } from './pair.ts'
import type { Provider } from './provider.ts'
import { type Providers, providersOf } from './providers.ts'
import { Reloader } from './reloader.ts'
import { selfSigned } from './self-signed.ts'
import type { OwnPair, TlsSettings } from './settings.ts'

export interface CertificatesWorld {
  readonly clock: Clock
  readonly record: (fact: LifecycleFact) => void
  /** The certificate of the server's own client; undefined: it has none. */
  readonly own?: OwnPair | undefined
  /** Undefined: the handshake decides what a client's certificate leads to. */
  readonly furtherCas?: FurtherCas | undefined
}

/** What a pair that may be replaced has been through. */
export interface PairValidity extends CertificateValidity {
  readonly loads: number
  readonly failures: number
}

const NOT_READY = 'certificates: configuration not ready'

/**
 * The certificates of one server: read, checked, replaced when their files change, and chosen for
 * each handshake. A connection keeps what it got.
 * @see kubernetes/apiserver pkg/server/dynamiccertificates/tlsconfig.go
 */
export class Certificates {
  readonly #settings: TlsSettings
  readonly #given: SecureContextOptions
  readonly #world: CertificatesWorld
  readonly #providers: Providers
  readonly #all: readonly Provider<object>[]
  /** The CA of its clients themselves. */
  readonly #clientCa: Provider<ClientCa> | undefined
  /** The CAs that the certificate of a client may lead to. */
  readonly #cas: readonly Provider<ClientCa>[]
  readonly #reloader: Reloader
  /** What is served, and its contexts: replaced together. */
  #served: { readonly content: Served; readonly contexts: SecureContexts } | undefined
  #server: TlsServer | undefined
  #handshakeErrors = 0
  /** What was warned about, by certificate. */
  readonly #warned = new Map<string, string>()

  private constructor(settings: TlsSettings, given: SecureContextOptions, names: readonly [string, ...string[]], world: CertificatesWorld) {
    this.#settings = settings
    this.#given = given
    this.#world = world
    this.#providers = providersOf(settings, settings.selfSigned ? selfSigned(names, world.clock.wall()) : undefined)
    const { serving, sni, clientCa } = this.#providers
    const { client, frontProxy } = world.furtherCas ?? {}
    this.#clientCa = clientCa ?? client
    this.#cas = [this.#clientCa, frontProxy].filter((ca) => ca !== undefined)
    this.#all = [...this.#cas, ...(serving ? [serving] : []), ...sni.map(({ pair }) => pair)]
    this.#reloader = new Reloader({
      clock: world.clock,
      files: this.#all.flatMap(({ files }) => files),
      refresh: () => this.#refresh(),
      failed: (error) => world.record({ type: 'error', where: 'certificates', error: errorRecord(error) }),
      tick: () => this.#warnOfExpiry(),
    })
  }

  /**
   * Reads and checks all of them.
   * @param given what the server has beside its certificates: ciphers, curves
   * @param names of a self-signed one
   * @throws QuiesceError ERR_TLS for the first that cannot be served, unless files are waited for
   */
  static async open(
    settings: TlsSettings,
    given: SecureContextOptions,
    names: readonly [string, ...string[]],
    world: CertificatesWorld,
  ): Promise<Certificates> {
    const certificates = new Certificates(settings, given, names, world)
    const [failure] = await certificates.#refresh()
    if (failure && !settings.waitForFiles) throw failure
    certificates.#warnOfExpiry()
    return certificates
  }

  /** What its server is created with. */
  get options(): TlsOptions {
    const { clientCertificates } = this.#settings
    return {
      ...this.#contextOptions,
      // Named also where there is none, so that none of `serverOptions` ever takes its place.
      SNICallback: this.#hasChoice ? this.#choose : undefined,
      ...(this.#cas.length > 0 && { requestCert: true, rejectUnauthorized: clientCertificates === 'require' }),
    }
  }

  /** Takes the server that was created with {@link options}. Call it before the server listens. */
  serve(server: Server): void {
    this.#server = server as TlsServer
    server.on('tlsClientError', () => this.#handshakeErrors++)
    this.#trustWithoutRoots(this.#served?.content.clientCa)
    if (this.#world.furtherCas) server.on('secureConnection', (socket: object) => setClientCa(socket, () => this.#clientCa?.current))
    if (!this.#providers.sni.some(({ names = [] }) => names.some((name) => isIP(name) > 0))) return
    // Before node's own listener, which takes what is there for a client that asks for no name: no
    // public way leads there (docs/decisions/0030-certificates.md).
    server.prependListener('connection', ({ localAddress = '' }: Socket) => {
      if (this.#served) setSharedContext(server, this.#served.contexts.forAddress(localAddress))
    })
  }

  /** Watches the files, when the server listens: what changes is served from now on. */
  watch(): void {
    this.#reloader.begin()
  }

  /** Nothing is read any more; what is served stays. A second call does nothing. */
  close(): void {
    this.#reloader.close()
  }

  /** Handshakes that have failed. */
  get handshakeErrors(): number {
    return this.#handshakeErrors
  }

  /** How each pair stands that was loaded. */
  get validities(): readonly PairValidity[] {
    return this.#pairs.flatMap((provider) => {
      const { current, loads, failures } = provider
      return current ? [{ ...validityOf(current), loads, failures }] : []
    })
  }

  /** Why no traffic should come; undefined when it may. */
  get whyNotReady(): string | undefined {
    if (!this.#served) return NOT_READY
    const { expiryUnreadyMs: withinMs } = this.#settings
    if (withinMs === undefined) return undefined
    return this.validities.map((validity) => expiryOf(validity, this.#world.clock.wall(), withinMs)).find((why) => why !== undefined)
  }

  /**
   * Whether a handshake may need another certificate than the server's, or there is none yet. To
   * ask in the middle of a handshake makes node take it up again in a later step.
   */
  get #hasChoice(): boolean {
    return this.#providers.sni.length > 0 || this.#world.own !== undefined || !this.#served
  }

  readonly #choose: TlsOptions['SNICallback'] = (name, choose) => {
    if (this.#served) choose(null, this.#served.contexts.forName(name))
    else choose(new Error(NOT_READY))
  }

  get #pairs(): readonly Provider<Pair>[] {
    const { serving, sni } = this.#providers
    return [...(serving ? [serving] : []), ...sni.map(({ pair }) => pair)]
  }

  get #contextOptions(): SecureContextOptions {
    return this.#served?.contexts.options ?? this.#shared(undefined)
  }

  /**
   * What is in the bundle is trusted, also where it is no root: OpenSSL asks for one by itself. It
   * is told so only where a root is not there: a chain that the server sends, and has to complete
   * from the bundle, ends earlier then.
   */
  #shared(clientCa: ClientCa | undefined): SecureContextOptions {
    // Without a list node trusts what the system does.
    const trusted = clientCa && { ca: this.#withOwn(clientCa.bundle.text), allowPartialTrustChain: !clientCa.hasAllRoots }
    return { ...this.#given, minVersion: this.#settings.minVersion, ...trusted }
  }

  /**
   * Sets the trust for clients that ask for no name: node's TLS server drops the option from the
   * context that it makes for them (docs/decisions/0030-certificates.md).
   */
  #trustWithoutRoots(clientCa: ClientCa | undefined): void {
    if (clientCa?.hasAllRoots === false && this.#server) trustPartialChains(this.#server)
  }

  /** Where every client has to have a certificate, its own client has one, too. */
  #withOwn(clientCa: string): string[] {
    const { own } = this.#world
    const given = clientCa.trim() === '' ? [] : [clientCa]
    return own && this.#settings.clientCertificates === 'require' ? [...given, own.cert] : given
  }

  /** One error for each that cannot be used. */
  async #refresh(): Promise<readonly QuiesceError[]> {
    const errors: QuiesceError[] = []
    const changed: Provider<object>[] = []
    for (const provider of this.#all) {
      try {
        if (await provider.refresh()) changed.push(provider)
      } catch (thrown) {
        errors.push(codedOf(thrown))
      }
    }
    try {
      this.#swap(changed)
    } catch (thrown) {
      errors.push(codedOf(thrown))
    }
    return errors
  }

  /** Serves what there is now, unless it is what is served. */
  #swap(changed: readonly Provider<object>[]): void {
    const content = this.#content()
    if (!content || (this.#served && sameContent(content, this.#served.content))) return
    const contexts = new SecureContexts(content, this.#shared(content.clientCa), this.#world.own)
    const isReload = this.#server !== undefined
    this.#server?.setSecureContext(contexts.options)
    this.#trustWithoutRoots(content.clientCa)
    this.#served = { content, contexts }
    if (!isReload) return
    for (const { what, from } of changed) this.#world.record({ type: 'certificate', what, from })
    this.#warnOfExpiry()
  }

  /** Undefined as long as something was never loaded. */
  #content(): Served | undefined {
    const { serving, sni } = this.#providers
    if (this.#all.some(({ current }) => current === undefined)) return undefined
    return {
      serving: serving?.current,
      sni: sni.map(({ names, pair }) => ({ ...(pair.current as Pair), names })),
      clientCa: unitedCa(this.#cas.map(({ current }) => current as ClientCa)),
    }
  }

  /** Each certificate once for what is to be said of it. */
  #warnOfExpiry(): void {
    const { clock, record } = this.#world
    for (const provider of this.#pairs) {
      const { current } = provider
      if (!current) continue
      const validity = validityOf(current)
      const wall = clock.wall()
      const message = expiryOf(validity, wall, this.#settings.expiryWarningMs ?? warningMs(validity))
      // The days that are left are no news.
      const news = message && `${current.leaf.fingerprint256} ${wall >= validity.notAfter ? 'expired' : 'expires'}`
      if (message === undefined || this.#warned.get(validity.from) === news) continue
      this.#warned.set(validity.from, news as string)
      record({ type: 'warning', message, details: { notAfter: new Date(validity.notAfter).toISOString() } })
    }
  }
}

const codedOf = (thrown: unknown): QuiesceError =>
  thrown instanceof QuiesceError ? thrown : new QuiesceError('ERR_INTERNAL', toError(thrown).message, {}, thrown)
