import type { NamedPair, Served } from './contexts.ts'
import type { PairText, Sourced } from './pair.ts'

/**
 * Whether two configurations would serve the same: then nothing is replaced.
 * @see kubernetes/apiserver pkg/server/dynamiccertificates/dynamic_serving_content.go Equal
 */
export const sameContent = (a: Served, b: Served): boolean =>
  same(a.clientCa, b.clientCa, (one, other) => sameText(one.bundle, other.bundle)) &&
  same(a.serving, b.serving, samePair) &&
  sameList(a.sni, b.sni, sameNamedPair)

const sameText = (a: Sourced, b: Sourced): boolean => a.text === b.text

const samePair = (a: PairText, b: PairText): boolean => sameText(a.cert, b.cert) && sameText(a.key, b.key)

const sameNamedPair = (a: NamedPair, b: NamedPair): boolean =>
  samePair(a, b) && sameList(a.names ?? [], b.names ?? [], (name, other) => name === other)

const same = <T>(a: T | undefined, b: T | undefined, are: (a: T, b: T) => boolean): boolean => (a && b ? are(a, b) : a === b)

const sameList = <T>(a: readonly T[], b: readonly T[], are: (a: T, b: T) => boolean): boolean =>
  a.length === b.length && a.every((item, index) => are(item, b[index] as T))
