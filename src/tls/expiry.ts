import { formatDuration } from '../base/format-duration.ts'
import type { Pair } from './pair.ts'

/** A certificate, as far as its end is concerned. */
export interface CertificateValidity {
  /** What messages call it: its file, or its option. */
  readonly from: string
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

export const validityOf = ({ cert, leaf, notAfter }: Pair): CertificateValidity => ({
  from: cert.from,
  notBefore: Date.parse(leaf.validFrom),
  notAfter,
})

export const DAY_MS = 86_400_000
/** The rest of a certificate's life in which its replacement is late. */
const WARNING_SHARE = 1 / 10
const WARNING_MS_MAX = 7 * DAY_MS

/**
 * How long before its end a certificate is warned about when nothing is given: a tenth of its life,
 * at most 7 days.
 */
export const warningMs = ({ notBefore, notAfter }: CertificateValidity): number =>
  Math.min(WARNING_MS_MAX, (notAfter - notBefore) * WARNING_SHARE)

/**
 * What is to be said of a certificate at this time; undefined when all is well.
 * @param withinMs how long before its end
 */
export function expiryOf({ from, notBefore, notAfter }: CertificateValidity, wall: number, withinMs: number): string | undefined {
  if (wall < notBefore) return `${from}: the certificate is not valid before ${inWords(notBefore)}`
  if (wall >= notAfter) return `${from}: the certificate has expired at ${inWords(notAfter)}`
  const left = notAfter - wall
  return left <= withinMs ? `${from}: the certificate expires in ${roughly(left)}, at ${inWords(notAfter)}` : undefined
}

/** A time in UTC. */
export const inWords = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

/** A time in days while they are many, else to the minute. */
const roughly = (ms: number): string =>
  ms >= 2 * DAY_MS ? `${Math.floor(ms / DAY_MS)} days` : formatDuration(Math.floor(ms / 60_000) * 60_000)
