import { QuiesceError } from './errors.ts'

/**
 * A module that the command line imports to read its server must not start it: a check in CI would
 * serve until something ended it. This is kept under a registered symbol, because the module may
 * have another copy of this package.
 */
const KEY: unique symbol = Symbol.for('quiesce.importOnly') as never

interface Looking {
  /** The first call that was refused. */
  refused?: QuiesceError
}

const shared = globalThis as { [KEY]?: Looking | undefined }

/**
 * Calls `look`, while which no life of this process can be run or started.
 * @throws QuiesceError ERR_IMPORT_ONLY when one was, also when the module has caught that itself
 */
export async function importOnly<T>(look: () => Promise<T>): Promise<T> {
  const looking: Looking = {}
  shared[KEY] = looking
  try {
    const found = await look()
    if (looking.refused) throw looking.refused
    return found
  } catch (thrown) {
    throw looking.refused ?? thrown
  } finally {
    shared[KEY] = undefined
  }
}

/** @throws QuiesceError ERR_IMPORT_ONLY while a module is only imported */
export function refuseWhileImportOnly(call: string): void {
  const looking = shared[KEY]
  if (!looking) return
  looking.refused ??= new QuiesceError(
    'ERR_IMPORT_ONLY',
    `${call} is called while its module is imported: export the server instead of running it`,
  )
  throw looking.refused
}
