// @ts-check
import { connect as connectTls } from 'node:tls'
import { Link } from './link.mjs'

/**
 * What the clients and the servers of a round speak; as the protocols of HTTP/2 are called in a handshake, `h2` is the one over TLS.
 * @typedef {(typeof PROTOCOLS)[number]} Protocol
 */
export const PROTOCOLS = /** @type {const} */ (['HTTP/1.1', 'HTTPS', 'h2', 'h2c'])

/** @param {Protocol} protocol */
export const isEncrypted = (protocol) => protocol === 'HTTPS' || protocol === 'h2'

/** @param {Protocol} protocol */
export const isHttp2 = (protocol) => protocol === 'h2' || protocol === 'h2c'

/** @param {Protocol} protocol */
export const schemeOf = (protocol) => (isEncrypted(protocol) ? 'https:' : 'http:')

/**
 * A new connection: the link, and what is written to, which is the link itself or the TLS above it.
 * @param {{ port: number, linkMs: number, protocol: Protocol }} options
 * @returns {{ link: Link, stream: import('node:stream').Duplex }}
 */
export function dial({ port, linkMs, protocol }) {
  const link = new Link({ port, delayMs: linkMs })
  if (!isEncrypted(protocol)) return { link, stream: link }
  const stream = connectTls({
    socket: link,
    servername: 'localhost',
    // Each replica has signed its certificate itself.
    rejectUnauthorized: false,
    ALPNProtocols: [isHttp2(protocol) ? 'h2' : 'http/1.1'],
  })
  // As with the link: agents listen only while a connection is in use.
  stream.on('error', () => {})
  return { link, stream }
}
