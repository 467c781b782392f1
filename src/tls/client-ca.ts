import type { X509Certificate } from 'node:crypto'
import { certificatesIn, type Sourced } from './pair.ts'

/** The certificates that clients' certificates have to lead to. */
export interface ClientCa {
  readonly bundle: Sourced
  /** The certificates in the bundle. */
  readonly certificates: readonly X509Certificate[]
  /** Whether all of them lead to roots that are among them. */
  readonly hasAllRoots: boolean
}

/** A CA without a certificate yet: none leads to it. */
export const NO_CLIENT_CA: ClientCa = { bundle: { from: 'nowhere', text: '' }, certificates: [], hasAllRoots: true }

/** Several as one; undefined for none. */
export function unitedCa(all: readonly ClientCa[]): ClientCa | undefined {
  const [only, ...others] = all
  if (only === undefined || others.length === 0) return only
  return {
    bundle: { from: all.map(({ bundle }) => bundle.from).join(', '), text: all.map(({ bundle }) => bundle.text).join('\n') },
    certificates: all.flatMap(({ certificates }) => certificates),
    hasAllRoots: all.every(({ hasAllRoots }) => hasAllRoots),
  }
}

/**
 * @throws QuiesceError ERR_TLS for a bundle that is empty or cannot be read: without any, every
 * certificate that the system trusts would do
 */
export function checkClientCa(bundle: Sourced): ClientCa {
  const all = certificatesIn(bundle)
  return { bundle, certificates: all, hasAllRoots: rootedIn(all).length === all.length }
}

function rootedIn(all: readonly X509Certificate[]): readonly X509Certificate[] {
  let rooted = all.filter((one) => one.checkIssued(one))
  for (;;) {
    const more = all.filter((one) => !rooted.includes(one) && rooted.some((issuer) => one.checkIssued(issuer)))
    if (more.length === 0) return rooted
    rooted = [...rooted, ...more]
  }
}
