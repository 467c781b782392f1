/** Where the two halves of a pair come from: texts, or files. */
export interface PairSettings {
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
  readonly passphrase: string | undefined
}

export interface SniSettings extends PairSettings {
  /** Undefined: those in the certificate. */
  readonly names: readonly string[] | undefined
}

/**
 * The pair by which a server is known to its own client, beside all that it was given: chosen for
 * its name before all others, and taken of a client where clients have to show one.
 */
export interface OwnPair {
  readonly name: string
  readonly cert: string
  readonly key: string
}

/** What a listener is told about its certificates, and about those of its clients. */
export interface TlsSettings extends PairSettings {
  /** A pair is made at the start. */
  readonly selfSigned: boolean
  readonly sni: readonly SniSettings[]
  readonly clientCa: string | undefined
  readonly clientCaFile: string | undefined
  /** Who turns clients away that have no certificate of that CA: node, or the application. */
  readonly clientCertificates: 'require' | 'request'
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** The start does not fail for files that cannot be used yet; handshakes do. */
  readonly waitForFiles: boolean
  /** How long before its end a certificate is warned about. Undefined: {@link warningMs}. */
  readonly expiryWarningMs: number | undefined
  /** How long before its end readiness fails. Undefined: never. */
  readonly expiryUnreadyMs: number | undefined
}
