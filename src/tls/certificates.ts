import { isIP, type Server, type Socket } from 'node:net'
import type { SecureContext, SecureContextOptions, TlsOptions } from 'node:tls'
import { Contexts, type NamedPair } from './contexts.ts'
import { checkPair, type Pair } from './pair.ts'
import { type PairSource, readPair } from './read-source.ts'

/** What a listener is told about its certificates. */
export interface TlsSettings extends PairSource {
  readonly sni: readonly SniSettings[]
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
}

interface SniSettings extends PairSource {
  /** Undefined: those in the certificate. */
  readonly names: readonly string[] | undefined
}

/** The certificates of one server: read, checked, and chosen for each handshake. */
export class Certificates {
  #contexts: Contexts
  /** Whether one is chosen by the address that a client has connected to. */
  readonly #hasAddresses: boolean

  private constructor(contexts: Contexts, hasAddresses: boolean) {
    this.#contexts = contexts
    this.#hasAddresses = hasAddresses
  }

  /**
   * Reads and checks all of them.
   * @param given what the server has beside its certificates: ciphers, curves
   * @throws QuiesceError ERR_TLS for the first that cannot be served
   */
  static async load(settings: TlsSettings, given: SecureContextOptions = {}): Promise<Certificates> {
    const serving = isGiven(settings) ? await loadPair('tls', settings) : undefined
    const sni: NamedPair[] = []
    for (const [index, entry] of settings.sni.entries()) sni.push({ ...(await loadPair(`tls.sni[${index}]`, entry)), names: entry.names })
    const contexts = new Contexts({ serving, sni }, { ...given, minVersion: settings.minVersion })
    const hasAddresses = settings.sni.some(({ names = [] }) => names.some((name) => isIP(name) > 0))
    return new Certificates(contexts, hasAddresses)
  }

  /** What its server is created with. */
  get options(): TlsOptions {
    return {
      ...this.#contexts.options,
      SNICallback: (name, choose) => choose(null, this.#contexts.forName(name)),
    }
  }

  /** To be called with the server that was created with {@link options}, before it listens. */
  serve(server: Server): void {
    if (!this.#hasAddresses) return
    // Before node's own listener, which takes what is there for a client that asks for no name: no
    // public way leads there (docs/decisions/0030-certificates.md).
    server.prependListener('connection', ({ localAddress = '' }: Socket) => {
      ;(server as SharedContext)._sharedCreds = this.#contexts.forAddress(localAddress)
    })
  }
}

/** Where node's TLS server keeps the context of clients that ask for no name. */
type SharedContext = Server & { _sharedCreds?: SecureContext }

const isGiven = ({ cert, certFile }: PairSource): boolean => cert !== undefined || certFile !== undefined

const loadPair = async (option: string, source: PairSource): Promise<Pair> => checkPair(await readPair(option, source))
