import nodeCluster from 'node:cluster'
import { QuiesceError, show } from '../base/errors.ts'
import { variable } from '../base/look.ts'
import type { PlatformFacts } from './platform.ts'

/** Where descriptors begin that a process is passed. */
export const FIRST_PASSED = 3

/** What systemd calls those of a unit that has no name for them. */
const UNNAMED = 'unknown'

/** The facts of the process, and of its parent, which is the primary of a worker. */
type Asking = Pick<PlatformFacts, 'env' | 'pid'> & { readonly ppid?: number }

/**
 * The descriptor of a listening socket that the service manager has passed under a name
 * (`FileDescriptorName=` of a systemd socket unit, which is the unit's own name without one).
 * @throws QuiesceError ERR_LISTEN when this process was passed none of that name
 * @see https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html
 */
export function passedSocket(name: string, asking: Asking): number {
  const names = passedNames(name, asking)
  const at = names.indexOf(name)
  if (at < 0) throw notPassed(name, `the sockets that this process was passed are named ${names.join(', ') || 'nothing: there are none'}`)
  return FIRST_PASSED + at
}

function passedNames(name: string, { env, pid, ppid }: Asking): readonly string[] {
  const [addressee, count, names] = ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES'].map((each) => variable(env, each))
  if (count === undefined) throw notPassed(name, 'this process was passed no sockets: LISTEN_FDS is not set')
  const isOurs = Number(addressee) === pid || (nodeCluster.isWorker && Number(addressee) === ppid)
  if (!isOurs)
    throw notPassed(
      name,
      `the sockets were passed to process ${show(addressee)} (LISTEN_PID), and this one is ${pid}: the unit has to start node itself, or with exec`,
    )
  const given = names?.split(':') ?? []
  return Array.from({ length: Number(count) }, (_, at) => given[at] || UNNAMED)
}

const notPassed = (name: string, why: string): QuiesceError =>
  new QuiesceError('ERR_LISTEN', `failed to create listener: no socket named ${show(name)}: ${why}`, { address: `fd:${name}` })
