/** What has become of a file, or of its log, since it was opened. */
interface Moved {
  readonly what: string
  /** What is not in its place: the file, only its log, or only the bytes of the file. */
  readonly isOf: 'file' | 'log' | 'bytes'
}

/**
 * Which file is at a path, and which one is its log: SQLite does not notice when they are removed
 * or replaced, and writes on. A file is named by its device and inode. What writes over it leaves
 * these as they are, but often not its size, which SQLite alone changes while it has the file.
 *
 * The text of this function is a part of the file engine's thread: it uses nothing from outside of
 * itself.
 */
export function filePlace(fs: typeof import('node:fs'), path: string) {
  let log = logPath()
  /** Of the file, as SQLite has left it. */
  let size = 0n
  let opened: { readonly file: string | undefined; readonly log: string | undefined } | undefined

  /** SQLite has the log beside the file itself, wherever links have led to it. */
  function logPath(): string {
    try {
      return `${fs.realpathSync(path)}-wal`
    } catch {
      return `${path}-wal`
    }
  }

  interface Found {
    readonly name: string
    readonly size: bigint
  }

  function found(at: string): Found | undefined {
    try {
      const { dev, ino, size: bytes } = fs.statSync(at, { bigint: true })
      return { name: `${dev}:${ino}`, size: bytes }
    } catch {
      return undefined
    }
  }

  function fileName(): string | undefined {
    const there = found(path)
    return there === undefined || there.size === 0n ? undefined : there.name
  }

  return {
    /** The path of the log. */
    get log(): string {
      return log
    },

    /** The file that is there; undefined: none, or an empty one. */
    file: fileName,

    /** Notes that SQLite has opened what is there now. */
    note(): string | undefined {
      log = logPath()
      opened = { file: fileName(), log: found(log)?.name }
      this.noteSize()
      return opened.file
    },

    /** Notes that SQLite may have written to the file, and not to its log only. */
    noteSize(): void {
      const there = found(path)
      if (there !== undefined && there.name === opened?.file) size = there.size
    },

    /** Undefined: what was opened is still in its place. */
    moved(): Moved | undefined {
      const there = found(path)
      if (there === undefined) return { what: `${path} was removed`, isOf: 'file' }
      if (there.name !== opened?.file) return { what: `${path} was replaced by another file`, isOf: 'file' }
      if (there.size !== size) return { what: `${path} was written over: it has ${there.size} bytes, and had ${size}`, isOf: 'bytes' }
      return found(log)?.name === opened.log ? undefined : { what: `${log}, the log of ${path}, was removed or replaced`, isOf: 'log' }
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
