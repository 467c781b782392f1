import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'
import type { Clock } from '../../base/clock.ts'

/** What programs are made of. What they write while they run must not start them anew. */
const SOURCES = new Set(['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx'])
/** Saving one file, and checking out a branch, is many changes. */
const QUIET_MS = 100
/** What the system lets one user watch is bounded. */
const FOLDERS_MAX = 5_000

/**
 * Reports changes of source files below a folder, but for what is installed (`node_modules`) and
 * what is hidden. Folder by folder: on Linux, a recursive watch of node would watch every file.
 */
export class SourceChanges implements Disposable {
  readonly folder: string
  readonly #clock: Clock
  readonly #changed: (file: string) => void
  readonly #watchers = new Map<string, FSWatcher>()
  #timer: unknown

  /** @param changed is called once for all that changes together, with one file of it */
  constructor(clock: Clock, folder: string, changed: (file: string) => void) {
    this.#clock = clock
    this.folder = folder
    this.#changed = changed
    this.#add(folder)
  }

  #add(folder: string): void {
    if (this.#watchers.has(folder) || this.#watchers.size >= FOLDERS_MAX) return
    try {
      const watcher = watch(folder, (_, name) => this.#heard(folder, name))
      this.#watchers.set(folder, watcher)
      watcher.on('error', () => this.#remove(folder))
      for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) this.#addBelow(folder, entry.name)
    } catch {
      // Gone in the meantime, or not ours to read.
      this.#remove(folder)
    }
  }

  #addBelow(folder: string, name: string): void {
    if (name !== 'node_modules' && !name.startsWith('.')) this.#add(join(folder, name))
  }

  #remove(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  #heard(folder: string, name: string | null): void {
    if (name === null) return
    const path = join(folder, name)
    if (isSource(name)) this.#soon(relative(this.folder, path))
    else if (isFolder(path)) {
      this.#addBelow(folder, name)
      // What was put into it before it was watched.
      if (this.#watchers.has(path) && filesBelow(path).some(isSource)) this.#soon(relative(this.folder, path))
    } else this.#remove(path)
  }

  #soon(file: string): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = this.#clock.setTimeout(() => this.#changed(file), QUIET_MS)
  }

  [Symbol.dispose](): void {
    this.#clock.clearTimeout(this.#timer)
    for (const folder of [...this.#watchers.keys()]) this.#remove(folder)
  }
}

const isSource = (name: string): boolean => SOURCES.has(extname(name))

const filesBelow = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' })

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** The folder of the package that a module belongs to, or its own. */
export function packageFolder(module: string): string {
  const own = dirname(resolve(module))
  for (let folder = own; ; folder = dirname(folder)) {
    if (statSync(join(folder, 'package.json'), { throwIfNoEntry: false })) return folder
    if (folder === dirname(folder)) return own
  }
}
