import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import type { ClientCa } from './client-ca.ts'
import { canonicalName, indexOfName, namesIn, nameTable } from './names.ts'
import { type Pair, reasonOf, tlsError } from './pair.ts'
import type { OwnPair } from './settings.ts'

export interface NamedPair extends Pair {
  /** Undefined: those in the certificate. */
  readonly names: readonly string[] | undefined
}

/** What one configuration serves; it is made as a whole, and replaced as a whole. */
export interface Served {
  /** The pair for all names that no other is for; without it the first of the others is. */
  readonly serving: Pair | undefined
  readonly sni: readonly NamedPair[]
  /** Undefined: clients are asked for no certificate. */
  readonly clientCa: ClientCa | undefined
}

/**
 * The contexts of one configuration, and which of them a handshake gets.
 * @throws QuiesceError ERR_TLS when OpenSSL refuses one
 */
export class SecureContexts {
  readonly options: SecureContextOptions
  readonly #pairs: readonly Pair[]
  readonly #contexts: readonly SecureContext[]
  readonly #table: ReadonlyMap<string, number>
  /** How many of the pairs are no SNI pairs: places in the table count from there. */
  readonly #first: number
  readonly #own: { readonly name: string; readonly context: SecureContext } | undefined

  /**
   * @param shared what all of them have: versions, ciphers, client CA
   * @param own for the server's own client
   */
  constructor({ serving, sni }: Served, shared: SecureContextOptions, own?: OwnPair) {
    this.#pairs = [...(serving ? [serving] : []), ...sni]
    this.#first = serving ? 1 : 0
    this.#contexts = this.#pairs.map((pair) => contextOf(pair, shared))
    this.#table = nameTable(sni.map(({ names, leaf }) => ({ names, inCertificate: namesIn(leaf) })))
    this.options = optionsOf(this.#pairs[0] as Pair, shared)
    this.#own = own && { name: own.name, context: createSecureContext({ ...shared, cert: own.cert, key: own.key }) }
  }

  /** The context for a client that asks for a name. */
  forName(name: string): SecureContext {
    if (name === this.#own?.name) return this.#own.context
    const place = indexOfName(this.#table, name)
    return this.#at(place === undefined ? this.#firstValidFor(name) : place + this.#first)
  }

  /** The context for a client that asks for no name, by the address that it has connected to. */
  forAddress(address: string): SecureContext {
    const place = this.#table.get(canonicalName(address))
    return this.#at(place === undefined ? 0 : place + this.#first)
  }

  #firstValidFor(name: string): number {
    return Math.max(
      0,
      this.#pairs.findIndex(({ leaf }) => leaf.checkHost(name, { subject: 'never' }) !== undefined),
    )
  }

  #at(place: number): SecureContext {
    return this.#contexts[place] as SecureContext
  }
}

const optionsOf = ({ cert, key, passphrase }: Pair, shared: SecureContextOptions): SecureContextOptions => ({
  ...shared,
  cert: cert.text,
  key: key.text,
  ...(passphrase !== undefined && { passphrase }),
})

function contextOf(pair: Pair, shared: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(optionsOf(pair, shared))
  } catch (thrown) {
    // A key that is too short, or a signature that is too weak, of a pair that matches.
    throw tlsError(pair.cert.from, `cannot be served (${reasonOf(thrown)})`, thrown)
  }
}
