import { certificatesIn, type Sourced } from './pair.ts'

/** The certificates that clients' certificates have to lead to. */
export interface ClientCa {
  readonly bundle: Sourced
}

/**
 * @throws QuiesceError ERR_TLS for a bundle that is empty or cannot be read: without any, every
 * certificate that the system trusts would do
 */
export function checkClientCa(bundle: Sourced): ClientCa {
  certificatesIn(bundle)
  return { bundle }
}
