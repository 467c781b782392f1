/** What has become of a file, or of its log, since it was opened. */
interface Moved {
  readonly what: string
  /** Whether the file itself is still in its place, and its log is not. */
  readonly isOfLog: boolean
}

/**
 * Which file is at a path, and which one is its log: SQLite does not notice when they are removed
 * or replaced, and writes on. A file is named by its device and inode.
 *
 * The text of this function is a part of the file engine's thread: it uses nothing from outside of
 * itself.
 */
export function filePlace(fs: typeof import('node:fs'), path: string) {
  let log = logPath()
  let opened: { readonly file: string | undefined; readonly log: string | undefined } | undefined

  /** SQLite has the log beside the file itself, wherever links have led to it. */
  function logPath(): string {
    try {
      return `${fs.realpathSync(path)}-wal`
    } catch {
      return `${path}-wal`
    }
  }

  function fileAt(at: string, least = 0): string | undefined {
    try {
      const { dev, ino, size } = fs.statSync(at, { bigint: true })
      return size < least ? undefined : `${dev}:${ino}`
    } catch {
      return undefined
    }
  }

  return {
    /** The path of the log. */
    get log(): string {
      return log
    },

    /** The file that is there; undefined: none, or an empty one. */
    file: (): string | undefined => fileAt(path, 1),

    /** Notes that SQLite has opened what is there now. */
    note(): string | undefined {
      log = logPath()
      opened = { file: fileAt(path, 1), log: fileAt(log) }
      return opened.file
    },

    /** Undefined: what was opened is still in its place. */
    moved(): Moved | undefined {
      const file = fileAt(path, 1)
      if (file === undefined) return { what: `${path} was removed or emptied`, isOfLog: false }
      if (file !== opened?.file) return { what: `${path} was replaced by another file`, isOfLog: false }
      return fileAt(log) === opened.log ? undefined : { what: `${log}, the log of ${path}, was removed or replaced`, isOfLog: true }
    },

    bytesOfLog(): Buffer {
      try {
        return fs.readFileSync(log)
      } catch (thrown) {
        // One that cannot be read is not one that is not there.
        if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
        return Buffer.alloc(0)
      }
    },

    /** Without opening it, as closing it would free the lock that a store of this process has. */
    isWritable(): boolean {
      try {
        fs.accessSync(path, fs.constants.W_OK)
        return true
      } catch {
        return false
      }
    },
  }
}

export type FilePlace = ReturnType<typeof filePlace>
