import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/**
 * Makes way for a new socket at a path where there is one already: a process that was killed leaves
 * its own behind, and nothing accepts there. Node removes those that it closes.
 * @returns why the path cannot be had; undefined when it is free now
 */
export async function removeStale(path: string): Promise<string | undefined> {
  const found = inodeOf(path)
  if (found === undefined) return undefined
  if (!found.isSocket) return 'a file that is no socket is there'
  if (await isAccepting(path)) return 'another process accepts connections there'
  // Another process may have come first, and have put its own there meanwhile, perhaps under the
  // same number.
  const still = inodeOf(path)
  if (still?.inode === found.inode && still.changed === found.changed) await takeAway(path, found)
  return undefined
}

/**
 * Removes the socket that was found, and no other: one that takes its place between a look and a
 * removal would lose its only name. So what is there gets another name first; what proves to be
 * another socket is put back.
 */
export async function takeAway(path: string, { inode, made }: Found): Promise<void> {
  const aside = join(dirname(path), `.${randomBytes(6).toString('hex')}`)
  try {
    renameSync(path, aside)
  } catch (error) {
    // Another process has removed it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const taken = inodeOf(aside)
  // A file system that does not know when a file was made says when it was changed, which is now.
  const knowsAge = taken?.made !== taken?.changed
  const isOther = taken?.inode !== inode || (knowsAge ? taken.made !== made : await isAccepting(aside))
  if (isOther) putBack(aside, path)
  rmSync(aside, { force: true })
}

function putBack(aside: string, path: string): void {
  try {
    // A link replaces nothing that is there meanwhile.
    linkSync(aside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(aside, path)
  }
}

/**
 * The same in a worker of a cluster, before it listens at all; elsewhere it does nothing. After an
 * attempt that has failed node asks the primary for another socket than the one of the workers
 * whose first attempt has not.
 */
export async function removeStaleInWorker(path: string): Promise<void> {
  if (cluster.isWorker) await removeStale(path)
}

interface Found {
  readonly inode: bigint
  readonly changed: bigint
  readonly made: bigint
  readonly isSocket: boolean
}

export function inodeOf(path: string): Found | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && { inode: stats.ino, changed: stats.ctimeNs, made: stats.birthtimeNs, isSocket: stats.isSocket() }
}

/**
 * Whether a process accepts there: an answer other than a refusal does not show that the socket was
 * left behind.
 */
const isAccepting = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
  })

/**
 * Lets `listen` create a socket with these permissions, from its first moment on. The mask belongs
 * to the process, and only its main thread may change it; a worker of a cluster has its socket
 * created by the primary. There the permissions are set as soon as the socket is there.
 * @returns to be called when it listens
 */
export function withMode(path: string, mode: number, listen: () => void): () => void {
  if (cluster.isWorker || !isMainThread) {
    listen()
    return () => chmodSync(path, mode)
  }
  const mask = process.umask(0o777 & ~mode)
  try {
    listen()
  } finally {
    process.umask(mask)
  }
  return () => {}
}
