import { isBuiltin } from 'node:module'
import { resolve } from 'node:path'
import { type Clock, checkArguments, optionError, parseDuration, QuiesceError, systemClock, withOptions } from '../engine.ts'
import { FileStore } from './file-store.ts'
import { FileThreadClient } from './file-thread-client.ts'
import { isFirstRevision, REVISION_FIRST_MAX, type StoreEngine } from './key-value-store.ts'

export interface FileEngineOptions {
  /**
   * The path of the file; beside it there is `PATH-wal` while it is open. Its folder has to be
   * there.
   */
  readonly path: string
  /**
   * How long what was there before can be read and watched. Default `5m`, as upstream's; 0: as
   * short as it gets.
   */
  readonly history?: string | number
  /** Time between two looks for what can be forgotten. Default `10s`. */
  readonly compactionInterval?: string | number
  /**
   * Whether all of the file is checked before it is used: what is damaged is refused at the start,
   * and not when it is first read. Default true.
   */
  readonly verify?: boolean
  /**
   * The revision before the first change of a file that is new: behind those that clients have of
   * what it is restored from. Default 1.
   */
  readonly revision?: number
}

/** The oldest Node whose `node:sqlite` needs no flag. */
const NODE_MIN = '22.13'

/**
 * Keeps everything in one file, by SQLite in a thread of its own. A write is answered when the disk
 * has it. One process at a time has the file; the lock goes with the process.
 * @throws QuiesceError ERR_DEPENDENCY_MISSING on a Node without `node:sqlite`, ERR_OPTION_INVALID
 */
export function fileEngine(options: FileEngineOptions, clock: Clock = systemClock): StoreEngine {
  checkArguments('fileEngine(options)', [
    options,
    withOptions<FileEngineOptions>('path', 'history', 'compactionInterval', 'verify', 'revision'),
  ])
  const { path, history = '5m', compactionInterval = '10s', verify = true, revision = 1 } = options
  if (typeof path !== 'string' || path === '' || path.includes('\0')) throw optionError('path of fileEngine()', path, 'the path of a file')
  const historyMs = parseDuration('history of fileEngine()', history)
  const compactionMs = parseDuration('compactionInterval of fileEngine()', compactionInterval)
  if (!isFirstRevision(revision) || revision < 1)
    throw optionError('revision of fileEngine()', revision, `a whole number from 1 to ${REVISION_FIRST_MAX}`)
  requireSqlite(path)
  // The process may change its folder while the file is open; and no name is one of SQLite's own.
  const file = resolve(path)
  return {
    name: `file:${path}`,
    check: 'storage',
    open: async (context) => {
      const store = new FileStore({ path: file, historyMs, compactionMs, isVerified: verify, revision }, context, clock)
      await store.open()
      return store
    },
  }
}

function requireSqlite(path: string): void {
  if (!isBuiltin('node:sqlite'))
    throw new QuiesceError(
      'ERR_DEPENDENCY_MISSING',
      `file:${path} needs node:sqlite, which Node has since ${NODE_MIN}; this is Node ${process.version}. Use a newer Node, or memory or etcd://HOST`,
      { path, node: process.version },
    )
}

/** What a whole file has. */
export interface FileContents {
  /** How many revisions can still be read. */
  readonly rows: number
  readonly keys: number
  readonly revision: number
  readonly compacted: number
}

/**
 * Reads all of a file that no process has open: what SQLite can say of it, and the checksum of each
 * revision.
 * @throws StoreError damaged with its place, unavailable; QuiesceError ERR_DEPENDENCY_MISSING
 */
export async function verifyFile(path: string): Promise<FileContents> {
  requireSqlite(path)
  const thread = new FileThreadClient(() => {})
  try {
    await thread.ask({ op: 'open', path, isVerified: false })
    const contents = await thread.ask({ op: 'verify' })
    await thread.ask({ op: 'close' })
    return contents
  } finally {
    await thread.end()
  }
}
