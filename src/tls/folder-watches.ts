import { type FSWatcher, watch } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { QuiesceError, toError } from '../base/errors.ts'

interface Watched {
  readonly watcher: FSWatcher
  /** The folder itself: another one may have taken its name since. */
  readonly identity: string
}

/**
 * Watches the folders of some files. Not the files: what replaces one by another, a rename or the
 * symlink that Kubernetes swaps, happens in the folder.
 */
export class FolderWatches {
  readonly #files: readonly string[]
  readonly #changed: () => void
  readonly #watched = new Map<string, Watched>()
  #isClosed = false

  /**
   * @param changed something has happened in one of the folders, or one cannot be watched any more
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
    const folders = await foldersOf(this.#files)
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
    const watcher = watch(folder, { persistent: false }, this.#changed)
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

/** Those that the files are named in, and those that they really are in. */
async function foldersOf(files: readonly string[]): Promise<ReadonlySet<string>> {
  const folders = new Set<string>()
  for (const file of files) {
    folders.add(dirname(resolve(file)))
    // A file that is not there is looked for in its own folder.
    const real = await realpath(file).catch(() => undefined)
    if (real !== undefined) folders.add(dirname(real))
  }
  return folders
}
