import { optionError } from '../base/errors.ts'
import { http1 } from './h1/transport.ts'
import { http2 } from './h2/transport.ts'
import type { Transport } from './transport.ts'

/** Every transport there is; beside it, no file outside of a transport's folder names one. */
const TRANSPORTS: readonly Transport[] = [http1, http2]

const ALLOWED =
  'a server of node:http, node:https or node:http2 (what app.listen() of Express returns; of Fastify app.server, or register quiesce/fastify)'

/**
 * The transport of a server.
 * @param field what the server was given as
 * @throws QuiesceError ERR_OPTION_INVALID when there is none for it
 */
export function transportOf(server: unknown, field = 'server'): Transport {
  const transport = TRANSPORTS.find((one) => one.serves(server))
  if (transport) return transport
  throw optionError(field, server, ALLOWED)
}
