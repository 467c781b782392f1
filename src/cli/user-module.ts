import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { deferred } from '../base/deferred.ts'
import { optionError, toError } from '../base/errors.ts'
import { firstLine } from './first-line.ts'

/** What a module of the user's exports, by name. */
export type Exports = Readonly<Record<string, unknown>>

interface Importing {
  readonly label: string
  readonly path: string
  readonly allowed: string
}

let latest: Importing | undefined

/** The module of the user's that runs in this process, once its import has begun. */
export const importing = (): Importing | undefined => latest

/**
 * Imports a module of the user's.
 * @param label what names it on the command line
 * @param allowed what it should have been
 * @throws QuiesceError ERR_OPTION_INVALID in one line, with the module's own error as `cause`
 */
export async function importModule(label: string, path: string, allowed: string): Promise<Exports> {
  latest = { label, path, allowed }
  try {
    return await settledValue<Exports>(import(pathToFileURL(resolve(path)).href))
  } catch (thrown) {
    const error = toError(thrown)
    throw optionError(label, path, `${allowed} (${whyNotLoaded(path, error)})`, error)
  }
}

const TYPESCRIPT = /\.[cm]?ts$/

function whyNotLoaded(path: string, error: NodeJS.ErrnoException): string {
  const isUnreadable = error.code === 'ERR_UNKNOWN_FILE_EXTENSION' || error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
  // One line for each option that cannot be used; the module may have another copy of this package.
  if (error.code === 'ERR_OPTION_INVALID') return error.message.split('\n').map(firstLine).join('; ')
  if (!TYPESCRIPT.test(path) || !isUnreadable) return firstLine(error.message)
  return error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    ? `Node ${process.versions.node} does not load TypeScript: use Node 22.18 or newer, or give the compiled module`
    : `Node loads only TypeScript whose types can be stripped: ${firstLine(error.message)}`
}

/** When nothing is left that could settle a promise, Node would end the process without a word. */
export async function settledValue<T>(given: T | PromiseLike<T>): Promise<T> {
  const { promise: unanswered, reject } = deferred<never>()
  const giveUp = (): void => reject(new Error('it waits for a promise that never settles'))
  process.once('beforeExit', giveUp)
  try {
    return await Promise.race([given, unanswered])
  } finally {
    process.off('beforeExit', giveUp)
  }
}
