import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { look } from '../base/look.ts'
import { commandLineOf } from './script-shell.ts'

export interface PortOwner {
  readonly pid: number
  /** undefined where it cannot be read. */
  readonly command: string | undefined
}

/** State of a socket that listens, as the kernel writes it. */
const LISTENING = '0A'
const COMMAND_MAX = 60

/**
 * Which process listens on a TCP port of this host; undefined where that cannot be known: elsewhere
 * than on Linux, of the process of another user, or in another container.
 */
export function ownerOfPort(port: number): PortOwner | undefined {
  const sockets = new Set(
    ['tcp', 'tcp6'].flatMap((table) => listeningOn(port, look(() => readFileSync(`/proc/net/${table}`, 'utf8')) ?? '')),
  )
  if (sockets.size === 0) return undefined
  const pids = look(() => readdirSync('/proc'))?.filter((name) => /^\d+$/.test(name)) ?? []
  const pid = pids.find((each) => linksOf(each).some((link) => sockets.has(link)))
  if (pid === undefined) return undefined
  // What it is and what it runs; further arguments may be secrets.
  const command = commandLineOf(Number(pid))
    ?.slice(0, 2)
    .join(' ')
    .replace(/\p{Cc}+/gu, ' ')
  return { pid: Number(pid), command: command && (command.length > COMMAND_MAX ? `${command.slice(0, COMMAND_MAX)}…` : command) }
}

/** The targets of descriptors of listening sockets, from a table of the kernel. */
function listeningOn(port: number, table: string): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/)
    return fields[1]?.endsWith(`:${hex}`) && fields[3] === LISTENING ? [`socket:[${fields[9]}]`] : []
  })
}

const linksOf = (pid: string): readonly string[] =>
  look(() => readdirSync(`/proc/${pid}/fd`))?.flatMap((fd) => look(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? []) ?? []
