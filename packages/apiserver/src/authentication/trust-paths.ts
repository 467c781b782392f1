import type { X509Certificate } from 'node:crypto'
import type { ClientCa } from '../engine.ts'

/** Longest chain from a client's certificate to one of a CA. */
const STEPS_MAX = 8
/** Certificates of intermediate CAs that are remembered. */
const KNOWN_MAX = 64

/**
 * The CA of several to which a certificate leads, where a handshake has verified only that it leads
 * to one of them. Times of validity and signatures are checked again, by the path that is found;
 * what else a certificate may be used for was checked by the handshake.
 */
export class TrustPaths {
  /**
   * Intermediate certificates of paths that were found: a session that is resumed has the client's
   * own certificate alone. The oldest first.
   */
  readonly #known = new Map<string, X509Certificate>()

  /**
   * @param leaf with the chain that its client has sent
   * @param wall milliseconds since the epoch
   */
  leadsTo(leaf: X509Certificate, ca: ClientCa, wall: number): boolean {
    const sent = chainBehind(leaf)
    const path = pathTo(leaf, [...sent, ...this.#known.values()], ca.certificates, wall, [])
    for (const intermediate of path ?? []) this.#remember(intermediate)
    return path !== undefined
  }

  #remember(intermediate: X509Certificate): void {
    this.#known.delete(intermediate.fingerprint256)
    this.#known.set(intermediate.fingerprint256, intermediate)
    if (this.#known.size <= KNOWN_MAX) return
    const [oldest] = this.#known.keys()
    this.#known.delete(oldest as string)
  }
}

function chainBehind(leaf: X509Certificate): readonly X509Certificate[] {
  const chain: X509Certificate[] = []
  for (let next = leaf.issuerCertificate; next !== undefined && chain.length < STEPS_MAX; next = next.issuerCertificate) chain.push(next)
  return chain
}

/** What stands between a certificate and one of the CA's; undefined where no path leads there. */
function pathTo(
  from: X509Certificate,
  intermediates: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  wall: number,
  path: readonly X509Certificate[],
): readonly X509Certificate[] | undefined {
  if (!isValid(from, wall)) return undefined
  if (roots.some((root) => isValid(root, wall) && (root.fingerprint256 === from.fingerprint256 || isIssuedBy(from, root)))) return path
  if (path.length === STEPS_MAX) return undefined
  for (const next of intermediates) {
    if (!next.ca || path.includes(next) || !isIssuedBy(from, next)) continue
    const found = pathTo(next, intermediates, roots, wall, [...path, next])
    if (found) return found
  }
  return undefined
}

const isIssuedBy = (one: X509Certificate, issuer: X509Certificate): boolean => one.checkIssued(issuer) && one.verify(issuer.publicKey)

const isValid = ({ validFrom, validTo }: X509Certificate, wall: number): boolean =>
  wall >= Date.parse(validFrom) && wall <= Date.parse(validTo)
