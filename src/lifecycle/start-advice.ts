import { QuiesceError } from '../base/errors.ts'
import { ownerOfPort } from '../platforms/port-owner.ts'

/** What the system says of a failed `listen()`. */
interface ListenFailure {
  readonly code?: unknown
  /** -1 for a Unix socket. */
  readonly port?: unknown
}

/**
 * What to do about a start that has failed, in a sentence; undefined where that is not known.
 * @param label how an option is called, or a field of one, such as `admin.port`
 */
export function startAdvice(error: unknown, label: (option: string) => string): string | undefined {
  if (!(error instanceof QuiesceError) || error.code !== 'ERR_LISTEN') return undefined
  const { code, port: given } = (error.cause ?? {}) as ListenFailure
  const port = typeof given === 'number' && given >= 0 ? given : undefined
  const { option } = error.details
  const labelHere = (field: string): string => label(typeof option === 'string' ? `${option}.${field}` : field)
  switch (code) {
    case 'EADDRINUSE':
      return port === undefined ? undefined : inUse(port, labelHere)
    case 'EACCES':
      if (port === undefined)
        return `this user may not make a socket there: give a path in a folder that it may write to (${labelHere('path')})`
      return `this user may not listen there: give a port from 1024 on (${labelHere('port')}), or allow it (CAP_NET_BIND_SERVICE)`
    case 'EADDRNOTAVAIL':
      return `this host has no such address: give one of its own, or 0.0.0.0 for all of them (${labelHere('host')})`
    case 'ENOTFOUND':
      return `no host has this name: give an address, such as 127.0.0.1 (${labelHere('host')})`
    default:
      return undefined
  }
}

function inUse(port: number, label: (option: string) => string): string {
  const owner = ownerOfPort(port)
  const another = `give another one (${label('port')})`
  if (owner === undefined) return `port ${port} belongs to another process, which cannot be seen from here: ${another}`
  const { pid, command } = owner
  const who = `${pid === process.pid ? 'this process itself' : `process ${pid}`}${command ? ` (${command})` : ''}`
  return `${who} has port ${port}: ${another}${pid === process.pid ? '' : `, or end that process (kill ${pid})`}`
}
