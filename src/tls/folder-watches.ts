import { type FSWatcher, watch } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { QuiesceError, toError } from '../base/errors.ts'

interface Watched {
  readonly watcher: FSWatcher
  /** The folder itself: another one may have taken its name since. */
  readonly identity: string
}

/**
 * Watches the folders of some files. Not the files: what replaces one by another, a rename or the
 * symlink that Kubernetes swaps, happens in the folder. Other files of the folder, such as a log,
 * may be written without that it matters.
 */
export class FolderWatches {
  readonly #files: readonly string[]
  readonly #changed: () => void
  readonly #watched = new Map<string, Watched>()
  /** The files without their folders, as they are named and as they really are. */
  #names: ReadonlySet<string> = new Set()
  #isClosed = false

  /**
   * @param changed one of the files may be another one now, or its folder cannot be watched any
   * more
   */
  constructor(files: readonly string[], changed: () => void) {
    this.#files = files
    this.#changed = changed
  }

  /**
   * Watches what is not watched yet: at first everything, later what was replaced meanwhile.
   * @returns one error for each folder that cannot be watched
   */
  async refresh(): Promise<QuiesceError[]> {
    const paths = await pathsOf(this.#files)
    this.#names = new Set(paths.map((path) => basename(path)))
    const folders = new Set(paths.map((path) => dirname(path)))
    for (const folder of this.#watched.keys()) if (!folders.has(folder)) this.#drop(folder)
    const errors: QuiesceError[] = []
    for (const folder of folders) {
      try {
        await this.#look(folder)
      } catch (thrown) {
        this.#drop(folder)
        const { message } = toError(thrown)
        errors.push(new QuiesceError('ERR_TLS', `${folder}: cannot be watched (${message}); it is read once a minute`, { folder }, thrown))
      }
    }
    return errors
  }

  /** A second call does nothing. */
  close(): void {
    this.#isClosed = true
    for (const folder of this.#watched.keys()) this.#drop(folder)
  }

  async #look(folder: string): Promise<void> {
    const { dev, ino } = await stat(folder)
    const identity = `${dev}:${ino}`
    if (this.#isClosed || this.#watched.get(folder)?.identity === identity) return
    this.#drop(folder)
    // The listening socket is what keeps the process alive.
    const watcher = watch(folder, { persistent: false }, (what, name) => {
      // Only what is written into a file is not reported as a renaming.
      if (what === 'rename' || name === null || this.#names.has(name)) this.#changed()
    })
    watcher.on('error', () => {
      this.#drop(folder)
      this.#changed()
    })
    this.#watched.set(folder, { watcher, identity })
  }

  #drop(folder: string): void {
    this.#watched.get(folder)?.watcher.close()
    this.#watched.delete(folder)
  }
}

/** The paths of files as they are named, and as they really are. */
async function pathsOf(files: readonly string[]): Promise<readonly string[]> {
  // A file that is not there is looked for in its own folder.
  const real = await Promise.all(files.map((file) => realpath(file).catch(() => resolve(file))))
  return [...files.map((file) => resolve(file)), ...real]
}
