import { randomBytes } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Clock, toError } from '../engine.ts'

export interface RotationSettings {
  /** Megabytes after which a file is full. */
  readonly maxSize: number
  /** Days that a full file is kept; 0 is for ever. */
  readonly maxAge: number
  /** Full files that are kept; 0 is all. */
  readonly maxBackups: number
  /** Whether full files are compressed, with gzip. */
  readonly compress: boolean
}

const BYTES_OF_MEGABYTE = 1024 * 1024
const DAY_MS = 24 * 60 * 60 * 1_000
/** What could not be put aside is tried again after so long: until then the file grows. */
const RETRY_MS = 1_000
/** A compressed file that is this old and not whole was left by a process that is gone. */
const UNFINISHED_MS = 60 * 60 * 1_000
const BACKUP_MODE = 0o600
const COMPRESSED = '.gz'

/**
 * When a log file is full, and what becomes of full ones: they are put aside, as
 * `audit-2026-07-01T10-00-00.000.log` beside `audit.log`, compressed, and removed when they are too
 * old or too many. Putting aside is one rename, in the step of the line that found the file full;
 * compression runs beside, and goes on with the next start when it was interrupted.
 * @see kubernetes/apiserver pkg/server/options/audit.go AuditLogOptions.getWriter (lumberjack)
 */
export class Rotation {
  readonly #settings: RotationSettings
  readonly #clock: Clock
  readonly #failed: (error: Error) => void
  readonly #stop = new AbortController()
  #compressing: Promise<void> | undefined
  #retryAt = Number.NEGATIVE_INFINITY

  /** @param failed told of what could not be put aside or compressed; no line is lost by it */
  constructor(settings: RotationSettings, clock: Clock, failed: (error: Error) => void) {
    this.#settings = settings
    this.#clock = clock
    this.#failed = failed
  }

  /** A line that is larger than a file may be has one of its own. */
  isDue(size: number, bytes: number): boolean {
    const { maxSize } = this.#settings
    return maxSize > 0 && size > 0 && size + bytes > maxSize * BYTES_OF_MEGABYTE
  }

  /** False when that is not possible now: the file is gone on with. */
  putAside(path: string): boolean {
    if (this.#clock.now() < this.#retryAt) return false
    try {
      // Where the path is a link, the file that it leads to is full, not the link.
      const file = realpathSync(path)
      const aside = claimName(file, this.#clock.wall())
      try {
        renameSync(file, aside)
      } catch (thrown) {
        unlinkSync(aside)
        throw thrown
      }
    } catch (thrown) {
      this.#retryAt = this.#clock.now() + RETRY_MS
      this.#fail('could not be rotated, so it keeps growing', thrown)
      return false
    }
    this.tidy(path)
    return true
  }

  /** Removes and compresses what is to be. */
  tidy(path: string): void {
    const file = realPathOf(path)
    this.#removeOld(file)
    if (!this.#settings.compress) return
    // One at a time: what was put aside meanwhile is next.
    this.#compressing = (this.#compressing ?? Promise.resolve()).then(() => this.#compressAll(file))
  }

  /** Interrupts what is being compressed; resolves when nothing is. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#compressing
  }

  async #compressAll(file: string): Promise<void> {
    for (const { name, isCompressed } of backupsOf(file)) {
      if (this.#stop.signal.aborted) return
      if (isCompressed) continue
      try {
        await compress(join(dirname(file), name), this.#stop.signal)
      } catch (thrown) {
        if (!this.#stop.signal.aborted && (thrown as NodeJS.ErrnoException).code !== 'ENOENT')
          this.#fail('the rotated file could not be compressed', thrown)
      }
    }
  }

  /** What cannot be removed now is tried again with the next full file. */
  #removeOld(file: string): void {
    const { maxAge, maxBackups } = this.#settings
    const now = this.#clock.wall()
    for (const [index, { name, at }] of backupsOf(file).entries())
      if ((maxBackups > 0 && index >= maxBackups) || (maxAge > 0 && now - at > maxAge * DAY_MS)) removeIfPossible(join(dirname(file), name))
    for (const name of unfinishedOf(file)) {
      const path = join(dirname(file), name)
      if (now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > UNFINISHED_MS) removeIfPossible(path)
    }
  }

  #fail(what: string, thrown: unknown): void {
    // The message of a system error names another file each time.
    const { code } = thrown as NodeJS.ErrnoException
    this.#failed(new Error(`the audit log is full, and ${what}: ${code ?? toError(thrown).message}`))
  }
}

const realPathOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * A name by this time that no file has, taken by an empty file: another process that rotates in the
 * same millisecond has another one.
 */
function claimName(file: string, wall: number): string {
  const { stem, extension } = parts(file)
  for (let at = wall; ; at++) {
    const aside = join(dirname(file), `${stem}-${new Date(at).toISOString().slice(0, -1).replaceAll(':', '-')}${extension}`)
    if (existsSync(`${aside}${COMPRESSED}`)) continue
    try {
      closeSync(openSync(aside, 'wx', BACKUP_MODE))
      return aside
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    }
  }
}

const UNFINISHED = /\.gz\.[0-9a-f]{16}\.tmp$/

/**
 * Compresses a file under a name of its own until it is whole: an end in the middle of it loses
 * nothing. An empty file is a name that another process has just claimed.
 */
async function compress(path: string, signal: AbortSignal): Promise<void> {
  const { mode, size } = statSync(path)
  if (size === 0) return
  const source = createReadStream(path)
  const unfinished = `${path}${COMPRESSED}.${randomBytes(8).toString('hex')}.tmp`
  try {
    await pipeline(source, createGzip(), createWriteStream(unfinished, { flags: 'wx', mode }), { signal })
    if (statSync(path).size !== source.bytesRead) throw new Error('a process still writes to it')
    await rename(unfinished, `${path}${COMPRESSED}`)
  } catch (thrown) {
    await rm(unfinished, { force: true })
    throw thrown
  }
  await rm(path, { force: true })
}

function parts(file: string): { readonly stem: string; readonly extension: string } {
  const extension = extname(file)
  return { stem: basename(file, extension), extension }
}

interface Backup {
  readonly name: string
  readonly at: number
  readonly isCompressed: boolean
}

const STAMP = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2}\.\d{3})$/

/** The full files beside a log, the newest first. */
function backupsOf(file: string): readonly Backup[] {
  const { stem, extension } = parts(file)
  const backups = namesIn(dirname(file)).flatMap((name): Backup[] => {
    const isCompressed = name.endsWith(COMPRESSED)
    const plain = isCompressed ? name.slice(0, -COMPRESSED.length) : name
    if (!plain.startsWith(`${stem}-`) || !plain.endsWith(extension)) return []
    const [stamp, date = '', hours = '', minutes = '', seconds = ''] =
      STAMP.exec(plain.slice(stem.length + 1, plain.length - extension.length)) ?? []
    return stamp === undefined ? [] : [{ name, at: Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`), isCompressed }]
  })
  return backups.sort((a, b) => b.at - a.at)
}

const unfinishedOf = (file: string): readonly string[] =>
  namesIn(dirname(file)).filter((name) => name.startsWith(`${parts(file).stem}-`) && UNFINISHED.test(name))

/** A folder that is gone, which the next line finds out, has none. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function removeIfPossible(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Gone, or not ours to remove.
  }
}
