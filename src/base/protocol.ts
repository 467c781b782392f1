/**
 * What a connection speaks. `tunnel`: something unknown, after a CONNECT or an upgrade; `TLS
 * handshake`: nothing yet, it is being agreed.
 */
export type Protocol = 'HTTP/1.1' | 'HTTP/2' | 'WebSocket' | 'tunnel' | 'TLS handshake'

/** A protocol, and the version of TLS below it. */
export interface ConnectionProtocol {
  readonly protocol: Protocol
  /**
   * The version of TLS as node says it, `TLSv1.3`; `none` without TLS; `pending` while that is
   * being agreed; `unknown` of a connection that was closed before it was looked at.
   */
  readonly tls: string
}

/** How many open connections speak one. */
export interface ProtocolCount extends ConnectionProtocol {
  readonly open: number
}

const NONE_YET: readonly ProtocolCount[] = [{ protocol: 'HTTP/1.1', tls: 'none', open: 0 }]

/** What a metric says of them: 0 before the first connection, as nothing cannot be summed. */
export const measured = (counts: readonly ProtocolCount[]): readonly ProtocolCount[] => (counts.length > 0 ? counts : NONE_YET)

/** How connections that spoke one have ended. */
export interface ProtocolFates extends ConnectionProtocol {
  /** The connections that were open when the shutdown was initiated. */
  readonly open: number
  readonly notified: number
  readonly idleUnnotified: number
  readonly ended: number
  readonly forced: number
}

const isPlain = ({ protocol, tls }: Partial<ConnectionProtocol>): boolean => protocol === 'HTTP/1.1' && tls === 'none'

/**
 * What something by this name was sent over, for people: `HTTP/2 over TLSv1.3`. Empty when that
 * goes without saying: HTTP/1.1 without TLS, and what the name says itself, as `WebSocket /feed`.
 */
export function protocolLabel({ name = '', protocol, tls }: Partial<ConnectionProtocol> & { readonly name?: string }): string {
  if (protocol === undefined || tls === undefined || isPlain({ protocol, tls })) return ''
  const isSaid = name.startsWith(`${protocol} `) || name.endsWith(` ${protocol}`)
  return [isSaid ? '' : protocol, tls === 'none' || tls === 'pending' ? '' : tls].filter(Boolean).join(' over ')
}

/** A name with the protocol of what has it: `GET /slow (HTTP/2 over TLSv1.3)`. */
export function nameWithProtocol(named: Partial<ConnectionProtocol> & { readonly name: string }): string {
  const words = protocolLabel(named)
  return words === '' ? named.name : `${named.name} (${words})`
}

/**
 * Open connections by protocol: `3 HTTP/1.1, 12 HTTP/2 over TLSv1.3`. Empty when that goes without
 * saying: there are none, or all are HTTP/1.1 without TLS.
 */
export function openWords(counts: readonly ProtocolCount[] = []): string {
  const open = counts.filter((count) => count.open > 0)
  return open.every(isPlain) ? '' : open.map((count) => `${count.open} ${protocolLabel(count) || count.protocol}`).join(', ')
}

/** What became of all connections, wherever a report is shown. */
export const fateSums = ({ notified, ended, idleUnnotified, forced }: Omit<ProtocolFates, keyof ProtocolCount>): string =>
  `${notified} told to leave, ${ended} ended by clients, ${idleUnnotified} closed idle, ${forced} by force`

/**
 * What became of connections, a text for each protocol: `HTTP/2 over TLSv1.3: 12 open, 11 told to
 * leave, 1 by force`. None when all were HTTP/1.1 without TLS: of those the sums say as much.
 */
export function fateWords(fates: readonly ProtocolFates[] = []): string[] {
  if (fates.every(isPlain)) return []
  return fates.map((fate) => {
    const { open, notified, idleUnnotified, ended, forced } = fate
    const some = [
      `${open} open`,
      ...counted({ 'told to leave': notified, 'closed idle': idleUnnotified, 'ended by clients': ended, 'by force': forced }),
    ]
    return `${protocolLabel(fate) || fate.protocol}: ${some.join(', ')}`
  })
}

const counted = (counts: Readonly<Record<string, number>>): string[] =>
  Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []))
