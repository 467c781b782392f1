import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { QuiesceError } from '../base/errors.ts'
import { look } from '../base/look.ts'
import { ownerOfPort } from '../platforms/port-owner.ts'

/** What the system says of a failed `listen()`. */
interface ListenFailure {
  readonly code?: unknown
  /** -1 for a Unix socket. */
  readonly port?: unknown
  readonly address?: unknown
}

/**
 * What to do about a start that has failed, in a sentence; undefined where that is not known.
 * @param label how an option is called, or a field of one, such as `admin.port`
 */
export function startAdvice(error: unknown, label: (option: string) => string): string | undefined {
  if (!(error instanceof QuiesceError) || error.code !== 'ERR_LISTEN') return undefined
  const { code, port: given, address } = (error.cause ?? {}) as ListenFailure
  const port = typeof given === 'number' && given >= 0 ? given : undefined
  const { option } = error.details
  const labelHere = (field: string): string => label(typeof option === 'string' ? `${option}.${field}` : field)
  switch (code) {
    case 'EADDRINUSE':
      if (port !== undefined) return inUse(port, labelHere)
      // Of a socket that quiesce was to make, the error says what is there instead.
      return typeof address === 'string' && error.details['address'] !== address ? socketInUse(address, labelHere('path')) : undefined
    case 'EACCES':
      if (port === undefined) return noSocket(String(address), labelHere('path'))
      return `this user may not listen there: give a port from 1024 on (${labelHere('port')}), or allow it (CAP_NET_BIND_SERVICE)`
    case 'EADDRNOTAVAIL':
      return `this host has no such address: give one of its own, or 0.0.0.0 for all of them (${labelHere('host')})`
    case 'ENOTFOUND':
      return `no host has this name: give an address, such as 127.0.0.1 (${labelHere('host')})`
    default:
      return undefined
  }
}

const socketInUse = (path: string, label: string): string =>
  `end the process that listens on ${path}, or remove the file if none does, as after a kill; or give another path (${label})`

/** The system says that a folder may not be written to, also of one that is not there. */
function noSocket(path: string, label: string): string {
  const folder = dirname(path)
  if (look(() => existsSync(folder)) === false)
    return `there is no folder ${folder}: make it first, or give a path in another one (${label})`
  return `this user may not make a socket there: give a path in a folder that it may write to (${label})`
}

function inUse(port: number, label: (option: string) => string): string {
  const owner = ownerOfPort(port)
  const another = `give another one (${label('port')})`
  // The start is rolled back by now: what this life had bound itself is closed.
  if (owner === undefined)
    return `port ${port} belongs to another listener of this server, or to a process that cannot be seen from here: ${another}`
  const { pid, command } = owner
  const who = `${pid === process.pid ? 'this process itself' : `process ${pid}`}${command ? ` (${command})` : ''}`
  return `${who} has port ${port}: ${another}${pid === process.pid ? '' : `, or end that process (kill ${pid})`}`
}
