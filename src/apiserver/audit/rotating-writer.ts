import { closeSync, openSync, readdirSync, unlinkSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { QuiesceError } from '../../base/errors.ts'
import { LOG_FILE_MODE, makeFolderOf } from './line-writers.ts'
import type { LineWriter } from './log-backend.ts'

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

/** As much of the package `rotating-file-stream` as is used. */
export interface RotatingFileStream {
  createStream(
    name: (time: number | Date | null, index?: number) => string,
    options: { readonly path: string; readonly size: string; readonly mode: number; readonly compress?: 'gzip' },
  ): NodeJS.WritableStream
}

/** Its types are not needed to build: it is there for those who rotate. */
const load = (): Promise<RotatingFileStream> => import('rotating-file-stream' as string) as Promise<RotatingFileStream>

const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * A file that is put aside when it is full, as `audit-2026-07-01T10-00-00.000.log` beside
 * `audit.log`, and a new one begun.
 * @see kubernetes/apiserver pkg/server/options/audit.go AuditLogOptions.getWriter (lumberjack),
 * ensureLogFile
 */
export function rotatingWriter(path: string, settings: RotationSettings, clock: Clock, loadStream = load): LineWriter {
  const { maxSize, compress } = settings
  const folder = dirname(path)
  const suffix = compress ? '.gz' : ''
  let begin: (() => NodeJS.WritableStream) | undefined
  let stream: NodeJS.WritableStream | undefined
  /** One that has failed takes nothing more: the next line is the first of another one. */
  const current = (): NodeJS.WritableStream | undefined => {
    if (stream?.writable === false) stream = begin?.()
    return stream
  }
  return {
    open: async () => {
      const { createStream } = await loadStream().catch((cause: unknown) => {
        throw new QuiesceError(
          'ERR_DEPENDENCY_MISSING',
          'rotating the audit log needs the package "rotating-file-stream": npm install rotating-file-stream, or maxSize 0',
          { package: 'rotating-file-stream' },
          cause,
        )
      })
      makeFolderOf(path)
      // A file that cannot be written is reported now, not by the first event.
      closeSync(openSync(path, 'a', LOG_FILE_MODE))
      const name = (time: number | Date | null, index = 1): string =>
        time === null ? basename(path) : `${setAside(path, time, index)}${suffix}`
      begin = () => {
        const begun = createStream(name, { path: folder, size: `${maxSize}M`, mode: LOG_FILE_MODE, ...(compress && { compress: 'gzip' }) })
        // A failed line is reported by its own callback.
        begun.on('error', () => {})
        begun.on('rotated', () => removeOld(path, settings, clock.wall()))
        return begun
      }
      stream = begin()
      removeOld(path, settings, clock.wall())
    },
    write: (line) =>
      new Promise((resolve, reject) => {
        const to = current()
        if (to) to.write(line, (error?: Error | null) => (error ? reject(error) : resolve()))
        else reject(new Error('the audit log is closed'))
      }),
    // How many have arrived before one failed is not known: all are tried again one by one.
    writeAll: (lines) =>
      new Promise((resolve) => {
        const to = current()
        if (to) to.write(lines.join(''), (error?: Error | null) => resolve(error ? 0 : lines.length))
        else resolve(0)
      }),
    close: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true })
        begin = undefined
        if (stream === undefined || stream.writable === false) resolve()
        else stream.end(resolve)
      }),
  }
}

/** The name of a full file, by the time of its rotation. */
function setAside(path: string, time: number | Date, index: number): string {
  const { stem, extension } = parts(path)
  const stamp = new Date(time).toISOString().slice(0, -1).replaceAll(':', '-')
  return `${stem}-${stamp}${index > 1 ? `.${index}` : ''}${extension}`
}

function parts(path: string): { readonly stem: string; readonly extension: string } {
  const extension = extname(path)
  return { stem: basename(path, extension), extension }
}

/** What cannot be removed now is tried again with the next full file. */
function removeOld(path: string, { maxAge, maxBackups }: RotationSettings, now: number): void {
  const { stem, extension } = parts(path)
  const stamps = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2}\.\d{3})/
  const full = namesIn(dirname(path))
    .filter((name) => name.startsWith(`${stem}-`) && name.replace(/\.gz$/, '').endsWith(extension))
    .flatMap((name) => {
      const [stamp, date = '', hours = '', minutes = '', seconds = ''] = stamps.exec(name.slice(stem.length + 1)) ?? []
      return stamp === undefined ? [] : [{ name, at: Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`) }]
    })
    .sort((a, b) => b.at - a.at)
  for (const [index, { name, at }] of full.entries()) {
    if (!(maxBackups > 0 && index >= maxBackups) && !(maxAge > 0 && now - at > maxAge * DAY_MS)) continue
    try {
      unlinkSync(join(dirname(path), name))
    } catch {
      // Gone, or not ours to remove.
    }
  }
}

/** A folder that is gone, which the next line finds out, has none. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
