import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeFile as writeWithCallback,
} from 'node:fs'
import { lstat, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { QuiesceError, toError } from '../base/errors.ts'
import { sayWithCode } from '../log/terminal.ts'
import { openFile, refuseForeignLink } from './open-file.ts'
import type { Report } from './report.ts'

/**
 * Overwrites, and opens with O_NONBLOCK: a FIFO without a reader would hold the process
 * for ever, in its last step.
 */
const IN_PLACE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NONBLOCK

/** Writes to an open file, which its namesake with promises does not take by number. */
const writeTo = promisify(writeWithCallback)

/**
 * What stands in the way of putting another file in its place: a mounted file such as Kubernetes'
 * /dev/termination-log, or its folder.
 */
const IRREPLACEABLE: readonly unknown[] = ['EBUSY', 'EXDEV', 'EACCES', 'EPERM', 'EROFS']
const isIrreplaceable = (thrown: unknown): boolean => IRREPLACEABLE.includes((thrown as NodeJS.ErrnoException).code)

/**
 * Writes the report beside its place and moves it there, so that no reader gets half of one; in its
 * place when that is a pipe, a device, a link, or a file that cannot be replaced; behind the log
 * when that goes to the same file. What goes wrong is also said on stderr: the logs are flushed by
 * now, and the report cannot say it.
 *
 * @param signal aborts it, without a word; what is in the report's place by then stays there
 * @returns whether it may be written once more, over this one: what went to a stream or a pipe
 * would stand there twice
 * @throws QuiesceError ERR_REPORT_WRITE
 */
export async function writeReport(path: string | undefined, report: Report, signal: AbortSignal): Promise<boolean> {
  if (path === undefined) return false
  try {
    const output = outputInto(path)
    if (output !== undefined) {
      writeFileSync(output, text(report))
      return false
    }
    refuseForeignLink(path)
    if ((await isReplaceable(path)) && (await replace(path, text(report), signal))) return true
    const file = openFile(path, IN_PLACE)
    try {
      await writeTo(file, text(report), { signal })
      return fstatSync(file).isFile()
    } finally {
      closeSync(file)
    }
  } catch (thrown) {
    const error = writeError(path, thrown)
    if (!signal.aborted) sayWithCode(process.stderr, error.code, error.message)
    throw error
  }
}

/**
 * Whether a report could be written now, so that a folder that is not there is found out at the
 * start and not after the drain. What changes after that still costs the end its report.
 *
 * @throws QuiesceError ERR_REPORT_WRITE
 */
export function checkReportFile(path: string | undefined): void {
  if (path === undefined) return
  try {
    refuseForeignLink(path)
    const there = statSync(path, { throwIfNoEntry: false })
    if (there?.isDirectory()) throw new Error('it is a directory')
    // A file that cannot be written can still be replaced where its folder can; where a link leads
    // cannot.
    if (there && !(isReplaceableNow(path) && isWritable(dirname(path)))) accessSync(path, constants.W_OK)
    else accessSync(dirname(path), constants.W_OK)
  } catch (thrown) {
    throw writeError(path, thrown)
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Standard output or error, when it goes into the plain file that is at `path`: what is in there is
 * the log, which may not be lost.
 */
function outputInto(path: string): 1 | 2 | undefined {
  try {
    const there = statSync(path, { bigint: true })
    if (!there.isFile()) return undefined
    return ([1, 2] as const).find((fd) => {
      const { dev, ino } = fstatSync(fd, { bigint: true })
      return dev === there.dev && ino === there.ino
    })
  } catch {
    // Nothing is there yet, or the stream is closed.
    return undefined
  }
}

/** Nothing is there, or a plain file. */
const isReplaceable = (path: string): Promise<boolean> =>
  lstat(path).then(
    (there) => there.isFile(),
    () => true,
  )

/**
 * A name that cannot be known before, and is created exclusively: in a folder that others may
 * write, a link could wait under it.
 */
const temporaryName = (path: string): string => `${path}.${randomBytes(8).toString('hex')}.tmp`

/** False when another file cannot be put there; what is there is as it was then. */
async function replace(path: string, content: string, signal: AbortSignal): Promise<boolean> {
  const temporary = temporaryName(path)
  try {
    await writeFile(temporary, content, { signal, flag: 'wx' })
    signal.throwIfAborted()
    await rename(temporary, path)
    return true
  } catch (thrown) {
    await rm(temporary, { force: true })
    if (IRREPLACEABLE.includes((thrown as NodeJS.ErrnoException).code)) return false
    throw thrown
  }
}

/**
 * The same in one synchronous step, for when there is no time left. What goes wrong is said on
 * stderr only. Returns what {@link writeReport} does.
 */
export function writeReportNow(path: string | undefined, report: Report): boolean {
  if (path === undefined) return false
  try {
    const output = outputInto(path)
    if (output !== undefined) {
      writeFileSync(output, text(report))
      return false
    }
    refuseForeignLink(path)
    if (isReplaceableNow(path) && replaceNow(path, text(report))) return true
    const fd = openFile(path, IN_PLACE)
    try {
      writeFileSync(fd, text(report))
      return fstatSync(fd).isFile()
    } finally {
      closeSync(fd)
    }
  } catch (thrown) {
    const { code, message } = writeError(path, thrown)
    sayWithCode(process.stderr, code, message)
    return false
  }
}

function isReplaceableNow(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true
}

function replaceNow(path: string, content: string): boolean {
  const temporary = temporaryName(path)
  try {
    writeFileSync(temporary, content, { flag: 'wx' })
    renameSync(temporary, path)
    return true
  } catch (thrown) {
    rmSync(temporary, { force: true })
    if (isIrreplaceable(thrown)) return false
    throw thrown
  }
}

const text = (report: Report): string => `${JSON.stringify(report, undefined, 2)}\n`

const writeError = (path: string, thrown: unknown): QuiesceError =>
  new QuiesceError('ERR_REPORT_WRITE', `the report could not be written to ${path}: ${toError(thrown).message}`, { path }, thrown)
