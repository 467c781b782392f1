import { readdir, readFile } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  png: 'image/png',
  ico: 'image/x-icon',
  webmanifest: 'application/manifest+json',
}

export interface StaticFile {
  readonly contentType: string
  readonly content: Buffer
}

/** The files of a folder, by their paths relative to it. Only what is listed is answered, so that no path leads out of it. */
export class StaticFiles {
  readonly #folder: string
  #listed: Promise<ReadonlySet<string>> | undefined
  readonly #read = new Map<string, Promise<Buffer>>()

  constructor(folder: URL) {
    this.#folder = fileURLToPath(folder)
  }

  /** undefined for what is not there, or of no type that browsers load. */
  async get(path: string): Promise<StaticFile | undefined> {
    const contentType = CONTENT_TYPES[path.slice(path.lastIndexOf('.') + 1)]
    this.#listed ??= list(this.#folder)
    if (contentType === undefined || !(await this.#listed).has(path)) return undefined
    const content = this.#read.get(path) ?? readFile(`${this.#folder}${path}`)
    this.#read.set(path, content)
    return { contentType, content: await content }
  }
}

/** The library may have been packed without its page; the streams are there all the same. */
async function list(folder: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  return new Set(files.map((entry) => relative(folder, `${entry.parentPath}${sep}${entry.name}`).replaceAll(sep, '/')))
}
