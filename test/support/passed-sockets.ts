import net from 'node:net'
import { onTestFinished } from 'vitest'

interface Handle {
  readonly fd: number
  getsockname(address: { port?: number }): number
  close(): void
}
/** Node's own, which it does not document: binds, and does not accept. */
const { _createServerHandle: bind } = net as unknown as { _createServerHandle: (host: string, port: number, family: 4) => Handle }

/**
 * A socket of this process, on which it does not accept.
 * @param isGiven whether who listens on it closes it
 */
export function boundSocket(isGiven = false): { readonly fd: number; readonly port: number } {
  const handle = bind('127.0.0.1', 0, 4)
  if (!isGiven) onTestFinished(() => handle.close())
  const address: { port?: number } = {}
  handle.getsockname(address)
  return { fd: handle.fd, port: Number(address.port) }
}

/** Sets LISTEN_PID to what will be node's, as the one who starts it. */
export const LISTEN_PID_OF_ITSELF = ['sh', '-c', 'LISTEN_PID=$$ exec "$@"', 'sh']
