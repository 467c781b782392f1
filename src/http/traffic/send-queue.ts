import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { look } from '../../base/look.ts'

/**
 * How many bytes of a socket, whose side we have ended, its peer's system has not acknowledged: 0
 * also when that is unknown.
 */
export type Undelivered = (socket: Socket) => number

/**
 * Node does not say what is left in the system's queues; Linux does, for all sockets of this
 * network namespace. Other systems do not.
 */
const TABLES = process.platform === 'linux' ? ['tcp', 'tcp6'] : []

/** Our own end takes a place in the queue like a byte. */
const END_BYTES = 1
/**
 * The most that an encrypted connection says as its goodbye. A client that has vanished leaves it
 * there, and has lost nothing by that.
 */
const ENCRYPTED_END_BYTES = 128

/** Whether the number can be known. */
export const hasSendQueue = (socket: Socket): boolean => TABLES.length > 0 && socket instanceof Socket

let looking: Promise<Undelivered> | undefined

/** Reads the send queues; callers share one look while it is under way. */
export function lookAtSendQueues(): Promise<Undelivered> {
  looking ??= Promise.all(TABLES.map(async (table) => (await look(() => readFile(`/proc/net/${table}`, 'latin1').catch(() => ''))) ?? ''))
    .then(undeliveredIn)
    .finally(() => {
      looking = undefined
    })
  return looking
}

/** The same in one step, for when there is no time left. */
export function lookAtSendQueuesNow(): Undelivered {
  return undeliveredIn(TABLES.map((table) => look(() => readFileSync(`/proc/net/${table}`, 'latin1')) ?? ''))
}

function undeliveredIn(texts: readonly string[]): Undelivered {
  const queues = new Map<string, number>()
  for (const text of texts) for (const line of text.split('\n')) note(line, queues)
  return (socket) => {
    if (!hasSendQueue(socket)) return 0
    const end = 'encrypted' in socket ? ENCRYPTED_END_BYTES : END_BYTES
    return socket.writableLength + Math.max(0, (queues.get(portsOf(socket.localPort, socket.remotePort)) ?? 0) - end)
  }
}

/**
 * `0: 0100007F:1F90 0100007F:C350 04 0000A000:00000000 …`: local and remote address, state, what is
 * to be sent and to be read. Kept by the pair of ports; of two clients with the same pair, the
 * longer queue: to wait a little longer for one does no harm.
 */
function note(line: string, queues: Map<string, number>): void {
  const [, local = '', remote = '', , queue = ''] = line.trim().split(' ', 5)
  const bytes = Number.parseInt(queue, 16)
  if (!(bytes > 0)) return
  const ports = portsOf(portIn(local), portIn(remote))
  queues.set(ports, Math.max(bytes, queues.get(ports) ?? 0))
}

const portIn = (address: string): number => Number.parseInt(address.slice(address.indexOf(':') + 1), 16)
const portsOf = (local: number | undefined, remote: number | undefined): string => `${local} ${remote}`
