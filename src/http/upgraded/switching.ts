import type { WireExchange } from '../ports.ts'
import type { TrafficPort } from '../transport.ts'
import { Intake } from './intake.ts'
import { Outgoing } from './outgoing.ts'
import { WebSocketWire } from './web-socket.ts'
import { UpgradedWire } from './wire.ts'

/** An answer to an upgrade has a short head; what is longer is none. */
const HEAD_BYTES_MAX = 64 * 1024
const HEAD_END = '\r\n\r\n'
const HTTP = 'HTTP/1.'
const STATUS = /^HTTP\/1\.[01] (\d{3})/

/**
 * Has the connection of an upgrade go on with the wire of its new protocol, from the answer that
 * switches to it. One that refuses changes nothing.
 * @param begun what came with the request and is of the new protocol
 */
export function goOnWhenSwitched(exchange: WireExchange, traffic: TrafficPort, begun: Buffer | undefined): void {
  const { connection } = exchange
  // As it was asked: handlers may put anything in its place.
  const asked = askedBy(exchange)
  let head: Buffer | undefined = Buffer.alloc(0)
  let webSocket: WebSocketWire | undefined
  const outgoing = new Outgoing(connection.wire.socket, (bytes) => {
    if (!head) return webSocket?.written(bytes)
    head = Buffer.concat([head, bytes])
    const end = head.indexOf(HEAD_END)
    if (end < 0 && head.length < HEAD_BYTES_MAX && mayBeHttp(head)) return
    const switched = switchedBy(head.toString('latin1', 0, 12), asked)
    const rest = head.subarray(end + HEAD_END.length)
    head = undefined
    if (switched !== 'WebSocket') outgoing.restore()
    if (switched === undefined || exchange.isOver) return
    if (switched === 'WebSocket') webSocket = new WebSocketWire(exchange, traffic, outgoing, new Intake(connection.wire.socket, begun))
    const wire = webSocket ?? new UpgradedWire(connection, traffic.clock, exchange)
    connection.goOnWith(wire)
    if (rest.length > 0) webSocket?.written(rest)
    // Its turn has come while it was being answered.
    exchange.notifyWire()
  })
}

/** What begins otherwise is no answer, and will not become one. */
const mayBeHttp = (head: Buffer): boolean => HTTP.startsWith(head.toString('latin1', 0, HTTP.length))

/** A CONNECT, or the protocol that an upgrade names. */
type Asked = 'CONNECT' | 'WebSocket' | 'another'

function askedBy({ request: { method, headers } }: WireExchange): Asked {
  if (method === 'CONNECT') return 'CONNECT'
  return headers.upgrade?.toLowerCase() === 'websocket' ? 'WebSocket' : 'another'
}

/** Which protocol a connection goes on with after this answer; undefined: with its own. */
function switchedBy(head: string, asked: Asked): 'WebSocket' | 'another' | undefined {
  const status = STATUS.exec(head)?.[1]
  // A handler that writes something else than HTTP has begun with a protocol of its own.
  if (status === undefined) return 'another'
  if (asked === 'CONNECT') return status.startsWith('2') ? 'another' : undefined
  return status === '101' ? asked : undefined
}
