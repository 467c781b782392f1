import type { X509Certificate } from 'node:crypto'
import { certificatesIn, type Sourced } from './pair.ts'

/** The certificates that clients' certificates have to lead to. */
export interface ClientCa {
  readonly bundle: Sourced
  /** Whether all of them lead to roots that are among them. */
  readonly hasAllRoots: boolean
}

/**
 * @throws QuiesceError ERR_TLS for a bundle that is empty or cannot be read: without any, every
 * certificate that the system trusts would do
 */
export function checkClientCa(bundle: Sourced): ClientCa {
  const all = certificatesIn(bundle)
  return { bundle, hasAllRoots: rootedIn(all).length === all.length }
}

function rootedIn(all: readonly X509Certificate[]): readonly X509Certificate[] {
  let rooted = all.filter((one) => one.checkIssued(one))
  for (;;) {
    const more = all.filter((one) => !rooted.includes(one) && rooted.some((issuer) => one.checkIssued(issuer)))
    if (more.length === 0) return rooted
    rooted = [...rooted, ...more]
  }
}
